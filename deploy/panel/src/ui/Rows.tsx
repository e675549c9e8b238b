/** Lists of rows that arrow keys move in; the second scrolls by itself. */
import type { JSX } from "solid-js";
import { moveByKeys, useOneStop } from "../memories/keys";

export function Rows(props: { label: string; children: JSX.Element }) {
  let list!: HTMLUListElement;
  useOneStop(() => list);
  return <ul class="rows flowing" aria-label={props.label} ref={list} onKeyDown={moveByKeys}>{props.children}</ul>;
}

export function ScrollingRows(props: { label: string; stale?: boolean; children: JSX.Element; more?: JSX.Element }) {
  return (
    <div class="scroller" classList={{ stale: props.stale }}>
      <Rows label={props.label}>{props.children}</Rows>
      {props.more}
    </div>
  );
}
