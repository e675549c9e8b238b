/** Extraction requests that wait for long, by lane and reason. */
import { Show } from "solid-js";
import { number } from "../../i18n";
import { Ago } from "../../ui/Time";
import { Rows } from "../Table";
import { w, word } from "../words";
import type { Pipeline } from "./PipelineView";

export function Parked(props: { parked: Pipeline["parked"] }) {
  return (
    <section class="panel-card" aria-label={w("pipeline.parked")}>
      <h2>{w("pipeline.parked")}</h2>
      <p class="hint">{w("pipeline.parkedHint")}</p>
      <Show when={props.parked.length} fallback={<p>{w("pipeline.noParked")}</p>}>
        <Rows
          name={w("pipeline.parked")}
          rows={props.parked}
          columns={[
            { name: w("pipeline.reason"), of: (each) => word("parkedFor", each.reason) },
            { name: w("pipeline.lane"), of: (each) => word("lane", each.lane) },
            { name: w("pipeline.requests"), of: (each) => number(each.requests), numeric: true },
            { name: w("pipeline.batched"), of: (each) => number(each.batched), numeric: true },
            { name: w("pipeline.oldest"), of: (each) => <Ago at={each.oldest_at} /> },
          ]}
        />
      </Show>
    </section>
  );
}
