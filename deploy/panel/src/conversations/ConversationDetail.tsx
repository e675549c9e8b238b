/** One conversation: its token window, what was said, and when messages left the context and why. */
import { Tabs } from "@kobalte/core/tabs";
import { useSearchParams } from "@solidjs/router";
import { useQuery, useQueryClient } from "@tanstack/solid-query";
import { createEffect, For, on, Show } from "solid-js";
import { answered, api } from "../api/client";
import { number, t, translated } from "../i18n";
import { Back } from "../ui/Back";
import { Loaded } from "../ui/Loaded";
import { Moment } from "../ui/Time";
import { may } from "../app/session";
import { ContextSettings } from "./ContextSettings";
import { Messages } from "./Messages";
import { ModelContext } from "./ModelContext";
import { TokenWindow } from "./TokenWindow";
import { WindowActions } from "./WindowActions";

export function ConversationDetail(props: { id: string; close: () => void }) {
  const [search, setSearch] = useSearchParams<{ tab?: string }>();
  const path = () => ({ path: { conversation_id: props.id } });
  const asked = useQuery(() => ({
    queryKey: ["conversation", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/conversations/{conversation_id}", { params: path(), signal })),
    refetchInterval: 5_000,
  }));
  const cache = useQueryClient();
  // The tabs follow what the conversation tells: a request by hand may take effect later than `readAgain` expects.
  const ofTabs = { predicate: ({ queryKey: [kind, id] }: { queryKey: readonly unknown[] }) => id === props.id && kind !== "conversation" };
  createEffect(on(() => asked.dataUpdatedAt, (_, before) => before && void cache.invalidateQueries(ofTabs)));
  const mayWrite = () => !!asked.data?.statistics && asked.data.phase !== "forgotten" && asked.data.namespaces.every((each) => may("write", each));
  return (
    <article class="detail">
      <Back close={props.close} />
      <h2>{props.id}</h2>
      <Loaded of={asked} name={props.id} rows={3}>
        {(conversation) => (
          <>
            <dl class="facts-grid">
              <div><dt>{t("conversation.phase")}</dt><dd>{t(`phase.${conversation().phase}`)}</dd></div>
              <div><dt>{t("conversation.policy")}</dt><dd>{conversation().policy}</dd></div>
              <div class="wide"><dt>{t("conversation.feeds")}</dt><dd>{conversation().namespaces.join(", ")}</dd></div>
              <Show when={conversation().last_message_at}>{(at) => <div><dt>{t("conversation.lastMessage")}</dt><dd><Moment at={at()} /></dd></div>}</Show>
              <Show when={conversation().model}>{(model) => <div><dt>{t("conversation.model")}</dt><dd>{model()}</dd></div>}</Show>
            </dl>
            <Show when={conversation().statistics}>{(statistics) => <TokenWindow id={props.id} statistics={statistics()} />}</Show>
            <Show when={mayWrite()}><WindowActions conversation={conversation()} /></Show>
            <Tabs class="tabs" value={search.tab ?? "messages"} onChange={(tab) => setSearch({ tab: tab === "messages" ? undefined : tab }, { replace: true })}>
              <Tabs.List class="tab-list">
                <Tabs.Trigger class="tab" value="messages">{t("conversation.messages")}</Tabs.Trigger>
                <Tabs.Trigger class="tab" value="context">{t("conversation.shown")}</Tabs.Trigger>
                <Tabs.Trigger class="tab" value="prunings">{t("conversation.prunings")}</Tabs.Trigger>
                <Show when={conversation().statistics}><Tabs.Trigger class="tab" value="settings">{t("settings.title")}</Tabs.Trigger></Show>
              </Tabs.List>
              <Tabs.Content value="messages"><Messages id={props.id} mayWrite={mayWrite()} /></Tabs.Content>
              <Tabs.Content value="context"><ModelContext id={props.id} /></Tabs.Content>
              <Tabs.Content value="prunings"><Prunings id={props.id} /></Tabs.Content>
              <Tabs.Content value="settings"><ContextSettings id={props.id} mayWrite={mayWrite()} /></Tabs.Content>
            </Tabs>
          </>
        )}
      </Loaded>
    </article>
  );
}

function Prunings(props: { id: string }) {
  const asked = useQuery(() => ({
    queryKey: ["prunings", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/conversations/{conversation_id}/prunings", { params: { path: { conversation_id: props.id } }, signal })),
    reconcile: "number",
  }));
  return (
    <Loaded of={asked} name={t("conversation.prunings")} rows={2}>
      {(history) => (
        <Show when={history().prunings.length} fallback={<p class="hint">{t("conversation.neverPruned")}</p>}>
          <ol class="versions">
            <For each={history().prunings}>
              {(pruning) => (
                <li class="version">
                  <p class="facts">
                    <strong>{t("conversation.left", { count: number(pruning.count) })}</strong>
                    <Moment at={pruning.at} />
                    <span>{t("conversation.tokensFell", { before: number(pruning.tokens_before), after: number(pruning.tokens_after) })}</span>
                    <Show when={pruning.undone_at}>{(at) => <span class="badge">{t("conversation.undone")} <Moment at={at()} /></span>}</Show>
                  </p>
                  <ul><For each={pruning.removed}>{(run) => <li class="hint">{number(run.count)} × {translated("reason", run.reason, run.why)}</li>}</For></ul>
                </li>
              )}
            </For>
          </ol>
        </Show>
      )}
    </Loaded>
  );
}
