/** What a search found, of memories and of what was said, each with why. */
import { keepPreviousData, useQuery } from "@tanstack/solid-query";
import MessageSquareQuote from "lucide-solid/icons/message-square-quote";
import SearchX from "lucide-solid/icons/search-x";
import { A } from "@solidjs/router";
import { createComputed, createMemo, createSignal, For, Match, on, Show, Switch } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { named, number, t } from "../i18n";
import { Loaded, loaded } from "../ui/Loaded";
import { Marked } from "../ui/Marked";
import { ScrollingRows } from "../ui/Rows";
import { Empty } from "../ui/states";
import { Ago } from "../ui/Time";
import { UNFILTERED, useAddress, type Address } from "./address";
import { MemoryRow } from "./MemoryRow";
import { momentOf } from "./times";

type Hit = Shape<"FoundHit">;
type Passage = Shape<"Passage">;
const FIRST = 50;
const MOST = 100; // of the API

/** Filters that only memories have leave out what was said, so they are sent where they are set, and not else. */
function question(namespace: string, address: Address) {
  const asked = { namespaces: [namespace], text: address.text(), in: address.tier(), explain: true, related: true };
  const dates = {
    ...(address.from() && { happened_from: momentOf(address.from()!) }),
    ...(address.before() && { happened_to: momentOf(address.before()!) }),
  };
  const ofMemories = {
    ...(address.kinds().length && { kinds: address.kinds() }),
    ...(address.tag() && { tags: [address.tag()!] }),
    ...(address.least() && { min_importance: address.least(), scale: "tenths" as const }),
    ...(address.confidence() && { min_confidence: address.confidence() / 100 }),
    ...(address.pinned() && { pinned: true }),
    ...(address.at() && { valid_at: new Date(address.at()!).toISOString() }),
  };
  return { ...asked, filters: address.tier() === "said" ? dates : { ...dates, ...ofMemories } };
}

export function Results(props: { namespace: string; chosen?: string }) {
  const address = useAddress();
  const asks = createMemo(() => question(props.namespace, address), undefined, { equals: (one, other) => JSON.stringify(one) === JSON.stringify(other) });
  const [limit, setLimit] = createSignal(FIRST);
  createComputed(on(asks, () => setLimit(FIRST)));
  const asked = useQuery(() => ({
    queryKey: ["search", asks(), limit()],
    queryFn: ({ signal }) => answered(api.POST("/v1/search", { body: { ...asks(), limit: limit() }, signal })),
    placeholderData: keepPreviousData,
    select: (found) => ({ ...found, hits: structuredClone(found.hits).map((hit) => ({ ...hit, id: hit.memory?.memory_id ?? hit.passage?.passage_id })) }),
    reconcile: "id",
  }));
  const count = () => loaded(asked)?.hits.length ?? 0;
  const more = () => (
    <Switch>
      <Match when={count() >= MOST}><p class="hint more">{t("list.mostFound", { count: number(MOST) })}</p></Match>
      <Match when={count() >= FIRST && limit() < MOST}><button class="button small more" onClick={() => setLimit(MOST)}>{t("list.showMore")}</button></Match>
    </Switch>
  );
  return (
    <Loaded of={asked} name={t("list.results")}>
      {(found) => (
        <Show when={count()} fallback={
          <Empty icon={<SearchX />} title={t("list.nothingFound")} hint={t("list.nothingFoundHint")}>
            <Show when={address.filtered() || address.narrowed()}><button class="button" onClick={() => address.set(UNFILTERED)}>{t("list.reset")}</button></Show>
          </Empty>
        }>
          <Show when={found().degraded.length}><p class="notice" role="status">{t("state.degraded")}</p></Show>
          <p class="summary" role="status">{t(count() === FIRST || count() >= MOST ? "list.best" : "list.found", { count: number(count()) })}</p>
          <ScrollingRows label={t("list.results")} stale={asked.isPlaceholderData} more={more()}>
            <For each={found().hits}>{(hit, index) => <li data-index={index()}><Found hit={hit} chosen={props.chosen} /></li>}</For>
          </ScrollingRows>
        </Show>
      )}
    </Loaded>
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
  const place = (said: Passage) => said.ordinal ?? 0;
  const before = () => (props.hit.neighbours ?? []).filter((each) => place(each) < place(passage()));
  const after = () => (props.hit.neighbours ?? []).filter((each) => place(each) > place(passage()));
  return (
    <div class="row said">
      <span class="kind-icon quote" aria-hidden="true"><MessageSquareQuote /></span>
      <span class="row-body">
        <For each={before()}>{(each) => <Beside said={each} />}</For>
        <span class="row-text" dir="auto"><q><Marked text={passage().text} words={address.text()} /></q></span>
        <For each={after()}>{(each) => <Beside said={each} />}</For>
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

/** A message right before or after the one that was found. */
function Beside(props: { said: Passage }) {
  return (
    <span class="neighbour" dir="auto">
      <span class="kind">{props.said.speaker || named("role", props.said.role)}</span> <q>{props.said.text}</q>
    </span>
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
