/** Colours and language. */
import { DropdownMenu } from "@kobalte/core/dropdown-menu";
import SunMoon from "lucide-solid/icons/sun-moon";
import { For } from "solid-js";
import { LANGUAGES, language, setLanguage, t, type Language } from "../i18n";
import { MenuChoice } from "../ui/MenuChoice";
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
              <For each={THEMES}>{(each) => <MenuChoice value={each}>{t(`theme.${each}`)}</MenuChoice>}</For>
            </DropdownMenu.RadioGroup>
          </DropdownMenu.Group>
          <DropdownMenu.Separator />
          <DropdownMenu.Group>
            <DropdownMenu.GroupLabel class="menu-label">{t("nav.language")}</DropdownMenu.GroupLabel>
            <DropdownMenu.RadioGroup value={language()} onChange={(chosen) => setLanguage(chosen as Language)}>
              <For each={Object.entries(LANGUAGES)}>
                {([code, name]) => <MenuChoice value={code}><span lang={code}>{name}</span></MenuChoice>}
              </For>
            </DropdownMenu.RadioGroup>
          </DropdownMenu.Group>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu>
  );
}
