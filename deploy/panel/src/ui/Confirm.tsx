/** A button that asks before it acts. */
import { AlertDialog } from "@kobalte/core/alert-dialog";
import { createSignal, type JSX } from "solid-js";
import { t } from "../i18n";

type Props = { text: string; title: string; hint?: string; act: () => void; danger?: boolean; primary?: boolean; large?: boolean; disabled?: boolean; icon?: JSX.Element; children?: JSX.Element };

export function Confirm(props: Props) {
  const [asking, setAsking] = createSignal(false);
  return (
    <AlertDialog open={asking()} onOpenChange={setAsking}>
      <AlertDialog.Trigger class="button" classList={{ small: !props.large, danger: props.danger, primary: props.primary }} disabled={props.disabled}>{props.icon}{props.text}</AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Overlay class="overlay" />
        <div class="dialog-place">
          <AlertDialog.Content class="dialog form">
            <AlertDialog.Title>{props.title}</AlertDialog.Title>
            <AlertDialog.Description>{props.hint}</AlertDialog.Description>
            {props.children}
            <div class="actions end">
              <AlertDialog.CloseButton class="button" aria-label={t("edit.cancel")}>{t("edit.cancel")}</AlertDialog.CloseButton>
              <button class="button" classList={{ danger: props.danger, primary: !props.danger }} onClick={() => (setAsking(false), props.act())}>{props.text}</button>
            </div>
          </AlertDialog.Content>
        </div>
      </AlertDialog.Portal>
    </AlertDialog>
  );
}
