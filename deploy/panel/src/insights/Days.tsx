/** Days as bars: changes of memories, and tokens of model calls. A table says the same, with the cost. */
import { For, Show } from "solid-js";
import type { Shape } from "../api/client";
import { day, number, t } from "../i18n";

type History = Shape<"NamespaceHistory">;
type Day = Shape<"NamespaceDay">;
export const SPANS = [7, 30, 90] as const;
export type Span = (typeof SPANS)[number];
const CHANGES = ["created", "reinforced", "superseded"] as const;
const DAY_MS = 86_400_000;
const HEIGHT = 120;
const BAR = 10;

/** All days of the history, those without anything too. */
export function everyDay(history: History): Day[] {
  const known = new Map(history.days.map((each) => [each.day, each]));
  const first = Date.parse(history.since.slice(0, 10));
  const count = Math.floor((Date.parse(history.until) - first) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, at) => {
    const name = new Date(first + at * DAY_MS).toISOString().slice(0, 10);
    return known.get(name) ?? { day: name, changes: {}, calls: 0, tokens: 0, cost_usd: 0 };
  });
}

const changesOf = (each: Day) => each.changes ?? {};
/** A day in UTC is told as that day in every zone. */
const dayOf = (each: Day) => day(`${each.day}T00:00:00`);

export function Days(props: { history: History }) {
  const days = () => everyDay(props.history);
  return (
    <>
      <div class="charts">
        <Chart title={t("insights.changes")} days={days()} parts={CHANGES.map((change) => ({ name: t(`versions.${change}`), look: change, of: (each) => changesOf(each)[change] ?? 0 }))} />
        <Chart title={t("insights.tokens")} days={days()} parts={[{ name: t("insights.tokens"), look: "tokens", of: (each) => each.tokens ?? 0 }]} />
      </div>
      <details>
        <summary>{t("insights.asTable")}</summary>
        <div class="table-scroller" tabindex="0" role="region" aria-label={t("insights.asTable")}>
          <table>
            <thead><tr><th scope="col">{t("insights.day")}</th><For each={CHANGES}>{(change) => <th scope="col">{t(`versions.${change}`)}</th>}</For><th scope="col">{t("insights.calls")}</th><th scope="col">{t("insights.tokens")}</th><th scope="col">{t("insights.dollars")}</th></tr></thead>
            <tbody>
              <For each={props.history.days}>
                {(each) => <tr><th scope="row">{dayOf(each)}</th><For each={CHANGES}>{(change) => <td>{number(changesOf(each)[change] ?? 0)}</td>}</For><td>{number(each.calls ?? 0)}</td><td>{number(each.tokens ?? 0)}</td><td>{number(each.cost_usd ?? 0, 6)}</td></tr>}
              </For>
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}

type Part = { name: string; look: string; of: (each: Day) => number };

function Chart(props: { title: string; days: Day[]; parts: Part[] }) {
  const total = (each: Day) => props.parts.reduce((sum, part) => sum + part.of(each), 0);
  const most = () => Math.max(0, ...props.days.map(total));
  const sum = (part: Part) => props.days.reduce((all, each) => all + part.of(each), 0);
  const height = (value: number) => (value / (most() || 1)) * HEIGHT;
  const below = (each: Day, upTo: number) => props.parts.slice(0, upTo).reduce((all, part) => all + part.of(each), 0);
  const said = () => `${props.title}: ${props.parts.map((part) => `${part.name} ${number(sum(part))}`).join(", ")}`;
  return (
    <figure class="chart">
      <figcaption class="facts"><strong>{props.title}</strong><span>{t("insights.most", { count: number(most()) })}</span></figcaption>
      <svg role="img" aria-label={said()} viewBox={`0 0 ${props.days.length * BAR} ${HEIGHT}`} preserveAspectRatio="none">
        <For each={props.days}>
          {(each, at) => (
            <g>
              <For each={props.parts}>{(part, place) => <rect class={part.look} x={at() * BAR + 1} width={BAR - 2} y={HEIGHT - height(below(each, place() + 1))} height={height(part.of(each))} />}</For>
              <rect class="hit" x={at() * BAR} width={BAR} y="0" height={HEIGHT}><title>{`${dayOf(each)}: ${props.parts.map((part) => `${part.name} ${number(part.of(each))}`).join(", ")}`}</title></rect>
            </g>
          )}
        </For>
      </svg>
      <p class="axis" aria-hidden="true"><span>{dayOf(props.days[0]!)}</span><span>{dayOf(props.days.at(-1)!)}</span></p>
      <Show when={props.parts.length > 1}>
        <ul class="legend"><For each={props.parts}>{(part) => <li><i class={`dot ${part.look}`} aria-hidden="true" />{part.name} {number(sum(part))}</li>}</For></ul>
      </Show>
    </figure>
  );
}
