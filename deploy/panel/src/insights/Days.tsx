/** Days as bars: changes of memories, tokens and cost of model calls, contexts, searches. A table has the same, and the rates of each day. */
import { range } from "d3-array";
import { For } from "solid-js";
import type { Shape } from "../api/client";
import { dollars, number, t } from "../i18n";
import { Chart, dayOf, type Day, type Part } from "./Chart";
import { rateOf, RATES } from "./Hits";

type History = Shape<"NamespaceHistory">;
export const SPANS = [7, 30, 90] as const;
export type Span = (typeof SPANS)[number];
const CHANGES = ["created", "reinforced", "superseded"] as const;
const DAY_MS = 86_400_000;

/** All days of the history, those without anything too. */
export function everyDay(history: History): Day[] {
  const known = new Map(history.days.map((each) => [each.day, each]));
  return range(Date.parse(history.since.slice(0, 10)), Date.parse(history.until) + 1, DAY_MS).map((time) => {
    const name = new Date(time).toISOString().slice(0, 10);
    return known.get(name) ?? { day: name, changes: {}, calls: 0, tokens: 0, cost_usd: 0 };
  });
}

const changesOf = (each: Day) => each.changes ?? {};

/** Those that had something, below those that had nothing. */
const parts = (hit: string, miss: string, part: "contexts_with_memories" | "searches_found", all: "contexts" | "searches"): Part[] => [
  { name: hit, look: "reinforced", of: (each) => each[part] ?? 0 },
  { name: miss, look: "missed", of: (each) => (each[all] ?? 0) - (each[part] ?? 0) },
];

export function Days(props: { history: History }) {
  const days = () => everyDay(props.history);
  return (
    <>
      <div class="charts">
        <Chart title={t("insights.changes")} days={days()} parts={CHANGES.map((change) => ({ name: t(`versions.${change}`), look: change, of: (each) => changesOf(each)[change] ?? 0 }))} />
        <Chart title={t("insights.tokens")} days={days()} parts={[{ name: t("insights.tokens"), look: "tokens", of: (each) => each.tokens ?? 0 }]} />
        <Chart title={t("insights.dollars")} money days={days()} parts={[{ name: t("insights.dollars"), look: "tokens", of: (each) => each.cost_usd ?? 0 }]} />
        <Chart title={t("insights.contexts")} days={days()} parts={parts(t("insights.with"), t("insights.without"), "contexts_with_memories", "contexts")} />
        <Chart title={t("insights.searches")} days={days()} parts={parts(t("insights.found"), t("insights.missed"), "searches_found", "searches")} />
      </div>
      <details>
        <summary>{t("insights.asTable")}</summary>
        <div class="table-scroller" tabindex="0" role="region" aria-label={t("insights.asTable")}>
          <table>
            <thead><tr><th scope="col">{t("insights.day")}</th><For each={CHANGES}>{(change) => <th scope="col" class="number">{t(`versions.${change}`)}</th>}</For><th scope="col" class="number">{t("insights.calls")}</th><th scope="col" class="number">{t("insights.tokens")}</th><th scope="col" class="number">{t("insights.dollars")}</th><For each={RATES}>{(rate) => <th scope="col" class="number">{t(`insights.${rate.name}`)}</th>}</For></tr></thead>
            <tbody>
              <For each={props.history.days}>
                {(each) => <tr><th scope="row">{dayOf(each)}</th><For each={CHANGES}>{(change) => <td class="number">{number(changesOf(each)[change] ?? 0)}</td>}</For><td class="number">{number(each.calls ?? 0)}</td><td class="number">{number(each.tokens ?? 0)}</td><td class="number">{dollars(each.cost_usd ?? 0)}</td><For each={RATES}>{(rate) => <td class="number">{rateOf(each, rate)}</td>}</For></tr>}
              </For>
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}
