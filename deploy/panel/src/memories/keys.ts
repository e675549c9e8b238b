/** A list is one stop of Tab. Arrow keys (and j, k) move between its rows; a row is a link or a button, so Enter opens it. */
import { onCleanup, onMount } from "solid-js";

const STEPS: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
const ROWS = "a.row, button.row";

type KeyPress = KeyboardEvent & { currentTarget: HTMLElement };

/** How far a key moves, if it does. */
function stepOf(event: KeyPress): number | undefined {
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  return isPlain && (document.activeElement as HTMLElement).matches(ROWS) ? STEPS[event.key] : undefined;
}

function goTo(row: HTMLElement): void {
  row.focus();
  row.scrollIntoView({ block: "nearest" });
}

export function moveByKeys(event: KeyPress): void {
  const step = stepOf(event);
  if (step === undefined) return;
  const rows = inOrder(event.currentTarget);
  const next = rows[rows.indexOf(document.activeElement as HTMLElement) + step];
  if (!next) return;
  event.preventDefault();
  goTo(next);
}

/** The same for a list of which only what is in sight is in the document. Keys may come faster than rows do (a key that is held down, a
 * busy machine): the row that they lead to gets the focus once `show` has brought it into the document. */
export function useKeysOfLongList(list: () => HTMLElement, count: () => number, show: (place: number) => void): (event: KeyPress) => void {
  let wanted: number | undefined;
  const arrive = () => {
    const row = wanted === undefined ? undefined : list().querySelector<HTMLElement>(`[data-index="${wanted}"] :is(${ROWS})`);
    if (row) (wanted = undefined), goTo(row);
  };
  onMount(() => {
    const seen = new MutationObserver(arrive);
    seen.observe(list(), { childList: true, subtree: true });
    list().addEventListener("focusin", () => (wanted = undefined)); // somebody went elsewhere meanwhile
    onCleanup(() => seen.disconnect());
  });
  return (event) => {
    const step = stepOf(event);
    if (step === undefined) return;
    event.preventDefault();
    wanted = Math.min(Math.max((wanted ?? placeOf(document.activeElement!)) + step, 0), count() - 1);
    arrive();
    if (wanted !== undefined) show(wanted);
  };
}

/** Rows of a long list stand in the document in another order than on the screen. */
const placeOf = (row: Element) => Number(row.closest<HTMLElement>("[data-index]")?.dataset.index ?? 0);

function inOrder(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(ROWS)].sort((a, b) => placeOf(a) - placeOf(b));
}

/** Keeps one row of a list in the order of Tab: the one that has the focus or had it last, else the chosen one, else the first in
 * sight. Rows that come and go, as in a list of thousands, are looked at again. To be called by the component of the list. */
export function useOneStop(list: () => HTMLElement): void {
  let last: HTMLElement | undefined;
  const settle = () => {
    const rows = inOrder(list());
    const top = list().getBoundingClientRect().top;
    const stop =
      rows.find((row) => row === document.activeElement || row === last) ??
      rows.find((row) => row.classList.contains("chosen")) ??
      rows.find((row) => row.getBoundingClientRect().top >= top) ??
      rows[0];
    for (const row of rows) row.tabIndex = row === stop ? 0 : -1;
  };
  const focused = (event: FocusEvent) => {
    const row = (event.target as HTMLElement).closest<HTMLElement>(ROWS);
    if (row) last = row;
    settle();
  };
  onMount(() => {
    const seen = new MutationObserver(settle);
    seen.observe(list(), { childList: true, subtree: true });
    list().addEventListener("focusin", focused);
    settle();
    onCleanup(() => seen.disconnect());
  });
}
