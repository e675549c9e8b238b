/** The form of a memory: a new one, or one that is changed. */
import * as Dialog from "@kobalte/core/dialog"; // the parts: loading AlertDialog changes those of the object `Dialog`
import { TextField } from "@kobalte/core/text-field";
import X from "lucide-solid/icons/x";
import { createComputed, createSignal, For, Show } from "solid-js";
import { createStore } from "solid-js/store";
import { number, t } from "../i18n";
import { changed, useChanges, type Draft } from "./changes";
import { kindName, useKinds } from "./kinds";
import type { Memory } from "./MemoryRow";
import { asTyped, changedMoment } from "./times";

const MOST_LETTERS = 4_000;
type Props = { namespace: string; memory?: Memory; open: boolean; close: () => void };

export function Editor(props: Props) {
  // The dialog knows no trigger of its own, so what had the focus is kept in mind.
  let opener: HTMLElement | undefined;
  createComputed(() => props.open && (opener = document.activeElement as HTMLElement));
  return (
    <Dialog.Root open={props.open} onOpenChange={(open) => !open && props.close()}>
      <Dialog.Portal>
        <Dialog.Overlay class="overlay" />
        <div class="dialog-place">
          <Dialog.Content class="dialog" onOpenAutoFocus={(event) => (event.preventDefault(), (event.target as HTMLElement).querySelector("textarea")?.focus())} onCloseAutoFocus={(event) => (event.preventDefault(), opener?.focus())}>
            <div class="dialog-head">
              <Dialog.Title>{t(props.memory ? "edit.editTitle" : "edit.create")}</Dialog.Title>
              <Dialog.CloseButton class="icon-button" aria-label={t("edit.cancel")}><X /></Dialog.CloseButton>
            </div>
            <Form {...props} />
          </Dialog.Content>
        </div>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Form(props: Props) {
  const changes = useChanges();
  const known = useKinds(() => props.namespace);
  const [draft, set] = createStore({
    text: props.memory?.text ?? "",
    kind: props.memory?.kind ?? "",
    tags: (props.memory?.tags ?? []).join(", "),
    importance: props.memory?.importance_tenths ?? 5,
    happens: asTyped(props.memory?.event_time),
    from: asTyped(props.memory?.valid_from),
    until: asTyped(props.memory?.valid_until),
    reason: "",
  });
  const [missing, setMissing] = createSignal(false);
  const [busy, setBusy] = createSignal(false);
  const kinds = () => [...new Set([...known().map((kind) => kind.name), props.memory?.kind ?? ""])].filter(Boolean);
  const said = (): Draft => ({
    text: draft.text.trim(),
    kind: draft.kind || undefined,
    tags: draft.tags.split(",").map((tag) => tag.trim()).filter(Boolean),
    importance: draft.importance,
    event_time: changedMoment(draft.happens, props.memory?.event_time),
    valid_from: changedMoment(draft.from, props.memory?.valid_from),
    valid_until: changedMoment(draft.until, props.memory?.valid_until),
    reason: draft.reason.trim() || undefined,
  });
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setMissing(!said().text);
    if (!said().text) return;
    if (props.memory && !Object.keys(changed(props.memory, said())).length) return props.close();
    setBusy(true);
    const done = await (props.memory ? changes.update(props.memory, said()) : changes.create(props.namespace, said()));
    setBusy(false);
    if (done) props.close();
  };
  return (
    <form class="form" onSubmit={save}>
      <TextField class="field" value={draft.text} onChange={(text) => set("text", text)} validationState={missing() ? "invalid" : "valid"}>
        <TextField.Label>{t("edit.text")}</TextField.Label>
        <TextField.TextArea rows="4" maxlength={MOST_LETTERS} />
        <TextField.ErrorMessage class="error">{t("edit.textMissing")}</TextField.ErrorMessage>
      </TextField>
      <div class="pair">
        <label class="field">
          <span>{t("edit.kind")}</span>
          <select value={draft.kind} onChange={(event) => set("kind", event.currentTarget.value)}>
            <Show when={!props.memory}><option value="">–</option></Show>
            <For each={kinds()}>{(kind) => <option value={kind} selected={kind === draft.kind}>{kindName(kind)}</option>}</For>
          </select>
          <Show when={known().find((kind) => kind.name === draft.kind)?.description}>{(says) => <span class="hint">{says()}</span>}</Show>
        </label>
        <label class="field">
          <span>{t("edit.importance")} <output>{number(draft.importance, 1)}</output></span>
          <input type="range" min="0" max="10" step="0.5" value={draft.importance} onInput={(event) => set("importance", event.currentTarget.valueAsNumber)} />
        </label>
      </div>
      <label class="field"><span>{t("memory.happens")}</span><input type="datetime-local" value={draft.happens} onChange={(event) => set("happens", event.currentTarget.value)} /></label>
      <div class="pair">
        <label class="field"><span>{t("memory.validFrom")}</span><input type="datetime-local" value={draft.from} onChange={(event) => set("from", event.currentTarget.value)} /></label>
        <label class="field"><span>{t("memory.validUntil")}</span><input type="datetime-local" min={draft.from || undefined} value={draft.until} onChange={(event) => set("until", event.currentTarget.value)} /></label>
      </div>
      <Line label={t("edit.tags")} hint={t("edit.tagsHint")} value={draft.tags} change={(tags) => set("tags", tags)} />
      <Line label={t("edit.reason")} hint={t("edit.reasonHint")} value={draft.reason} change={(reason) => set("reason", reason)} />
      <div class="actions end">
        <Dialog.CloseButton class="button" aria-label={t("edit.cancel")}>{t("edit.cancel")}</Dialog.CloseButton>
        <button class="button primary" type="submit" disabled={busy()}>{t("edit.save")}</button>
      </div>
    </form>
  );
}

function Line(props: { label: string; hint: string; value: string; change: (value: string) => void }) {
  return (
    <TextField class="field" value={props.value} onChange={props.change}>
      <TextField.Label>{props.label}</TextField.Label>
      <TextField.Input maxlength="1000" />
      <TextField.Description class="hint">{props.hint}</TextField.Description>
    </TextField>
  );
}
