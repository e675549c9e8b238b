/** What a search found, of memories and of what was said, each with why. */
import { keepPreviousData, useQuery } from "@tanstack/solid-query";
import MessageSquareQuote from "lucide-solid/icons/message-square-quote";
import SearchX from "lucide-solid/icons/search-x";
import { A } from "@solidjs/router";
import { For, Match, Show, Switch } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { named, number, t } from "../i18n";
import { Marked } from "../ui/Marked";
import { Empty, Failed, Loading } from "../ui/states";
import { Ago } from "../ui/Time";
import { useAddress, type Address } from "./address";
import { moveByKeys } from "./keys";
import { MemoryRow } from "./MemoryRow";

type Hit = Shape<"FoundHit">;
const MOST = 50;

/** Filters that only memories have leave out what was said, so they are sent where they are set, and not else. */
function question(namespace: string, address: Address) {
  const asked = { namespaces: [namespace], text: address.text(), in: address.tier(), explain: true, related: true, limit: MOST };
  const filters = {
    ...(address.kinds().length && { kinds: address.kinds() }),
    ...(address.tag() && { tags: [address.tag()!] }),
    ...(address.least() && { min_importance: address.least(), scale: "tenths" as const }),
  };
  return address.tier() === "said" || !Object.keys(filters).length ? asked : { ...asked, filters };
}

export function Results(props: { namespace: string; chosen?: string }) {
  const address = useAddress();
  const asked = useQuery(() => ({
    queryKey: ["search", question(props.namespace, address)],
    queryFn: ({ signal }) => answered(api.POST("/v1/search", { body: question(props.namespace, address), signal })),
    placeholderData: keepPreviousData,
  }));
  return (
    <Switch>
      <Match when={asked.isPending}><Loading /></Match>
      <Match when={asked.isError}><Failed error={asked.error} again={() => void asked.refetch()} /></Match>
      <Match when={asked.isSuccess && !asked.data.hits.length}>
        <Empty icon={<SearchX />} title={t("list.nothingFound")} hint={t("list.nothingFoundHint")} />
      </Match>
      <Match when={asked.isSuccess}>
        <Show when={asked.data!.degraded.length}><p class="notice" role="status">{t("state.degraded")}</p></Show>
        <div class="scroller" classList={{ stale: asked.isPlaceholderData }} onKeyDown={moveByKeys}>
          <ul class="rows flowing" aria-label={t("list.results")}>
            <For each={asked.data!.hits}>{(hit, index) => <li data-index={index()}><Found hit={hit} chosen={props.chosen} /></li>}</For>
          </ul>
        </div>
      </Match>
    </Switch>
  );
}

function Found(props: { hit: Hit; chosen?: string }) {
  return (
    <Show when={props.hit.memory} fallback={<Said hit={props.hit} chosen={props.chosen} />}>
      {(memory) => (
        <MemoryRow memory={memory()} chosen={memory().memory_id === props.chosen}>
          <Why hit={props.hit} />
        </MemoryRow>
      )}
    </Show>
  );
}

function Said(props: { hit: Hit; chosen?: string }) {
  const address = useAddress();
  const passage = () => props.hit.passage!;
  const memory = () => props.hit.memory_ids?.[0];
  return (
    <div class="row said">
      <span class="kind-icon quote" aria-hidden="true"><MessageSquareQuote /></span>
      <span class="row-body">
        <span class="row-text" dir="auto"><q><Marked text={passage().text} words={address.text()} /></q></span>
        <span class="facts">
          <span class="kind">{passage().speaker || named("role", passage().role)}</span>
          <Ago at={passage().said_at} />
          <span class="mono">{passage().conversation_id}</span>
          <Show when={memory()} fallback={<span>{t("found.notRemembered")}</span>}>
            {(id) => <A class="row-link" href={address.to(id())} noScroll>{t("found.remembered")} →</A>}
          </Show>
        </span>
        <Why hit={props.hit} />
      </span>
    </div>
  );
}

const SHARES = ["relevance", "importance", "recency", "reinforcement"] as const;

/** How the score came about: what each part adds to it, as far as the API tells. */
function Why(props: { hit: Hit }) {
  const parts = () => props.hit.parts;
  const shares = () => SHARES.map((name) => ({ name, value: parts()?.[`from_${name}`] ?? 0 })).filter((share) => share.value > 0);
  const whole = () => shares().reduce((sum, share) => sum + share.value, 0) || 1;
  return (
    <span class="why">
      <span class="hidden">{t("found.why")}: </span>
      <Show when={shares().length}>
        <span class="shares" aria-hidden="true">
          <For each={shares()}>{(share) => <span class={share.name} style={{ width: `${(share.value / whole()) * 100}%` }} />}</For>
        </span>
      </Show>
      <Show when={parts()?.cosine != null}><span>{t("found.meaning", { score: number(parts()!.cosine!, 2) })}</span></Show>
      <Show when={parts()?.lexical != null}><span>{t("found.words", { score: number(parts()!.lexical!, 2) })}</span></Show>
      <For each={shares().slice(1)}>{(share) => <span><i class={`dot ${share.name}`} aria-hidden="true" />{t(`found.${share.name}`)} +{number(share.value, 2)}</span>}</For>
    </span>
  );
}
