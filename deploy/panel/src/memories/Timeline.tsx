/** A time line of what held when. It is a list that reads as sentences; its bars repeat them for the eye. */
import { useQuery } from "@tanstack/solid-query";
import { extent } from "d3-array";
import { scaleLinear } from "d3-scale";
import { createMemo, For, Show } from "solid-js";
import { day, named, t } from "../i18n";
import { Loaded } from "../ui/Loaded";
import { MemoryLink } from "../ui/MemoryLink";
import { now } from "../ui/Time";
import { KindIcon } from "./kinds";
import { lineage, type Period } from "./lineage";
import type { Memory } from "./MemoryRow";
import { readRelated } from "./RelatedMemories";

export function Timeline(props: { memory: Memory }) {
  const asked = useQuery(() => ({
    queryKey: ["related", props.memory.memory_id, "periods", props.memory.version],
    queryFn: async ({ signal }) => lineage(props.memory, (await readRelated(props.memory.memory_id, signal)).linked, signal),
  }));
  return (
    <Loaded of={asked} name={t("tabs.timeline")} rows={3}>{(periods) => <Periods of={periods()} memory={props.memory} />}</Loaded>
  );
}

function Periods(props: { of: Period[]; memory: Memory }) {
  const times = () => [now(), ...props.of.flatMap((each) => [each.from, each.until ?? now()])];
  const place = createMemo(() => {
    const [first, last] = extent(times()) as [number, number];
    return scaleLinear([first, Math.max(last, first + 1)], [0, 100]); // milliseconds to percent of the width
  });
  const last = () => place().domain()[1]!;
  return (
    <div class="timeline">
      <p class="hint">{t("timeline.hint")}</p>
      <ol>
        <For each={props.of}>
          {(each) => (
            <li class="period" classList={{ self: each.memory.memory_id === props.memory.memory_id, past: each.until !== undefined && each.until <= now() }}>
              <span class="period-head">
                <KindIcon kind={each.memory.kind} />
                <span class="row-body">
                  <Show when={each.memory.memory_id !== props.memory.memory_id} fallback={<strong dir="auto">{each.memory.text}</strong>}>
                    <MemoryLink id={each.memory.memory_id}><span dir="auto">{each.memory.text}</span></MemoryLink>
                  </Show>
                  <span class="facts">
                    <Show when={each.relation} fallback={<span class="badge">{t("timeline.this")}</span>}>{(relation) => <span class="badge">{t(`related.${relation()}`)}</span>}</Show>
                    <span>{heldWhen(each)}</span>
                    <span>{named("status", each.memory.status)}</span>
                  </span>
                </span>
              </span>
              <span class="track" aria-hidden="true">
                <span class="bar" classList={{ open: each.until === undefined }} style={{ left: `${place()(each.from)}%`, width: `${Math.max(place()(each.until ?? last()) - place()(each.from), 0)}%` }} />
                <span class="now" style={{ left: `${place()(now())}%` }} />
              </span>
            </li>
          )}
        </For>
      </ol>
      <p class="axis" aria-hidden="true"><span>{day(place().domain()[0]!)}</span><span>{day(last())}</span></p>
    </div>
  );
}

function heldWhen(period: Period): string {
  const from = day(period.from);
  if (period.until === undefined) return t("timeline.since", { from });
  return t("timeline.held", { from, until: day(period.until) });
}
