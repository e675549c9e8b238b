/** Colours and language. */
import { DropdownMenu } from "@kobalte/core/dropdown-menu";
import Check from "lucide-solid/icons/check";
import SunMoon from "lucide-solid/icons/sun-moon";
import { For, type JSX } from "solid-js";
import { LANGUAGES, language, setLanguage, t, type Language } from "../i18n";
import { setTheme, theme, THEMES, type Theme } from "./theme";

export function DisplayMenu() {
  return (
    <DropdownMenu placement="top-start">
      <DropdownMenu.Trigger class="icon-button" aria-label={t("nav.settings")} title={t("nav.settings")}>
        <SunMoon />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content class="menu">
          <DropdownMenu.Group>
            <DropdownMenu.GroupLabel class="menu-label">{t("nav.theme")}</DropdownMenu.GroupLabel>
            <DropdownMenu.RadioGroup value={theme()} onChange={(chosen) => setTheme(chosen as Theme)}>
              <For each={THEMES}>{(each) => <Choice value={each}>{t(`theme.${each}`)}</Choice>}</For>
            </DropdownMenu.RadioGroup>
          </DropdownMenu.Group>
          <DropdownMenu.Separator />
          <DropdownMenu.Group>
            <DropdownMenu.GroupLabel class="menu-label">{t("nav.language")}</DropdownMenu.GroupLabel>
            <DropdownMenu.RadioGroup value={language()} onChange={(chosen) => setLanguage(chosen as Language)}>
              <For each={Object.entries(LANGUAGES)}>
                {([code, name]) => <Choice value={code}><span lang={code}>{name}</span></Choice>}
              </For>
            </DropdownMenu.RadioGroup>
          </DropdownMenu.Group>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu>
  );
}

function Choice(props: { value: string; children: JSX.Element }) {
  return (
    <DropdownMenu.RadioItem class="menu-item" value={props.value}>
      <span class="menu-mark">
        <DropdownMenu.ItemIndicator><Check /></DropdownMenu.ItemIndicator>
      </span>
      {props.children}
    </DropdownMenu.RadioItem>
  );
}
