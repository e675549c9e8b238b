/** Texts of the operators' views in the viewer's language: apart from the others, so that the first view does not load them. */
import * as i18n from "@solid-primitives/i18n";
import { createMemo, createRoot } from "solid-js";
import { filled, language, type Language } from "../i18n";
import { de } from "./texts/de";
import { en, type Words } from "./texts/en";

const CATALOGUES: Record<Language, Words> = { en, de };

const texts = createRoot(() => createMemo(() => i18n.flatten(CATALOGUES[language()])));
export const w = i18n.translator(texts, filled);

/** A text that may be missing, such as that of a reason that a later version gives. */
export function word(section: keyof Words, name: string): string {
  return (texts() as unknown as Record<string, string>)[`${section}.${name}`] ?? name;
}
