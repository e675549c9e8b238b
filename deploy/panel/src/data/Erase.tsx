/** Erasing for good: choose what, see what would go, type its name, read the receipt. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/solid-query";
import Eraser from "lucide-solid/icons/eraser";
import { createSignal, For, Show } from "solid-js";
import { createStore } from "solid-js/store";
import { may, mayAnywhere } from "../app/session";
import { named, number, t } from "../i18n";
import { Loaded } from "../ui/Loaded";
import { reason } from "../ui/states";
import { begin, foresee, type Kind, type Subject } from "./erasing";
import { Field, NOBODY, PersonFields } from "./Fields";
import { ReceiptOf } from "./Receipt";

const KINDS: Kind[] = ["namespace", "user", "conversation"];

export function Erase(props: { namespace: string }) {
  const [chosen, set] = createStore({ kind: "namespace" as Kind, ...NOBODY });
  const [subject, setSubject] = createSignal<Subject>();
  const [erasure, setErasure] = createSignal<string>();
  const look = (event: SubmitEvent) => {
    event.preventDefault();
    const id = chosen.kind === "namespace" ? props.namespace : chosen.id.trim();
    if (id) setSubject({ ...chosen, id });
  };
  const choose = (kind: Kind) => (set({ kind, ...NOBODY }), setSubject(undefined));
  return (
    <Show when={mayAnywhere("admin")}>
      <section class="panel-card erase" aria-labelledby="erase">
        <h2 id="erase">{t("erase.title")}</h2>
        <p class="hint">{t("erase.hint")}</p>
        <Show when={!erasure()} fallback={<ReceiptOf id={erasure()!} close={() => (setErasure(undefined), setSubject(undefined))} />}>
          <form class="form" onSubmit={look}>
            <fieldset class="choices">
              <legend>{t("erase.what")}</legend>
              <For each={KINDS}>
                {(kind) => <label><input type="radio" name="kind" checked={chosen.kind === kind} onChange={() => choose(kind)} />{kind === "namespace" ? t("erase.namespace", { name: props.namespace }) : t(`erase.${kind}`)}</label>}
              </For>
            </fieldset>
            <Show when={chosen.kind === "user"}><PersonFields person={chosen} change={(changed) => (set(changed), setSubject(undefined))} /></Show>
            <Show when={chosen.kind === "conversation"}>
              <div class="three"><Field label={t("conversation.id")} value={chosen.id} change={(id) => (set({ id }), setSubject(undefined))} required /></div>
            </Show>
            <Show when={chosen.kind !== "namespace" || may("admin", props.namespace)} fallback={<p class="hint">{t("erase.notYours")}</p>}>
              <div class="actions"><button class="button" type="submit">{t("erase.look")}</button></div>
            </Show>
          </form>
          <Show when={subject()} keyed>{(looked) => <Foresee subject={looked} begun={setErasure} />}</Show>
        </Show>
      </section>
    </Show>
  );
}

function Foresee(props: { subject: Subject; begun: (erasure: string) => void }) {
  const cache = useQueryClient();
  const [typed, setTyped] = createSignal("");
  const [why, setWhy] = createSignal("");
  const idempotency = `panel-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;
  const asked = useQuery(() => ({ queryKey: ["foreseen", props.subject], queryFn: ({ signal }) => foresee(props.subject, signal), staleTime: 0 }));
  const erasing = useMutation(() => ({
    mutationFn: () => begin(props.subject, why().trim() || undefined, idempotency),
    onSuccess: (id: string) => {
      props.begun(id);
      void cache.invalidateQueries();
    },
  }));
  return (
    <Loaded of={asked} name={t("erase.foreseen")} rows={2}>
      {(foreseen) => (
        <>
          <div class="foreseen" role="group" aria-label={t("erase.foreseen")}>
            <h3>{t("erase.foreseen")}</h3>
            <ul><For each={foreseen()} fallback={<li>{t("erase.nothingForeseen")}</li>}>{(line) => <li><span>{named("erased", line.what)} <Show when={line.where}><code class="mono">{line.where}</code></Show></span> <strong>{number(line.count)}</strong></li>}</For></ul>
          </div>
          <form class="form" onSubmit={(event) => (event.preventDefault(), typed() === props.subject.id && erasing.mutate())}>
            <Field label={t("edit.reason")} value={why()} change={setWhy} />
            <Field label={t("erase.type", { name: props.subject.id })} value={typed()} change={setTyped} />
            <Show when={erasing.isError}><p class="error" role="alert">{t("edit.failed", { reason: reason(erasing.error) })}</p></Show>
            <div class="actions">
              <button class="button danger-fill" type="submit" disabled={typed() !== props.subject.id || erasing.isPending}><Eraser aria-hidden="true" />{t(erasing.isPending ? "erase.running" : "erase.now")}</button>
            </div>
          </form>
        </>
      )}
    </Loaded>
  );
}
