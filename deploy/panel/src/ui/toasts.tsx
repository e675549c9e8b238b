/** Short notifications; one may offer to undo what it tells of. */
import { Toast, toaster } from "@kobalte/core/toast";
import X from "lucide-solid/icons/x";
import { Show } from "solid-js";
import { Portal } from "solid-js/web";
import { t } from "../i18n";

type Action = { text: string; run: () => void };

export function notify(text: string, action?: Action, kind: "good" | "bad" = "good"): void {
  toaster.show((shown) => (
    <Toast as="div" toastId={shown.toastId} class="toast" classList={{ bad: kind === "bad" }} duration={action ? 10_000 : 5_000}>
      <Toast.Title class="grow">{text}</Toast.Title>
      <Show when={action}>
        {(offered) => (
          <button class="button small" onClick={() => (toaster.dismiss(shown.toastId), offered().run())}>
            {offered().text}
          </button>
        )}
      </Show>
      <Toast.CloseButton class="icon-button" aria-label={t("edit.dismiss")}><X /></Toast.CloseButton>
    </Toast>
  ));
}

export function Toasts() {
  return (
    <Portal>
      <Toast.Region aria-label={t("edit.notifications")}>
        <Toast.List as="div" class="toasts" />
      </Toast.Region>
    </Portal>
  );
}
