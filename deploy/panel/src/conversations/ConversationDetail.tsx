/** One conversation: its token window, what was said, and when messages left the context and why. */
import { Tabs } from "@kobalte/core/tabs";
import { A, useSearchParams } from "@solidjs/router";
import { useInfiniteQuery, useQuery } from "@tanstack/solid-query";
import ArrowLeft from "lucide-solid/icons/arrow-left";
import { createMemo, For, Match, Show, Switch } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { named, number, t } from "../i18n";
import { Failed, Loading } from "../ui/states";
import { Moment } from "../ui/Time";
import { may } from "../app/session";
import { ModelContext } from "./ModelContext";
import { TokenWindow } from "./TokenWindow";
import { WindowActions } from "./WindowActions";

type Message = Shape<"MessageView">;

export function ConversationDetail(props: { id: string; close: () => void }) {
  const path = () => ({ path: { conversation_id: props.id } });
  const asked = useQuery(() => ({
    queryKey: ["conversation", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/conversations/{conversation_id}", { params: path(), signal })),
    refetchInterval: 5_000,
  }));
  return (
    <article class="detail">
      <button class="button quiet back" onClick={props.close}><ArrowLeft aria-hidden="true" />{t("nav.open")}</button>
      <h2>{props.id}</h2>
      <Switch>
        <Match when={asked.isPending}><Loading rows={3} /></Match>
        <Match when={asked.isError}><Failed error={asked.error} again={() => void asked.refetch()} /></Match>
        <Match when={asked.isSuccess}>
          <dl class="facts-grid">
            <div><dt>{t("conversation.phase")}</dt><dd>{t(`phase.${asked.data!.phase}`)}</dd></div>
            <div><dt>{t("conversation.policy")}</dt><dd>{asked.data!.policy}</dd></div>
            <div><dt>{t("conversation.feeds")}</dt><dd>{asked.data!.namespaces.join(", ")}</dd></div>
            <Show when={asked.data!.model}>{(model) => <div><dt>{t("conversation.model")}</dt><dd>{model()}</dd></div>}</Show>
          </dl>
          <Show when={asked.data!.statistics}>{(statistics) => <TokenWindow statistics={statistics()} />}</Show>
          <Show when={asked.data!.statistics && asked.data!.namespaces.every((each) => may("write", each))}><WindowActions id={props.id} restorableUntil={asked.data!.restorable_until} /></Show>
          <Tabs class="tabs">
            <Tabs.List class="tab-list">
              <Tabs.Trigger class="tab" value="messages">{t("conversation.messages")}</Tabs.Trigger>
              <Tabs.Trigger class="tab" value="context">{t("conversation.shown")}</Tabs.Trigger>
              <Tabs.Trigger class="tab" value="prunings">{t("conversation.prunings")}</Tabs.Trigger>
            </Tabs.List>
            <Tabs.Content value="messages"><Messages id={props.id} /></Tabs.Content>
            <Tabs.Content value="context"><ModelContext id={props.id} /></Tabs.Content>
            <Tabs.Content value="prunings"><Prunings id={props.id} /></Tabs.Content>
          </Tabs>
        </Match>
      </Switch>
    </article>
  );
}

function Messages(props: { id: string }) {
  const asked = useInfiniteQuery(() => ({
    queryKey: ["said", props.id],
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { conversation_id: props.id }, query: { order: "newest" as const, limit: 50, cursor: pageParam } };
      return answered(api.GET("/v1/conversations/{conversation_id}/messages", { params, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  }));
  const messages = createMemo((): Message[] => (asked.isSuccess ? asked.data.pages.flatMap((page) => page.messages).reverse() : []));
  return (
    <Switch>
      <Match when={asked.isPending}><Loading rows={3} /></Match>
      <Match when={asked.isError}><Failed error={asked.error} again={() => void asked.refetch()} /></Match>
      <Match when={asked.isSuccess}>
        <Show when={asked.hasNextPage}>
          <button class="button small earlier" onClick={() => void asked.fetchNextPage()}>{t("sources.earlier")}</button>
        </Show>
        <ol class="messages"><For each={messages()}>{(message) => <Said conversation={props.id} message={message} />}</For></ol>
      </Match>
    </Switch>
  );
}

function Said(props: { conversation: string; message: Message }) {
  const [search] = useSearchParams<{ ns?: string }>();
  const trail = () => new URLSearchParams({ ns: search.ns ?? "", conversation: props.conversation, message: props.message.message_id });
  const pruned = () => props.message.in_context === false;
  return (
    <li class={`message ${props.message.role}`} classList={{ pruned: pruned() }}>
      <p class="facts">
        <strong>{props.message.name || named("role", props.message.role)}</strong>
        <Moment at={props.message.timestamp} />
        <span>{t("block.ofTokens", { tokens: number(props.message.tokens) })}</span>
        <Show when={props.message.in_context != null}><span class="badge">{t(pruned() ? "conversation.pruned" : "conversation.inContext")}</span></Show>
        <Show when={props.message.extracted != null}><span class="badge">{t(props.message.extracted ? "conversation.extracted" : "conversation.waiting")}</span></Show>
        <A class="memory-link" href={`/follow?${trail()}`}>{t("conversation.follow")}</A>
      </p>
      <p class="content" dir="auto">{props.message.content || props.message.tool_calls?.map((call) => call.name).join(", ")}</p>
    </li>
  );
}

function Prunings(props: { id: string }) {
  const asked = useQuery(() => ({
    queryKey: ["prunings", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/conversations/{conversation_id}/prunings", { params: { path: { conversation_id: props.id } }, signal })),
  }));
  return (
    <Switch>
      <Match when={asked.isPending}><Loading rows={2} /></Match>
      <Match when={asked.isError}><Failed error={asked.error} again={() => void asked.refetch()} /></Match>
      <Match when={asked.isSuccess}>
        <Show when={asked.data!.prunings.length} fallback={<p class="hint">{t("conversation.neverPruned")}</p>}>
          <ol class="versions">
            <For each={asked.data!.prunings}>
              {(pruning) => (
                <li class="version">
                  <p class="facts">
                    <strong>{t("conversation.left", { count: number(pruning.count) })}</strong>
                    <Moment at={pruning.at} />
                    <span>{t("conversation.tokensFell", { before: number(pruning.tokens_before), after: number(pruning.tokens_after) })}</span>
                  </p>
                  <ul><For each={pruning.removed}>{(run) => <li class="hint">{number(run.count)} × {run.why}</li>}</For></ul>
                </li>
              )}
            </For>
          </ol>
        </Show>
      </Match>
    </Switch>
  );
}
