/** Acting on a window by hand: extract what waits, prune, or clear, which asks first and can be undone for a while. */
import { AlertDialog } from "@kobalte/core/alert-dialog";
import { useQuery, useQueryClient } from "@tanstack/solid-query";
import Undo2 from "lucide-solid/icons/undo-2";
import { createSignal, Show } from "solid-js";
import { answered, api } from "../api/client";
import { clock, number, t } from "../i18n";
import { reason } from "../ui/states";
import { notify } from "../ui/toasts";

type Action = "flush" | "prune" | "clear" | "restore";

export function WindowActions(props: { id: string; restorableUntil?: string | null }) {
  const cache = useQueryClient();
  const [asking, setAsking] = createSignal(false);
  const act = async (action: Action) => {
    const params = { path: { conversation_id: props.id } };
    const asked = {
      flush: () => api.POST("/v1/conversations/{conversation_id}/flush", { params }),
      prune: () => api.POST("/v1/conversations/{conversation_id}/prune", { params }),
      clear: () => api.POST("/v1/conversations/{conversation_id}/clear", { params: { ...params, query: { confirm: true } } }),
      restore: () => api.POST("/v1/conversations/{conversation_id}/restore", { params }),
    };
    try {
      await answered(asked[action]());
      notify(t(`window.${action}Sent`), action === "clear" ? { text: t("edit.undo"), run: () => void act("restore") } : undefined);
      await cache.invalidateQueries({ predicate: (query) => query.queryKey[1] === props.id });
    } catch (failed) {
      notify(t("edit.failed", { reason: reason(failed) }), undefined, "bad");
    }
  };
  const question = useQuery(() => ({
    queryKey: ["clear", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/conversations/{conversation_id}/clear", { params: { path: { conversation_id: props.id } }, signal })),
    enabled: asking(),
    staleTime: 0,
  }));
  const restorable = () => (props.restorableUntil && Date.parse(props.restorableUntil) > Date.now() ? props.restorableUntil : undefined);
  return (
    <div class="actions">
      <Show when={restorable()}>
        {(until) => <p class="notice restorable"><span>{t("window.cleared", { time: clock(until()) })}</span><button class="button small" onClick={() => void act("restore")}><Undo2 aria-hidden="true" />{t("window.restore")}</button></p>}
      </Show>
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
              <Show when={question.isSuccess}><p><strong>{t("window.clearTakes", { messages: number(question.data!.messages), tokens: number(question.data!.tokens) })}</strong></p></Show>
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
