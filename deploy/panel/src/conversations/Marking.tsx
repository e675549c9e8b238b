/** What a message is to be in its context: pinned, important, expendable, or weighed by what it says. It is chosen from a menu, as a field
 * would choose each mark that arrow keys pass. */
import { DropdownMenu } from "@kobalte/core/dropdown-menu";
import ChevronsUpDown from "lucide-solid/icons/chevrons-up-down";
import { createEffect, createMemo, createSignal, For, on } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { t } from "../i18n";
import { MenuChoice } from "../ui/MenuChoice";
import { reason } from "../ui/states";
import { notify } from "../ui/toasts";
import { useReadAgain } from "./readAgain";

type Mark = Shape<"MarkRequest">["importance"];
const MARKS: Mark[] = ["normal", "pinned", "important", "expendable"];

export function Marking(props: { conversation: string; message: Shape<"MessageView"> }) {
  const readAgain = useReadAgain(() => props.conversation);
  const told = createMemo((): Mark => props.message.mark ?? (props.message.important ? "important" : "normal"));
  const [sent, setSent] = createSignal<{ mark: Mark }[]>([]); // those that the conversation does not tell of yet; the last one counts
  createEffect(on(told, (mark) => setSent((all) => all.slice((all.findIndex((each) => each.mark === mark) + 1) || all.length)), { defer: true }));
  const mark = () => sent().at(-1)?.mark ?? told();
  const choose = async (chosen: Mark) => {
    const before = mark();
    if (chosen === before) return;
    const one = { mark: chosen };
    setSent((others) => [...others, one]);
    try {
      const body = { message_id: props.message.message_id, importance: chosen };
      await answered(api.POST("/v1/conversations/{conversation_id}/mark", { params: { path: { conversation_id: props.conversation } }, body }));
      notify(t("mark.sent", { mark: t(`mark.${chosen}`) }), { text: t("edit.undo"), run: () => void choose(before) });
      await readAgain();
      if (mark() === told()) setSent([]);
    } catch (failed) {
      setSent((all) => all.filter((each) => each !== one));
      notify(t("edit.failed", { reason: reason(failed) }), undefined, "bad");
    }
  };
  return (
    <DropdownMenu modal={false}>
      <DropdownMenu.Trigger class="button small marking"><span class="hint">{t("mark.label")}</span> {t(`mark.${mark()}`)}<ChevronsUpDown aria-hidden="true" /></DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content class="menu">
          <DropdownMenu.RadioGroup value={mark()} onChange={(chosen) => void choose(chosen as Mark)}>
            <For each={MARKS}>{(each) => <MenuChoice value={each} closes>{t(`mark.${each}`)}</MenuChoice>}</For>
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu>
  );
}
