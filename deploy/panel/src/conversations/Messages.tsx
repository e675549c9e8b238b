/** What was said in a conversation: what is in context, what left it and why, and what is extracted already. */
import { useInfiniteQuery } from "@tanstack/solid-query";
import { For, Show } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { named, number, t, translated } from "../i18n";
import { Content } from "../ui/Content";
import { FollowLink } from "../ui/FollowLink";
import { Loaded } from "../ui/Loaded";
import { Moment } from "../ui/Time";
import { Marking } from "./Marking";

type Message = Shape<"MessageView">;

export function Messages(props: { id: string; mayWrite: boolean }) {
  const asked = useInfiniteQuery(() => ({
    queryKey: ["said", props.id],
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { conversation_id: props.id }, query: { order: "newest" as const, limit: 50, cursor: pageParam } };
      return answered(api.GET("/v1/conversations/{conversation_id}/messages", { params, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    select: ({ pages }) => pages.flatMap((page) => page.messages).reverse(),
    reconcile: "message_id",
  }));
  return (
    <Loaded of={asked} name={t("conversation.messages")} rows={3}>
      {(messages) => (
        <>
          <Show when={asked.hasNextPage}>
            <button class="button small earlier" onClick={() => void asked.fetchNextPage()}>{t("sources.earlier")}</button>
          </Show>
          <ol class="messages"><For each={messages()}>{(message) => <Said conversation={props.id} message={message} mayWrite={props.mayWrite} />}</For></ol>
        </>
      )}
    </Loaded>
  );
}

function Said(props: { conversation: string; message: Message; mayWrite: boolean }) {
  const pruned = () => props.message.in_context === false;
  const mark = () => props.message.mark ?? undefined;
  return (
    <li class={`message ${props.message.role}`} classList={{ pruned: pruned() }}>
      <p class="facts">
        <strong>{props.message.name || named("role", props.message.role)}</strong>
        <Moment at={props.message.timestamp} />
        <span>{t("block.ofTokens", { tokens: number(props.message.tokens) })}</span>
        <span>{t("memory.importance")} {number(props.message.importance * 10, 1)}</span>
        <Show when={props.message.in_context != null}><span class="badge">{t(pruned() ? "conversation.pruned" : "conversation.inContext")}</span></Show>
        <Show when={props.message.extracted != null}><span class="badge">{t(props.message.extracted ? "conversation.extracted" : "conversation.waiting")}</span></Show>
        <Show when={mark() && !props.mayWrite}><span class="badge">{t(`mark.${mark()!}`)}</span></Show>
        <FollowLink conversation={props.conversation} message={props.message.message_id} />
      </p>
      <Show when={props.message.pruned_why}>{(why) => <p class="hint">{t("conversation.prunedWhy", { why: translated("reason", props.message.pruned_for, why()) })}</p>}</Show>
      <Content of={props.message} />
      <Show when={props.mayWrite && props.message.in_context}><Marking conversation={props.conversation} message={props.message} /></Show>
    </li>
  );
}
