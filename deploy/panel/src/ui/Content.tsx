/** What a message says, or the tools that it calls. The end of a long one is there once it is asked for. */
import { createSignal, onCleanup, onMount, Show } from "solid-js";
import type { Shape } from "../api/client";
import { t } from "../i18n";

type Said = Pick<Shape<"MessageView">, "content" | "tool_calls">;

const calls = (said: Said) => (said.tool_calls ?? []).map((call) => `${call.name}(${call.arguments == null ? "" : JSON.stringify(call.arguments)})`);

export function Content(props: { of: Said }) {
  const [open, setOpen] = createSignal(false);
  const [long, setLong] = createSignal(false);
  let text!: HTMLParagraphElement;
  onMount(() => {
    const seen = new ResizeObserver(() => open() || setLong(text.scrollHeight > text.clientHeight + 1));
    seen.observe(text);
    onCleanup(() => seen.disconnect());
  });
  return (
    <>
      <p class="content" classList={{ open: open(), long: long() && !open() }} dir="auto" ref={text}>{props.of.content || calls(props.of).join("\n")}</p>
      <Show when={long()}>
        <button class="as-text unfold" aria-expanded={open()} onClick={() => setOpen(!open())}>{t(open() ? "state.less" : "state.all")}</button>
      </Show>
    </>
  );
}
