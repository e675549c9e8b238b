/** Where links lie beside the screen, as on a phone: that of the current view is scrolled into sight. */
export function bringIntoSight(links: HTMLElement): void {
  const current = links.querySelector<HTMLElement>(".current");
  if (current && links.scrollWidth > links.clientWidth) links.scrollLeft = current.offsetLeft - (links.clientWidth - current.offsetWidth) / 2;
}
