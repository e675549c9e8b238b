/** A text in which the words of a question are marked. It is text throughout, whatever stands in it. */
import { For, Show } from "solid-js";

const LEAST_LETTERS = 3;

export function Marked(props: { text: string; words: string }) {
  const pattern = () => {
    const words = props.words.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length >= LEAST_LETTERS);
    return words.length ? new RegExp(`(${words.join("|")})`, "giu") : undefined;
  };
  const parts = () => (pattern() ? props.text.split(pattern()!) : [props.text]);
  return <For each={parts()}>{(part, index) => <Show when={index() % 2} fallback={part}><mark>{part}</mark></Show>}</For>;
}
