/** What happened in a namespace over time, what it costs, how large it is beside others, and a map of what is remembered. */
import { useSearchParams } from "@solidjs/router";
import { keepPreviousData, useQuery } from "@tanstack/solid-query";
import ChartColumn from "lucide-solid/icons/chart-column";
import { For, Show, type JSX } from "solid-js";
import { answered, api } from "../api/client";
import { dollars, number, percent, t } from "../i18n";
import { useStatistics } from "../memories/Filters";
import { Link } from "../ui/Link";
import { Loaded, loaded, type Query } from "../ui/Loaded";
import { MemoryLink } from "../ui/MemoryLink";
import { Empty } from "../ui/states";
import { Days, SPANS, type Span } from "./Days";
import { Hits } from "./Hits";
import { MemoryMap } from "./MemoryMap";
import "../styles/insights.css";
import { useTitle } from "../ui/title";

const LARGEST = 10;
const USUAL: Span = 30; // days

export function InsightsPage() {
  useTitle(() => t("nav.insights"));
  const [search] = useSearchParams<{ ns?: string }>();
  return (
    <div class="page">
      <h1>{t("nav.insights")}</h1>
      <Show when={search.ns} keyed fallback={<Empty icon={<ChartColumn />} title={t("nav.chooseNamespace")} />}>
        {(namespace) => (
          <>
            <Figures namespace={namespace} />
            <OverTime namespace={namespace} />
            <MemoryMap namespace={namespace} />
            <div class="columns"><Costly namespace={namespace} /><Largest namespace={namespace} /></div>
          </>
        )}
      </Show>
    </div>
  );
}

function Figures(props: { namespace: string }) {
  const asked = useStatistics(() => props.namespace);
  return (
    <Loaded of={asked} name={t("insights.figures")} rows={1}>
      {(figures) => (
        <dl class="figures">
          <div><dt>{t("insights.live")}</dt><dd>{number(figures().live)}</dd></div>
          <Show when={figures().live}><div><dt>{t("insights.readShare")}</dt><dd>{percent((figures().live_read ?? 0) / figures().live)}</dd></div></Show>
          <div><dt>{t("insights.reads")}</dt><dd>{number(figures().reads)}</dd></div>
          <div><dt>{t("memory.reinforced")}</dt><dd>{number(figures().reinforcements)}</dd></div>
          <div><dt>{t("insights.cost")}</dt><dd>{dollars(figures().cost_usd ?? 0)}</dd></div>
          <Show when={figures().cost_per_memory_usd}>{(each) => <div><dt>{t("insights.costEach")}</dt><dd>{dollars(each())}</dd></div>}</Show>
        </dl>
      )}
    </Loaded>
  );
}

function OverTime(props: { namespace: string }) {
  const [search, setSearch] = useSearchParams<{ days?: string }>();
  const span = (): Span => SPANS.find((each) => String(each) === search.days) ?? USUAL;
  const choose = (days: string) => setSearch({ days: days === String(USUAL) ? undefined : days }, { replace: true });
  const asked = useQuery(() => ({
    queryKey: ["history", props.namespace, span()],
    queryFn: ({ signal }) => answered(api.GET("/v1/statistics/history", { params: { query: { namespace: props.namespace, days: span() } }, signal })),
    placeholderData: keepPreviousData, // so that the choice of days keeps the focus
  }));
  return (
    <Card title={t("insights.overTime")} asked={asked}>
      {(history) => (
        <>
          <label class="span"><span class="hidden">{t("insights.span")}</span>
            <select class="choice" value={span()} onChange={(event) => choose(event.currentTarget.value)}>
              <For each={SPANS}>{(each) => <option value={each} selected={each === span()}>{t("insights.days", { count: number(each) })}</option>}</For>
            </select>
          </label>
          <Show when={history().days.length} fallback={<Empty icon={<ChartColumn />} title={t("insights.nothing")} />}><Hits days={history().days} /><Days history={history()} /></Show>
        </>
      )}
    </Card>
  );
}

function Costly(props: { namespace: string }) {
  const asked = useQuery(() => ({
    queryKey: ["costs", props.namespace],
    queryFn: ({ signal }) => answered(api.GET("/v1/statistics/costs", { params: { query: { namespace: props.namespace, limit: LARGEST } }, signal })),
  }));
  const most = () => Math.max(...(loaded(asked)?.memories ?? []).map((each) => each.cost.cost_usd), 1e-12);
  return (
    <Card title={t("insights.costly")} asked={asked}>
      {(costs) => (
        <Show when={costs().memories.length} fallback={<p class="hint">{t("insights.noCosts")}</p>}>
          <ol class="bars">
            <For each={costs().memories}>
              {(each) => <Bar share={each.cost.cost_usd / most()} said={t("insights.costOf", { cost: dollars(each.cost.cost_usd), tokens: number(each.cost.tokens) })}><MemoryLink id={each.memory.memory_id}><span dir="auto">{each.memory.text}</span></MemoryLink></Bar>}
            </For>
          </ol>
        </Show>
      )}
    </Card>
  );
}

function Largest(props: { namespace: string }) {
  const asked = useQuery(() => ({
    queryKey: ["namespaces", "size"],
    queryFn: ({ signal }) => answered(api.GET("/v1/namespaces", { params: { query: { order: "size", limit: LARGEST } }, signal })),
  }));
  const most = () => Math.max(...(loaded(asked)?.namespaces ?? []).map((each) => each.live), 1);
  return (
    <Card title={t("insights.largest")} asked={asked}>
      {(sizes) => (
        <ol class="bars">
          <For each={sizes().namespaces}>
            {(each) => <Bar share={each.live / most()} said={t("list.count", { count: number(each.live) })}><Link href={`/insights?ns=${encodeURIComponent(each.namespace)}`} current={each.namespace === props.namespace}>{each.namespace}</Link></Bar>}
          </For>
        </ol>
      )}
    </Card>
  );
}

function Bar(props: { share: number; said: string; children: JSX.Element }) {
  return (
    <li>
      <span class="bar-text">{props.children}<span class="hint">{props.said}</span></span>
      <span class="meter" aria-hidden="true"><span style={{ width: `${props.share * 100}%` }} /></span>
    </li>
  );
}

export function Card<T>(props: { title: string; asked: Query<T>; children: (data: () => T) => JSX.Element }) {
  return (
    <section class="panel-card" aria-label={props.title}>
      <h2>{props.title}</h2>
      <Loaded of={props.asked} name={props.title} rows={2}>{props.children}</Loaded>
    </section>
  );
}
