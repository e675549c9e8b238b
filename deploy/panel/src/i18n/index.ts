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
export const t = i18n.translator(texts, filled);

const GAP = /\{\{(\w+)(?::([^|{}]*)\|([^{}]*))?\}\}/g;

/** A text with its gaps filled, once: values may look like gaps. `{{count:message|messages}}` is the first for a count that is written as one. */
export function filled<T extends string>(template: T, values?: i18n.BaseTemplateArgs): string {
  return template.replace(GAP, (_, name: string, one?: string, many?: string) => (one === undefined ? String(values?.[name] ?? "") : values?.[name] === number(1) ? one : many!));
}

/** A text that may be missing, such as the name of a kind that somebody made up. */
export function named(section: string, name: string): string {
  return text(`${section}.${name}`) ?? name;
}

/** What the server says in English, by the code that it gives with it; a code of a later version has no text here. */
export function translated(section: string, code: string | null | undefined, said: string): string {
  return text(`${section}.${code}`) ?? said;
}

export function followLanguage(): void {
  createEffect(() => {
    localStorage.setItem(PLACE, language());
    document.documentElement.lang = language();
  });
}

/** How numbers and times are written: as where the viewer lives, if the language is spoken there ("en-GB"), else as the language alone. */
const locale = createMemo(() => navigator.languages.find((each) => each.split("-")[0] === language()) ?? language());

const text = (key: string): string | undefined => (texts() as unknown as Record<string, string>)[key];

export const number = (value: number, digits = 0): string =>
  new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value);

/** "12K", for the axis of a chart. */
export const compact = (value: number): string => new Intl.NumberFormat(locale(), { notation: "compact", maximumFractionDigits: 1 }).format(value);

/** US dollars: with cents, and what is less than a dollar with at least two digits that are not zero. */
export const dollars = (value: number): string =>
  new Intl.NumberFormat(locale(), {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    ...(value && Math.abs(value) < 1 ? { maximumSignificantDigits: 2, roundingPriority: "morePrecision" } : {}),
  }).format(value);

export const percent = (value: number): string =>
  new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: 0 }).format(value);

/** US dollars on an axis whose ticks are `step` apart: with all the digits that tell them apart. */
export const dollarsOnAxis = (value: number, step: number): string => {
  const digits = Math.max(2, Math.ceil(-Math.log10(step) - 1e-9));
  return new Intl.NumberFormat(locale(), { style: "currency", currency: "USD", minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
};

const SUNDAY = Date.UTC(2024, 0, 7);
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** "Mon", of "mon". */
export const weekday = (name: string): string =>
  new Intl.DateTimeFormat(locale(), { weekday: "short", timeZone: "UTC" }).format(SUNDAY + DAYS.indexOf(name) * 86_400_000);

/** In the viewer's own time zone. */
export const moment = (value: number | string): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(value));

/** Only its hour and minute. */
export const clock = (value: string): string => new Intl.DateTimeFormat(locale(), { timeStyle: "short" }).format(new Date(value));

/** Only its day. */
export const day = (value: number | string): string => new Intl.DateTimeFormat(locale(), { dateStyle: "medium" }).format(new Date(value));

/** Only its day and month, for the axis of a chart. */
export const dayOfMonth = (value: string): string => new Intl.DateTimeFormat(locale(), { day: "numeric", month: "short" }).format(new Date(value));

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** How long it was from one time to another, in the largest unit of which that is one: "2.84 s", "3.5 min". */
export function elapsed(from: string, to: string): string {
  const seconds = (new Date(to).getTime() - new Date(from).getTime()) / 1000;
  const [unit, length] = UNITS.find(([, length]) => seconds >= length) ?? ["second", 1];
  const digits = unit === "second" && seconds < 10 ? 2 : 1;
  return new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: digits }).format(seconds / length);
}

/** "3 days ago" */
export function ago(value: string, now: number): string {
  const seconds = (new Date(value).getTime() - now) / 1000;
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: "auto", style: "short" });
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return format.format(Math.trunc(seconds / length), unit);
}
