/** A time: how long ago, and when exactly in the viewer's zone. */
import { ago, moment } from "../i18n";

export function Ago(props: { at: string }) {
  return <time datetime={props.at} title={moment(props.at)}>{ago(props.at)}</time>;
}

export function Moment(props: { at: string }) {
  return <time datetime={props.at} title={ago(props.at)}>{moment(props.at)}</time>;
}
