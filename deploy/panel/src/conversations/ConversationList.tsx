/** The list of conversations: who talks, how full the context is, and when something was said last. */
import { useSearchParams } from "@solidjs/router";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/solid-query";
import MessagesSquare from "lucide-solid/icons/messages-square";
import UsersRound from "lucide-solid/icons/users-round";
import X from "lucide-solid/icons/x";
import { createEffect, For, Show } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { number, t } from "../i18n";
import { Link } from "../ui/Link";
import { Loaded, loaded } from "../ui/Loaded";
import { ScrollingRows } from "../ui/Rows";
import { Empty, Loading } from "../ui/states";
import { Ago } from "../ui/Time";

type Summary = Shape<"ConversationSummary">;
const PHASES = ["open", "ended", "forgotten"] as const;
const PAGE = 100;
const MOST_EMPTY = 10; // pages without a conversation that are read on by themselves

export function ConversationList(props: { namespace?: string; chosen?: string; to: (id: string) => string }) {
  const [search, setSearch] = useSearchParams<{ user?: string; phase?: string }>();
  const phase = () => PHASES.find((each) => each === search.phase);
  const filters = () => ({ namespace: props.namespace, user_id: search.user || undefined, phase: phase() });
  const asked = useInfiniteQuery(() => ({
    queryKey: ["conversations", filters()],
    queryFn: ({ pageParam, signal }) => answered(api.GET("/v1/conversations", { params: { query: { ...filters(), limit: PAGE, cursor: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    select: ({ pages }) => ({ conversations: pages.flatMap((page) => page.conversations), pages: pages.length }),
    reconcile: "conversation_id",
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 0) > 1 ? false : 15_000),
  }));
  const found = (): Summary[] => loaded(asked)?.conversations ?? [];
  // A page may be empty while others come behind it: the key may not read what was looked at for it.
  const readsOn = () => !found().length && asked.hasNextPage && !asked.isError && asked.data!.pages < MOST_EMPTY;
  createEffect(() => readsOn() && !asked.isFetching && void asked.fetchNextPage());
  const filtered = () => !!(search.user || phase());
  return (
    <>
      <div class="filters" role="group" aria-label={t("list.filters")}>
        <label class="with-label"><span class="hint">{t("conversation.phase")}</span>
          <select class="choice" value={phase() ?? ""} onChange={(event) => setSearch({ phase: event.currentTarget.value || undefined }, { replace: true })}>
            <option value="">{t("conversation.anyPhase")}</option>
            <For each={PHASES}>{(each) => <option value={each} selected={each === phase()}>{t(`phase.${each}`)}</option>}</For>
          </select>
        </label>
        <label class="with-label"><span class="hint">{t("role.user")}</span>
          <input class="choice" value={search.user ?? ""} maxlength="256" placeholder={t("list.any")} onChange={(event) => setSearch({ user: event.currentTarget.value.trim() || undefined }, { replace: true })} />
        </label>
        <Show when={filtered()}>
          <button class="button small quiet" onClick={() => setSearch({ user: undefined, phase: undefined }, { replace: true })}><X aria-hidden="true" />{t("list.reset")}</button>
        </Show>
      </div>
      <Loaded of={asked} name={t("nav.conversations")}>
        {() => (
          <Show when={found().length} fallback={
            <Show when={!readsOn() && !asked.isPlaceholderData} fallback={<Loading />}>
              <Empty icon={<MessagesSquare />} title={filtered() ? t("conversation.noMatch") : t("conversation.none")} hint={filtered() ? t("list.noMatchHint") : t("conversation.noneHint")} />
            </Show>
          }>
            <ScrollingRows
              label={t("nav.conversations")} stale={asked.isPlaceholderData}
              more={<Show when={asked.hasNextPage}><button class="button small more" disabled={asked.isFetchingNextPage} onClick={() => void asked.fetchNextPage()}>{t("conversation.more")}</button></Show>}
            >
              <For each={found()}>{(each, index) => <li data-index={index()}><Row conversation={each} chosen={each.conversation_id === props.chosen} href={props.to(each.conversation_id)} named={!props.namespace} /></li>}</For>
            </ScrollingRows>
          </Show>
        )}
      </Loaded>
    </>
  );
}

function Row(props: { conversation: Summary; chosen: boolean; href: string; named: boolean }) {
  const one = () => props.conversation;
  const share = () => t("conversation.share", { percent: number(one().percent_used, 1) });
  return (
    <Link class="row" classList={{ chosen: props.chosen }} href={props.href} current={props.chosen} noScroll>
      <span class="kind-icon quote" aria-hidden="true"><Show when={one().namespaces.length > 1} fallback={<MessagesSquare />}><UsersRound /></Show></span>
      <span class="row-body">
        <span class="row-text">{one().conversation_id}</span>
        <span class="facts">
          <span class="badge">{t(`phase.${one().phase}`)}</span>
          <span class="importance" title={share()}>
            <span class="meter" aria-hidden="true"><span class={`level-${one().level}`} style={{ width: `${Math.min(100, one().percent_used)}%` }} /></span>{share()}
          </span>
          <span>{t("conversation.inWindow", { count: number(one().messages_in_context), of: number(one().total_messages) })}</span>
          <span>{t("block.ofTokens", { tokens: number(one().total_tokens) })}</span>
          <Ago at={one().last_active_at} />
        </span>
        <Show when={props.named || one().namespaces.length > 1}><span class="hint namespaces">{one().namespaces.join(", ")}</span></Show>
      </span>
    </Link>
  );
}
