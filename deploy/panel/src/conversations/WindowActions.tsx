/** Acting on a window by hand: extract what waits, prune, or clear. Each asks first; a prune and a clear can be undone for a while. */
import { AlertDialog } from "@kobalte/core/alert-dialog";
import { useQuery } from "@tanstack/solid-query";
import Undo2 from "lucide-solid/icons/undo-2";
import { createSignal, For, Show, type JSX } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { clock, number, t } from "../i18n";
import { reason } from "../ui/states";
import { now } from "../ui/Time";
import { notify } from "../ui/toasts";
import { useReadAgain } from "./readAgain";

type Action = "flush" | "prune" | "clear" | "restore";
type Taking = "prune" | "clear"; // messages out of the context

export function WindowActions(props: { conversation: Shape<"ConversationView"> }) {
  const id = () => props.conversation.conversation_id;
  const readAgain = useReadAgain(id);
  const [asking, setAsking] = createSignal<Taking>();
  const act = async (action: Action) => {
    const params = { path: { conversation_id: id() } };
    const asked = {
      flush: () => api.POST("/v1/conversations/{conversation_id}/flush", { params }),
      prune: () => api.POST("/v1/conversations/{conversation_id}/prune", { params }),
      clear: () => api.POST("/v1/conversations/{conversation_id}/clear", { params: { ...params, query: { confirm: true } } }),
      restore: () => api.POST("/v1/conversations/{conversation_id}/restore", { params }),
    };
    try {
      await answered(asked[action]());
      notify(t(`window.${action}Sent`), action === "clear" || action === "prune" ? { text: t("edit.undo"), run: () => void act("restore") } : undefined);
      void readAgain();
    } catch (failed) {
      notify(t("edit.failed", { reason: reason(failed) }), undefined, "bad");
    }
  };
  const question = useQuery(() => ({
    queryKey: ["question", id(), asking()],
    queryFn: ({ signal }) => {
      const params = { path: { conversation_id: id() } };
      return answered(asking() === "clear" ? api.GET("/v1/conversations/{conversation_id}/clear", { params, signal }) : api.GET("/v1/conversations/{conversation_id}/prune", { params, signal }));
    },
    enabled: !!asking(),
    gcTime: 0,
  }));
  const takes = (action: Taking) => {
    const { messages, tokens } = question.data!;
    return action === "prune" && !messages ? t("window.pruneTakesNothing") : t(`window.${action}Takes`, { messages: number(messages), tokens: number(tokens) });
  };
  const restorable = () => {
    const until = props.conversation.restorable_until;
    return until && Date.parse(until) > now() ? until : undefined;
  };
  const undone = () => (props.conversation.restorable_cause === "manual" ? "prune" : "clear");
  return (
    <div class="actions">
      <Show when={restorable()}>
        {(until) => <p class="notice restorable"><span>{t(`window.${undone()}Done`, { count: number(props.conversation.restorable_messages ?? 0), time: clock(until()) })}</span><button class="button small" onClick={() => void act("restore")}><Undo2 aria-hidden="true" />{t(`window.${undone()}Undo`)}</button></p>}
      </Show>
      <Question action="flush" act={act} />
      <For each={["prune", "clear"] as const}>
        {(action) => (
          <Question action={action} act={act} asked={(asked) => setAsking(asked ? action : undefined)}>
            <Show when={asking() === action && question.isSuccess}><p><strong>{takes(action)}</strong></p></Show>
          </Question>
        )}
      </For>
    </div>
  );
}

type Asking = { action: "flush" | "prune" | "clear"; act: (action: Action) => Promise<void>; asked?: (asking: boolean) => void; children?: JSX.Element };

function Question(props: Asking) {
  const [open, setOpen] = createSignal(false);
  const ask = (asking: boolean) => (setOpen(asking), props.asked?.(asking));
  return (
    <AlertDialog open={open()} onOpenChange={ask}>
      <AlertDialog.Trigger class="button small" classList={{ danger: props.action === "clear" }}>{t(`window.${props.action}`)}</AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Overlay class="overlay" />
        <div class="dialog-place">
          <AlertDialog.Content class="dialog form">
            <AlertDialog.Title>{t(`window.${props.action}Title`)}</AlertDialog.Title>
            <AlertDialog.Description>{t(`window.${props.action}Hint`)}</AlertDialog.Description>
            {props.children}
            <div class="actions end">
              <AlertDialog.CloseButton class="button" aria-label={t("edit.cancel")}>{t("edit.cancel")}</AlertDialog.CloseButton>
              <button class="button" classList={{ danger: props.action === "clear", primary: props.action !== "clear" }} onClick={() => (ask(false), void props.act(props.action))}>{t(`window.${props.action}`)}</button>
            </div>
          </AlertDialog.Content>
        </div>
      </AlertDialog.Portal>
    </AlertDialog>
  );
}
