/** One chart of days: stacked bars with nice ticks on both axes. Its label and its bars' titles say the same in words. */
import { max, sum, tickStep } from "d3-array";
import { scaleBand, scaleLinear, scaleUtc } from "d3-scale";
import { stack } from "d3-shape";
import { createMemo, For, Show } from "solid-js";
import type { Shape } from "../api/client";
import { compact, day, dayOfMonth, dollars, dollarsOnAxis, number, t } from "../i18n";

export type Day = Shape<"NamespaceDay">;
export type Part = { name: string; look: string; of: (each: Day) => number };

const HEIGHT = 130; // pixels
const WIDTH = 1000; // units that are stretched to the width of the chart
const MOST_TICKS = { value: 4, day: 4 };
const LEAST_TOP = { count: 2, money: 0.0001 }; // the top of an axis where there is nothing, or next to nothing

/** A day in UTC is told as that day in every zone. */
export const dayOf = (each: Day) => day(`${each.day}T00:00:00`);

export function Chart(props: { title: string; days: Day[]; parts: Part[]; money?: boolean }) {
  const told = (value: number) => (props.money ? dollars(value) : number(value));
  const layers = createMemo(() => stack<Day, string>().keys(props.parts.map((part) => part.name)).value((each, name) => props.parts.find((part) => part.name === name)!.of(each))(props.days));
  const most = () => max(layers().at(-1)!, (point) => point[1]) ?? 0;
  const x = createMemo(() => scaleBand().domain(props.days.map((each) => each.day)).range([0, WIDTH]).paddingInner(0.2).paddingOuter(0.1));
  const y = createMemo(() => scaleLinear().domain([0, Math.max(most(), props.money ? LEAST_TOP.money : LEAST_TOP.count)]).nice(MOST_TICKS.value).range([HEIGHT, 0]));
  const ticks = () => y().ticks(MOST_TICKS.value).filter((value) => props.money || Number.isInteger(value));
  const named = (value: number) => (props.money ? dollarsOnAxis(value, tickStep(0, y().domain()[1]!, MOST_TICKS.value)) : compact(value));
  const middle = (name: string) => (x()(name)! + x().bandwidth() / 2) / WIDTH;
  const dayTicks = () => ticksOf(props.days).map((each) => ({ day: each, at: middle(each) }));
  const of = (part: Part) => sum(props.days, part.of);
  const said = () => `${props.title}: ${props.parts.map((part) => `${part.name} ${told(of(part))}`).join(", ")}`;
  return (
    <figure class="chart">
      <figcaption class="facts"><strong>{props.title}</strong><span>{t("insights.most", { count: told(most()) })}</span></figcaption>
      <div class="plot">
        <p class="scale" aria-hidden="true"><For each={ticks()}>{(value) => <span style={{ translate: `0 ${y()(value)}px` }}>{named(value)}</span>}</For></p>
        <div class="plot-area">
          <svg role="img" aria-label={said()} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
            <For each={ticks()}>{(value) => <line class="grid" classList={{ zero: !value }} x1="0" x2={WIDTH} y1={y()(value)} y2={y()(value)} />}</For>
            <For each={props.days}>
              {(each, at) => (
                <g>
                  <For each={layers()}>{(layer) => <rect class={props.parts[layer.index]!.look} x={x()(each.day)} width={x().bandwidth()} y={y()(layer[at()]![1])} height={y()(layer[at()]![0]) - y()(layer[at()]![1])} />}</For>
                  <rect class="hit" x={at() * x().step()} width={x().step()} y="0" height={HEIGHT}><title>{`${dayOf(each)}: ${props.parts.map((part) => `${part.name} ${told(part.of(each))}`).join(", ")}`}</title></rect>
                </g>
              )}
            </For>
          </svg>
          <p class="days" aria-hidden="true">
            <For each={dayTicks()}>{(tick) => <span style={{ left: `${tick.at * 100}%` }}>{dayOfMonth(`${tick.day}T00:00:00`)}</span>}</For>
          </p>
        </div>
      </div>
      <Show when={props.parts.length > 1}>
        <ul class="legend"><For each={props.parts}>{(part) => <li><i class={`dot ${part.look}`} aria-hidden="true" />{part.name} {told(of(part))}</li>}</For></ul>
      </Show>
    </figure>
  );
}

/** The days that the axis names: beginnings of weeks or months, or every few days, as the span has it. */
function ticksOf(days: Day[]): string[] {
  const [first, last] = [days[0]!.day, days.at(-1)!.day].map((each) => new Date(each));
  return scaleUtc().domain([first!, last!]).ticks(MOST_TICKS.day).map((each) => each.toISOString().slice(0, 10));
}
