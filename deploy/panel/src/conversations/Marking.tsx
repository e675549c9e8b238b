/** What a message is to be in its context: pinned, important, expendable, or weighed by what it says. */
import { useQueryClient } from "@tanstack/solid-query";
import { createSignal, For } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { t } from "../i18n";
import { reason } from "../ui/states";
import { notify } from "../ui/toasts";

type Mark = Shape<"MarkRequest">["importance"];
const MARKS: Mark[] = ["normal", "pinned", "important", "expendable"];
const SHOWN_AFTER_MS = 1_500; // until the conversation tells of it

export function Marking(props: { conversation: string; message: Shape<"MessageView"> }) {
  const cache = useQueryClient();
  const [sent, setSent] = createSignal<Mark>();
  const mark = (): Mark => sent() ?? props.message.mark ?? (props.message.important ? "important" : "normal");
  const shown = () => cache.invalidateQueries({ predicate: (query) => query.queryKey[1] === props.conversation });
  const choose = async (chosen: Mark) => {
    const before = mark();
    setSent(chosen);
    try {
      const body = { message_id: props.message.message_id, importance: chosen };
      await answered(api.POST("/v1/conversations/{conversation_id}/mark", { params: { path: { conversation_id: props.conversation } }, body }));
      notify(t("mark.sent", { mark: t(`mark.${chosen}`) }), { text: t("edit.undo"), run: () => void choose(before) });
      setTimeout(() => void shown().then(() => sent() === chosen && setSent(undefined)), SHOWN_AFTER_MS);
    } catch (failed) {
      setSent(undefined);
      notify(t("edit.failed", { reason: reason(failed) }), undefined, "bad");
    }
  };
  return (
    <label class="with-label marking"><span class="hint">{t("mark.label")}</span>
      <select class="choice" value={mark()} onChange={(event) => void choose(event.currentTarget.value as Mark)}>
        <For each={MARKS}>{(each) => <option value={each} selected={each === mark()}>{t(`mark.${each}`)}</option>}</For>
      </select>
    </label>
  );
}
