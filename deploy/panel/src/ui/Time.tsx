/** A time: how long ago, and when exactly in the viewer's zone. */
import { createSignal } from "solid-js";
import { ago, moment } from "../i18n";

const EVERY_MS = 5_000;
const [ticked, tick] = createSignal(undefined, { equals: false });
setInterval(tick, EVERY_MS);

/** The time. What shows it is told again as time goes on. */
export const now = (): number => (ticked(), Date.now());

export function Ago(props: { at: string }) {
  return <time datetime={props.at} title={moment(props.at)}>{ago(props.at, now())}</time>;
}

export function Moment(props: { at: string }) {
  return <time datetime={props.at} title={ago(props.at, now())}>{moment(props.at)}</time>;
}
