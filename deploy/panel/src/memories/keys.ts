/** Arrow keys (and j, k) move between the rows of a list; a row is a link, so Enter opens it. */
const STEPS: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

export function moveByKeys(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = STEPS[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const place = (row: HTMLElement) => Number(row.closest<HTMLElement>("[data-index]")?.dataset.index ?? 0);
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>(".row")].sort((a, b) => place(a) - place(b));
  const next = rows[rows.indexOf(document.activeElement as HTMLElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}
