/** How a memory is linked, as a small graph: what it came after on the left, what came after it on the right. The list below
 * it says the same, so it is hidden from screen readers and the keyboard. */
import { link, curveBumpX } from "d3-shape";
import { For, Show } from "solid-js";
import type { Shape } from "../api/client";
import { number, t } from "../i18n";
import { KindIcon } from "./kinds";
import type { Relation } from "./lineage";
import type { Memory } from "./MemoryRow";

type Linked = Shape<"Linked">;
const LEFT: Relation[] = ["supersedes", "refines"];
const RIGHT: Relation[] = ["superseded_by", "refined_by", "relates"];
const MOST = 4; // on each side
const ROW = 64; // pixels
const GAP = 10;

export function Graph(props: { memory: Memory; linked: Linked[] }) {
  const side = (relations: Relation[]) => props.linked.filter((each) => relations.includes(each.relation));
  const rows = () => Math.max(1, Math.min(MOST, Math.max(side(LEFT).length, side(RIGHT).length)));
  const height = () => rows() * (ROW + GAP) - GAP;
  return (
    <div class="graph" aria-hidden="true" style={{ "--height": `${height()}px`, "--columns": String([side(LEFT), side(RIGHT)].filter((each) => each.length).length) }}>
      <Side nodes={side(LEFT)} height={height()} />
      <div class="graph-column"><div class="node self"><KindIcon kind={props.memory.kind} /><span dir="auto">{props.memory.text}</span></div></div>
      <Side nodes={side(RIGHT)} height={height()} right />
    </div>
  );
}

function Side(props: { nodes: Linked[]; height: number; right?: boolean }) {
  const shown = () => props.nodes.slice(0, MOST);
  const top = () => (props.height - (shown().length * (ROW + GAP) - GAP)) / 2;
  const middle = (at: number) => top() + at * (ROW + GAP) + ROW / 2;
  const edge = (at: number) => link(curveBumpX)({ source: [props.right ? 100 : 0, middle(at)], target: [props.right ? 0 : 100, props.height / 2] })!;
  const edges = (
    <svg class="edges" viewBox={`0 0 100 ${props.height}`} preserveAspectRatio="none" style={{ height: `${props.height}px` }}>
      <For each={shown()}>
        {(each, at) => <path class={each.relation} d={edge(at())} />}
      </For>
    </svg>
  );
  const nodes = (
    <div class="graph-column">
      <For each={shown()}>
        {(each) => <div class="node"><KindIcon kind={each.memory.kind} /><span><small>{t(`related.${each.relation}`)}</small><span dir="auto">{each.memory.text}</span></span></div>}
      </For>
      <Show when={props.nodes.length > MOST}><small class="more">+ {number(props.nodes.length - MOST)}</small></Show>
    </div>
  );
  return <Show when={props.nodes.length}>{props.right ? <>{edges}{nodes}</> : <>{nodes}{edges}</>}</Show>;
}
