/** Acting on a window by hand: extract what waits, prune, or clear, which asks first. */
import { AlertDialog } from "@kobalte/core/alert-dialog";
import { useQueryClient } from "@tanstack/solid-query";
import { createSignal } from "solid-js";
import { answered, api } from "../api/client";
import { t } from "../i18n";
import { reason } from "../ui/states";
import { notify } from "../ui/toasts";

type Action = "flush" | "prune" | "clear";

export function WindowActions(props: { id: string }) {
  const cache = useQueryClient();
  const [asking, setAsking] = createSignal(false);
  const act = async (action: Action) => {
    const params = { path: { conversation_id: props.id } };
    const asked = {
      flush: () => api.POST("/v1/conversations/{conversation_id}/flush", { params }),
      prune: () => api.POST("/v1/conversations/{conversation_id}/prune", { params }),
      clear: () => api.POST("/v1/conversations/{conversation_id}/clear", { params }),
    };
    try {
      await answered(asked[action]());
      notify(t(`window.${action}Sent`));
      await cache.invalidateQueries({ predicate: (query) => query.queryKey[1] === props.id });
    } catch (failed) {
      notify(t("edit.failed", { reason: reason(failed) }), undefined, "bad");
    }
  };
  return (
    <div class="actions">
      <button class="button small" onClick={() => void act("flush")}>{t("window.flush")}</button>
      <button class="button small" onClick={() => void act("prune")}>{t("window.prune")}</button>
      <AlertDialog open={asking()} onOpenChange={setAsking}>
        <AlertDialog.Trigger class="button small danger">{t("window.clear")}</AlertDialog.Trigger>
        <AlertDialog.Portal>
          <AlertDialog.Overlay class="overlay" />
          <div class="dialog-place">
            <AlertDialog.Content class="dialog form">
              <AlertDialog.Title>{t("window.clearTitle")}</AlertDialog.Title>
              <AlertDialog.Description>{t("window.clearHint")}</AlertDialog.Description>
              <div class="actions end">
                <AlertDialog.CloseButton class="button" aria-label={t("edit.cancel")}>{t("edit.cancel")}</AlertDialog.CloseButton>
                <button class="button danger" onClick={() => (setAsking(false), void act("clear"))}>{t("window.clear")}</button>
              </div>
            </AlertDialog.Content>
          </div>
        </AlertDialog.Portal>
      </AlertDialog>
    </div>
  );
}
