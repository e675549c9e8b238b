/** The form of one policy. It is made from the server's schema, and the server says whether it is valid and what it would reach. */
import { useQuery } from "@tanstack/solid-query";
import { createSignal, For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { mayEverywhere } from "../../app/session";
import { number } from "../../i18n";
import { Back } from "../../ui/Back";
import { Loaded } from "../../ui/Loaded";
import { reason } from "../../ui/states";
import { act } from "../act";
import { Confirm } from "../../ui/Confirm";
import { w, word } from "../words";
import { FieldInput, type Values } from "./FieldInput";
import { policyFields } from "./schema";

export type Draft = Values & { name: string; version?: number };
type Props = { draft: Draft; origin?: Shape<"AppliedPolicy">["origin"]; fresh?: boolean; saved: (name: string) => Promise<void>; close: () => void };

export function PolicyForm(props: Props) {
  const fields = useQuery(() => ({ queryKey: ["policy-fields"], queryFn: ({ signal }) => policyFields(signal), staleTime: Infinity }));
  const [values, setValues] = createSignal<Draft>({ ...props.draft });
  const [check, setCheck] = createSignal<Shape<"PolicyCheck">>();
  const [wrong, setWrong] = createSignal<string>();
  const readOnly = () => !mayEverywhere("admin");
  const set = (name: string, value: unknown) => {
    const changed = { ...values(), [name]: value };
    if (value === undefined) delete changed[name];
    setCheck(undefined);
    setValues(changed);
  };
  const sent = () => ({ params: { path: { name: values().name } }, body: values() as Shape<"Policy"> });
  const checkIt = async () => {
    setWrong(undefined);
    try {
      setCheck(await answered(api.POST("/v1/policies/{name}/check", sent())));
    } catch (failed) {
      setCheck(undefined);
      setWrong(reason(failed));
    }
  };
  const save = async () => {
    const done = await act(() => answered(api.PUT("/v1/policies/{name}", sent())), (put) => w("policies.saved", { name: put.policy.name, result: word("putResult", put.result) }));
    if (done) await props.saved(done.policy.name);
  };
  const remove = async () => {
    const name = props.draft.name;
    const done = await act(async () => (await answered(api.DELETE("/v1/policies/{name}", { params: { path: { name } } })), true), () => w("policies.removed", { name }));
    if (done) await props.saved("");
  };
  return (
    <>
      <Back close={props.close} />
      <div class="page-head"><h2>{props.fresh ? w("policies.new") : props.draft.name}</h2><Show when={props.origin}>{(origin) => <span class="badge">{word("origin", origin())}</span>}</Show></div>
      <Show when={props.origin && props.origin !== "topic"}><p class="notice">{w("policies.fromElsewhere")}</p></Show>
      <Show when={props.fresh}>
        <label class="field"><span>{w("policies.name")}</span><input value={values().name} maxlength="100" onInput={(event) => set("name", event.currentTarget.value.trim())} /></label>
      </Show>
      <Loaded of={fields} name={w("work.policy")} rows={4}>
        {(known) => (
          <div class="policy-fields"><For each={known()}>{(field) => <FieldInput field={field} values={values()} set={set} readOnly={readOnly()} />}</For></div>
        )}
      </Loaded>
      <Show when={wrong()}>{(said) => <p class="notice bad" role="alert" dir="auto">{said()}</p>}</Show>
      <Show when={check()}>{(found) => <Reached check={found()} />}</Show>
      <div class="actions end sticky">
        <Show when={!readOnly() && props.origin === "topic" && !props.fresh}><Confirm text={w("policies.remove")} title={w("policies.removeTitle", { name: props.draft.name })} hint={w("policies.removeHint")} danger act={() => void remove()} /></Show>
        <button class="button small" disabled={!values().name} onClick={() => void checkIt()}>{w("policies.check")}</button>
        <Show when={!readOnly()}>
          <Confirm text={w("policies.save")} title={w("policies.saveTitle", { name: values().name })} hint={w("policies.saveHint")} primary disabled={!check() || check()!.result === "unchanged"} act={() => void save()}>
            <Show when={check()}>{(found) => <Reached check={found()} />}</Show>
          </Confirm>
        </Show>
      </div>
    </>
  );
}

/** What a change would reach, among the conversations that were active last. */
function Reached(props: { check: Shape<"PolicyCheck"> }) {
  const reach = () => props.check.reach;
  return (
    <div class="notice good" role="status">
      <p><strong>{word("putResult", props.check.result)}</strong> {w("policies.reach", { looked: number(reach().looked_at), before: number(reach().before), after: number(reach().after) })}</p>
      <ul><For each={reach().moves}>{(move) => <li>{w("policies.move", { count: number(move.conversations), before: move.before, after: move.after })}</li>}</For></ul>
      <Show when={reach().namespaces.length}><p class="hint">{w("policies.newNamespaces", { names: reach().namespaces.join(", ") })}</p></Show>
    </div>
  );
}
