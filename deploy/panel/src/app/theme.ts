/** Light or dark: as the system prefers, unless it was chosen here. */
import { createEffect, createSignal } from "solid-js";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const PLACE = "memstream.theme";
const kept = localStorage.getItem(PLACE) as Theme | null;
export const [theme, setTheme] = createSignal<Theme>(kept && THEMES.includes(kept) ? kept : "system");

export function followTheme(): void {
  createEffect(() => {
    localStorage.setItem(PLACE, theme());
    document.documentElement.dataset.theme = theme();
  });
}
