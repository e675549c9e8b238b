/** What a model would be shown of the conversation now: its messages and the markers where others were, with what each takes. */
import { useQuery } from "@tanstack/solid-query";
import MessagesSquare from "lucide-solid/icons/messages-square";
import { For, Show } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { named, number, t, translated } from "../i18n";
import { Content } from "../ui/Content";
import { Loaded } from "../ui/Loaded";
import { Empty } from "../ui/states";

type Entry = Shape<"ContextEntry">;

export function ModelContext(props: { id: string }) {
  const asked = useQuery(() => ({
    queryKey: ["context", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/conversations/{conversation_id}/context", { params: { path: { conversation_id: props.id } }, signal })),
    staleTime: 0,
    reconcile: "message_id",
  }));
  return (
    <Loaded of={asked} name={t("conversation.shown")} rows={3}>
      {(context) => (
        <Show when={context().messages.length} fallback={<Empty icon={<MessagesSquare />} title={t("context.empty")} />}>
          <p class="facts context-size">
            <strong>{t("context.billed", { tokens: number(context().billed_tokens), most: number(context().limit_tokens) })}</strong>
            <span class="meter wide" aria-hidden="true"><span style={{ width: `${Math.min(100, (context().billed_tokens / context().limit_tokens) * 100)}%` }} /></span>
          </p>
          <Show when={context().missing}>{(count) => <p class="notice">{t("context.missing", { count: number(count()) })}</p>}</Show>
          <ol class="messages"><For each={context().messages}>{(entry) => <Shown entry={entry} />}</For></ol>
          <Show when={context().left_out?.length}>
            <details>
              <summary>{t("context.leftOut", { count: number(context().left_out!.length) })}</summary>
              <ul class="removed"><For each={context().left_out}>{(each) => <li><code class="mono">{each.message_id}</code> {translated("reason", each.reason, each.why)}</li>}</For></ul>
            </details>
          </Show>
        </Show>
      )}
    </Loaded>
  );
}

function Shown(props: { entry: Entry }) {
  return (
    <Show when={props.entry.role !== "marker"} fallback={<li class="left-out">{props.entry.content}</li>}>
      <li class={`message ${props.entry.role}`}>
        <p class="facts">
          <strong>{named("role", props.entry.role)}</strong>
          <span>{t("block.ofTokens", { tokens: number(props.entry.tokens) })}</span>
          <Show when={props.entry.importance != null}><span>{t("memory.importance")} {number(props.entry.importance! * 10, 1)}</span></Show>
          <Show when={props.entry.shortened}><span class="badge">{t("context.shortened")}</span></Show>
          <Show when={props.entry.why}>{(why) => <span class="hint">{translated("reason", props.entry.reason, why())}</span>}</Show>
        </p>
        <Content of={props.entry} />
      </li>
    </Show>
  );
}
