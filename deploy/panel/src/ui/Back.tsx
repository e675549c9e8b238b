/** Leads from what is chosen back to its list, where there is room for one of them only. The focus goes along, both ways. */
import ArrowLeft from "lucide-solid/icons/arrow-left";
import { onMount } from "solid-js";
import { t } from "../i18n";

const MOST_FRAMES = 30; // until the rows of a long list are there again

const viewOf = (address: string) => address.split("?")[0];

function focusOnce(find: () => HTMLElement | undefined, frames: number): void {
  requestAnimationFrame(() => {
    const found = find();
    if (found || !frames) (found ?? document.getElementById("content"))?.focus();
    else focusOnce(find, frames - 1);
  });
}

export function Back(props: { close: () => void }) {
  let button!: HTMLButtonElement;
  onMount(() => button.offsetParent && button.focus());
  const back = () => {
    const row = document.querySelector<HTMLElement>(".row.chosen");
    const view = viewOf(location.hash);
    props.close();
    const find = () => (row?.isConnected ? row : [...document.querySelectorAll<HTMLElement>("a.row")].find((each) => viewOf(each.getAttribute("href")!) === view));
    focusOnce(find, MOST_FRAMES);
  };
  return <button class="button quiet back" ref={button} onClick={back}><ArrowLeft aria-hidden="true" />{t("nav.open")}</button>;
}
