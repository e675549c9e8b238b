/** Texts in the viewer's language, and numbers and times as it writes them. */
import * as i18n from "@solid-primitives/i18n";
import { createEffect, createMemo, createSignal } from "solid-js";
import { de } from "./de";
import { en, type Texts } from "./en";

/** To add a language: a catalogue like `en.ts`, and its name here. */
export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

const CATALOGUES: Record<Language, Texts> = { en, de };
const PLACE = "memstream.language";

function preferred(): Language {
  const wanted = [localStorage.getItem(PLACE) ?? "", ...navigator.languages].map((each) => each.slice(0, 2));
  return (wanted.find((each) => each in CATALOGUES) as Language | undefined) ?? "en";
}

export const [language, setLanguage] = createSignal<Language>(preferred());
const texts = createMemo(() => i18n.flatten(CATALOGUES[language()]));
export const t = i18n.translator(texts, i18n.resolveTemplate);

/** A text that may be missing, such as the name of a kind that somebody made up. */
export function named(section: string, name: string): string {
  return (texts() as unknown as Record<string, string>)[`${section}.${name}`] ?? name;
}

export function followLanguage(): void {
  createEffect(() => {
    localStorage.setItem(PLACE, language());
    document.documentElement.lang = language();
  });
}

export const number = (value: number, digits = 0): string =>
  new Intl.NumberFormat(language(), { maximumFractionDigits: digits }).format(value);

export const percent = (value: number): string =>
  new Intl.NumberFormat(language(), { style: "percent", maximumFractionDigits: 0 }).format(value);

/** In the viewer's own time zone. */
export const moment = (value: string): string =>
  new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(value));

/** Only its hour and minute. */
export const clock = (value: string): string => new Intl.DateTimeFormat(language(), { timeStyle: "short" }).format(new Date(value));

/** Only its day. */
export const day = (value: number | string): string => new Intl.DateTimeFormat(language(), { dateStyle: "medium" }).format(new Date(value));

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** "3 days ago" */
export function ago(value: string, now = Date.now()): string {
  const seconds = (new Date(value).getTime() - now) / 1000;
  const format = new Intl.RelativeTimeFormat(language(), { numeric: "auto", style: "short" });
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return format.format(Math.trunc(seconds / length), unit);
}
