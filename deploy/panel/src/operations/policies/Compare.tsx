/** Two versions of a policy side by side: every field that differs, and what it was where it is left to its default. */
import { createSignal, For, Show } from "solid-js";
import type { Shape } from "../../api/client";
import { moment } from "../../i18n";
import { Rows } from "../Table";
import { w } from "../words";
import { differences, type Difference } from "./differences";

type Put = Shape<"PutPolicy">;
type Policy = Record<string, unknown>;
const NOW = -1;

/** A value as it can be read: lists one item a line. */
export function Value(props: { of: unknown; as: "del" | "ins" }) {
  const lines = () => (Array.isArray(props.of) ? props.of.map((each) => (typeof each === "string" ? each : JSON.stringify(each))) : [typeof props.of === "string" ? props.of : JSON.stringify(props.of)]);
  return (
    <Show when={props.of !== undefined} fallback={<span class="hint">{w("policies.default")}</span>}>
      <ul class="values"><For each={lines()}>{(line) => <li>{props.as === "del" ? <del>{line}</del> : <ins>{line}</ins>}</li>}</For></ul>
    </Show>
  );
}

export function Compare(props: { changes: Put[]; now: Policy }) {
  const versions = () => props.changes.map((put, at) => ({ put, at })).filter(({ put }) => put.policy);
  const [older, setOlder] = createSignal<number>();
  const [newer, setNewer] = createSignal(NOW);
  const first = () => older() ?? versions().at(1)?.at ?? versions()[0]!.at;
  const policy = (at: number): Policy => (at === NOW ? props.now : ((props.changes[at]?.policy ?? {}) as Policy));
  const found = () => differences(policy(first()), policy(newer()));
  const Version = (choice: { label: string; value: number; choose: (at: number) => void; now?: boolean }) => (
    <label class="with-label"><span class="hint">{choice.label}</span>
      <select class="choice" value={choice.value} onChange={(event) => choice.choose(Number(event.currentTarget.value))}>
        <Show when={choice.now}><option value={NOW} selected={choice.value === NOW}>{w("policies.asNow")}</option></Show>
        <For each={versions()}>{({ put, at }) => <option value={at} selected={choice.value === at}>{moment(put.at)}, {put.actor}</option>}</For>
      </select>
    </label>
  );
  return (
    <Show when={versions().length}>
      <details class="compare">
        <summary>{w("policies.compare")}</summary>
        <div class="actions">
          <Version label={w("policies.older")} value={first()} choose={setOlder} />
          <Version label={w("policies.newer")} value={newer()} choose={setNewer} now />
        </div>
        <Show when={found().length} fallback={<p class="hint" role="status">{w("policies.same")}</p>}>
          <Rows<Difference>
            name={w("policies.compare")}
            rows={found()}
            columns={[
              { name: w("policies.field"), of: (each) => <code class="mono">{each.name}</code> },
              { name: w("policies.older"), of: (each) => <Value of={each.before} as="del" /> },
              { name: w("policies.newer"), of: (each) => <Value of={each.after} as="ins" /> },
            ]}
          />
        </Show>
      </details>
    </Show>
  );
}
