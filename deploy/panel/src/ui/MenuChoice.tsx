/** One of the values that a menu chooses from; the one that holds has a check mark. */
import { DropdownMenu } from "@kobalte/core/dropdown-menu";
import Check from "lucide-solid/icons/check";
import type { JSX } from "solid-js";

export function MenuChoice(props: { value: string; closes?: boolean; children: JSX.Element }) {
  return (
    <DropdownMenu.RadioItem class="menu-item" value={props.value} closeOnSelect={props.closes}>
      <span class="menu-mark">
        <DropdownMenu.ItemIndicator><Check /></DropdownMenu.ItemIndicator>
      </span>
      {props.children}
    </DropdownMenu.RadioItem>
  );
}
