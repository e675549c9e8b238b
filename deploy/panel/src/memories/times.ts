/** Times that are typed: on the viewer's clock, to the minute. */

/** A moment as a field for a day and a time has it; nothing where there is none. */
export function asTyped(at?: string | null): string {
  if (!at) return "";
  const moment = new Date(at);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** What was typed, a day alone as its first moment. */
export const momentOf = (typed: string): string => new Date(typed.includes("T") ? typed : `${typed}T00:00`).toISOString();

/** What became of a moment in a form: the one before where its minute is the same, null where it was cleared. */
export function changedMoment(typed: string, before?: string | null): string | null | undefined {
  if (typed === asTyped(before)) return before ?? undefined;
  return typed ? momentOf(typed) : null;
}
