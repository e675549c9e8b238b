/** The focus where what had it goes away or is disabled, such as the button of a row that was deleted: the heading of the part of the page
 * that it was in gets it, or the part itself. Lists whose rows come and go as they scroll see to their own. What only moves, as a row does
 * that comes to the top of its list, gets it back: browsers take it from what they move. A notification that closes gives it back to what
 * had it before. */
const PARTS = "section, article, aside, form, main";
const NOTIFICATIONS = ".toasts";
const DIALOG = "[role=dialog], [role=alertdialog]";

function ancestors(of: Element | null): Element[] {
  return of ? [of, ...ancestors(of.parentElement)] : [];
}

const isLost = (element?: Element) => !!element && (!element.isConnected || element.matches(":disabled"));
const isShown = (element: Element) => element.isConnected && element.getClientRects().length > 0;

const isMoved = (element: Element | undefined, changes: MutationRecord[]) =>
  !!element?.isConnected && changes.some(({ removedNodes }) => [...removedNodes].some((each) => each.contains(element)));

function give(to: HTMLElement): void {
  if (!to.hasAttribute("tabindex")) to.tabIndex = -1;
  to.focus();
}

export function keepFocus(): void {
  let path: Element[] = []; // what had the focus last, and all that it was in
  let before: Element[] = []; // the same from before a notification had it
  const isNotification = () => path.some((each) => each.matches(NOTIFICATIONS));
  const check = () => {
    if (document.activeElement !== document.body || !isLost(path[0]) || path[0]!.matches(".row") || document.querySelector(DIALOG)) return;
    const last = isNotification() ? before : path;
    if (last[0] && !isLost(last[0]) && isShown(last[0])) return (last[0] as HTMLElement).focus();
    const part = last.slice(1).find((each) => each.matches(PARTS) && isShown(each));
    const heading = [...(part?.querySelectorAll("h1, h2, h3") ?? [])].find(isShown);
    if (part) give((heading ?? part) as HTMLElement);
  };
  // Two frames later: the browser takes the focus from what was disabled after the first, and dialogs give it back by then.
  const seen = new MutationObserver((changes) => {
    if (document.activeElement === document.body && isMoved(path[0], changes)) (path[0] as HTMLElement).focus({ preventScroll: true });
    if (isLost(path[0])) requestAnimationFrame(() => requestAnimationFrame(check));
  });
  seen.observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
  document.addEventListener("pointerdown", ({ target }) => path[0]?.contains(target as Element) || (path = [])); // somebody went elsewhere
  document.addEventListener("focusin", ({ target }) => {
    if (!isNotification()) before = path;
    path = ancestors(target as Element);
  });
}
