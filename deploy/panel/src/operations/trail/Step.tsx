/** One step of a message on its way. */
import { For, Show } from "solid-js";
import type { Shape } from "../../api/client";
import { dollars, elapsed, named, number } from "../../i18n";
import { MemoryLink } from "../../ui/MemoryLink";
import { Moment } from "../../ui/Time";
import { w, word } from "../words";

type TrailStep = Shape<"TrailStep">;
const BAD = ["put_aside", "failed"];

export function Step(props: { step: TrailStep; began?: string | null }) {
  const step = () => props.step;
  return (
    <li class="version" classList={{ failed: BAD.includes(step().kind), waiting: step().kind === "parked" || step().kind === "asked" }}>
      <p class="facts">
        <strong>{step().kind === "changed" ? named("versions", step().change ?? "") : word("step", step().kind)}</strong>
        <Show when={step().at} fallback={<span>{w("trail.noTime")}</span>}>{(at) => <><Moment at={at()} /><Show when={props.began}>{(began) => <span class="offset">+{elapsed(began(), at())}</span>}</Show></>}</Show>
        <Show when={step().later}><span class="badge">{w("trail.later")}</span></Show>
      </p>
      <Show when={step().text}>{(text) => <MemoryLink id={step().memory_id ?? ""}><span dir="auto">{text()}</span></MemoryLink>}</Show>
      <Facts step={step()} />
      <Show when={step().rulings?.length}>
        <ul class="hint rulings">
          <For each={step().rulings}>{(ruling) => <li><span class="badge">{word("ruling", ruling.result)}</span> <span dir="auto">{ruling.reason}</span></li>}</For>
        </ul>
      </Show>
    </li>
  );
}

function Facts(props: { step: TrailStep }) {
  const facts = (): [string, string][] => {
    const { step } = props;
    const found: [string, string | number | null | undefined][] = [
      [w("trail.place"), step.topic ? `${step.topic}[${step.partition}]@${step.offset}` : undefined],
      [w("trail.trace"), step.trace_id],
      [w("letters.place"), step.letter],
      [w("letters.stage"), step.stage ? word("stage", step.stage) : undefined],
      [w("letters.reason"), step.reason],
      [w("pipeline.lane"), step.lane ? word("lane", step.lane) : undefined],
      [w("work.policy"), step.policy],
      [w("work.namespaces"), step.namespaces?.join(", ") || step.namespace],
      [w("trail.pieces"), step.pieces],
      [w("trail.model"), step.model ? `${step.provider} / ${step.model}` : step.provider],
      [w("trail.proposals"), step.proposals],
      [w("work.tokens"), step.tokens == null ? undefined : number(step.tokens)],
      [w("work.cost"), step.cost_usd == null ? undefined : dollars(step.cost_usd)],
      [w("trail.sequence"), step.sequence],
      [w("trail.event"), step.published == null ? undefined : step.published ? w("trail.published") : w("trail.notPublished")],
      [w("trail.request"), step.request_id],
    ];
    return found.filter((each): each is [string, string] => each[1] != null && each[1] !== "").map(([name, value]) => [name, String(value)]);
  };
  return (
    <Show when={facts().length}>
      <dl class="step-facts"><For each={facts()}>{([name, value]) => <div><dt>{name}</dt><dd>{value}</dd></div>}</For></dl>
    </Show>
  );
}
