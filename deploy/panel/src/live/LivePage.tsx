/** What happens to the memories of a namespace, as it happens. */
import { useSearchParams } from "@solidjs/router";
import { useQuery } from "@tanstack/solid-query";
import Activity from "lucide-solid/icons/activity";
import Pause from "lucide-solid/icons/pause";
import Play from "lucide-solid/icons/play";
import { createEffect, createSignal, For, onCleanup, Show } from "solid-js";
import { answered, api } from "../api/client";
import { dollars, named, number, t } from "../i18n";
import { KindIcon } from "../memories/kinds";
import { loaded, Outdated } from "../ui/Loaded";
import { MemoryLink } from "../ui/MemoryLink";
import { Empty, reason } from "../ui/states";
import { Moment } from "../ui/Time";
import { follow, isOfMemory, type Happened, type MemoryEvent } from "./follow";
import { useTitle } from "../ui/title";

const MOST = 200; // events that are kept in sight

export function LivePage() {
  useTitle(() => t("nav.live"));
  const [search] = useSearchParams<{ ns?: string; from?: string }>();
  return (
    <div class="page">
      <Show when={search.ns} keyed fallback={<><h1>{t("nav.live")}</h1><Empty icon={<Activity />} title={t("nav.chooseNamespace")} /></>}>
        {(namespace) => <Events namespace={namespace} fromBeginning={search.from === "beginning"} />}
      </Show>
    </div>
  );
}

function Events(props: { namespace: string; fromBeginning: boolean }) {
  const [shown, setShown] = createSignal<Happened[]>([]);
  const [held, setHeld] = createSignal<Happened[]>([]); // that came while it was paused
  const [paused, setPaused] = createSignal(false);
  const [broken, setBroken] = createSignal<unknown>();
  const [, setSearch] = useSearchParams<{ from?: string }>();
  createEffect(() => {
    const ended = new AbortController();
    setShown([]);
    const heard = (event: Happened) => (paused() ? setHeld : setShown)((before) => [event, ...before].slice(0, MOST));
    void follow(props.namespace, props.fromBeginning, { heard, state: (_, error) => setBroken(error) }, ended.signal);
    onCleanup(() => ended.abort());
  });
  const resume = () => {
    setShown((before) => [...held(), ...before].slice(0, MOST));
    setHeld([]);
    setPaused(false);
  };
  return (
    <>
      <div class="page-head">
        <h1>{t("nav.live")}</h1>
        <span class="pulse" classList={{ still: paused() || !!broken() }} role="status">
          {broken() ? t("live.broken") : paused() ? t("live.paused", { count: number(held().length) }) : t("live.following")}
        </span>
        <button class="button" onClick={() => (paused() ? resume() : setPaused(true))}>
          <Show when={paused()} fallback={<><Pause aria-hidden="true" />{t("live.pause")}</>}><Play aria-hidden="true" />{t("live.resume")}</Show>
        </button>
        <Show when={!props.fromBeginning}>
          <button class="button quiet" onClick={() => setSearch({ from: "beginning" })}>{t("live.fromBeginning")}</button>
        </Show>
      </div>
      <Show when={broken()}>{(error) => <p class="notice" role="alert">{reason(error())}</p>}</Show>
      <Consumption namespace={props.namespace} />
      <Show when={shown().length} fallback={<Empty icon={<Activity />} title={t("live.empty")} hint={t("live.emptyHint")} />}>
        <ol class="events" aria-label={t("live.events")}>
          <For each={shown()}>{(event) => (isOfMemory(event) ? <Told event={event} /> : <li class="event"><span class="facts"><strong>{t("live.erased")}</strong><Moment at={event.time} /></span></li>)}</For>
        </ol>
      </Show>
    </>
  );
}

function Told(props: { event: MemoryEvent }) {
  const data = () => props.event.data;
  return (
    <li class="event">
      <KindIcon kind={data().memory.kind} />
      <span class="row-body">
        <span class="facts">
          <strong>{t(`versions.${data().change}`)}</strong>
          <Moment at={props.event.time} />
          <span>{t("versions.by", { actor: data().cause.actor })}</span>
          <Show when={data().cause.reason}>{(why) => <span dir="auto">{why()}</span>}</Show>
        </span>
        <Show when={data().memory.text} fallback={<span class="hint">{t("live.noText")}</span>}>
          <MemoryLink id={data().memory.memory_id}><span dir="auto">{data().memory.text}</span></MemoryLink>
        </Show>
        <Show when={data().before?.text && data().before!.text !== data().memory.text}><del dir="auto">{data().before!.text}</del></Show>
      </span>
    </li>
  );
}

/** Model calls of the last day, and what is left of the budget. */
function Consumption(props: { namespace: string }) {
  const asked = useQuery(() => ({
    queryKey: ["usage", props.namespace],
    queryFn: ({ signal }) => answered(api.GET("/v1/usage", { params: { query: { namespace: props.namespace } }, signal })),
    refetchInterval: 30_000,
  }));
  return (
    <Show when={loaded(asked)} fallback={<Show when={asked.isError}><p class="notice" role="alert">{t("live.noConsumption", { reason: reason(asked.error) })}</p></Show>}>
      {(usage) => (
        <>
          <Outdated of={asked} name={t("live.calls")} />
          <dl class="figures">
            <div><dt>{t("live.calls")}</dt><dd>{number(usage().totals.reduce((sum, each) => sum + each.calls, 0))}</dd></div>
            <div><dt>{t("live.tokens")}</dt><dd>{number(usage().tokens)}</dd></div>
            <div><dt>{t("live.cost")}</dt><dd>{dollars(usage().cost_usd)}</dd></div>
            <For each={usage().budget}>
              {(limit) => <div><dt>{t("live.remains", { limit: named("limit", limit.limit) })}</dt><dd>{number(limit.remains, 2)} / {number(limit.of, 2)}</dd></div>}
            </For>
          </dl>
        </>
      )}
    </Show>
  );
}
