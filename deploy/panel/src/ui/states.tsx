/** What stands where there is nothing to show: yet, at all, or because something failed. */
import CircleAlert from "lucide-solid/icons/circle-alert";
import { createEffect, createSignal, For, onCleanup, Show, type JSX } from "solid-js";
import { ApiProblem } from "../api/client";
import { mayEverywhere } from "../app/session";
import { t } from "../i18n";

export function Loading(props: { rows?: number }) {
  return (
    <div class="loading" role="status" aria-label={t("state.loading")}>
      <For each={Array.from({ length: props.rows ?? 6 })}>{() => <div class="skeleton" />}</For>
    </div>
  );
}

export function Empty(props: { icon?: JSX.Element; title: string; hint?: string; children?: JSX.Element }) {
  return (
    <div class="empty">
      <div class="empty-icon" aria-hidden="true">{props.icon}</div>
      <p class="empty-title">{props.title}</p>
      <Show when={props.hint}>
        <p class="hint">{props.hint}</p>
      </Show>
      {props.children}
    </div>
  );
}

const SAID: Record<number, () => string> = {
  0: () => t("state.offline"),
  403: () => t("state.forbidden"),
  404: () => t(mayEverywhere("read") ? "state.missing" : "state.missingOrHidden"),
};

export function reason(error: unknown): string {
  if (!(error instanceof ApiProblem)) return String(error);
  return SAID[error.status]?.() ?? error.message;
}

/** A button that reads again what `name` says, which is told to screen readers. */
export function Again(props: { class: string; name?: string; again: () => void }) {
  return <button class={props.class} aria-label={props.name && t("state.againOf", { name: props.name })} onClick={() => props.again()}>{t("state.again")}</button>;
}

const [failed, setFailed] = createSignal<{ error: unknown }[]>([]); // all on the page
/** Why a part of the page could not be loaded, the first of several. */
export const failure = () => failed()[0];

export function Failed(props: { error: unknown; name?: string; again?: () => void }) {
  createEffect(() => {
    const shown = { error: props.error };
    setFailed((others) => [...others, shown]);
    onCleanup(() => setFailed((all) => all.filter((each) => each !== shown)));
  });
  const request = () => (props.error instanceof ApiProblem ? props.error.requestId : undefined);
  return (
    <div class="empty">
      <div class="empty-icon failed" aria-hidden="true"><CircleAlert /></div>
      <p class="empty-title">{t("state.failed")}</p>
      <p class="hint">{reason(props.error)}</p>
      <Show when={request()}>{(id) => <p class="hint mono">{t("state.request", { id: id() })}</p>}</Show>
      <Show when={props.again}>
        {(again) => <Again class="button" name={props.name} again={again()} />}
      </Show>
    </div>
  );
}
