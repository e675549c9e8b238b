/** Extraction requests that wait for long, by lane and reason. */
import { For, Show } from "solid-js";
import { number } from "../../i18n";
import { Ago } from "../../ui/Time";
import { w, word } from "../words";
import type { Pipeline } from "./PipelineView";

export function Parked(props: { parked: Pipeline["parked"] }) {
  return (
    <section class="panel-card" aria-label={w("pipeline.parked")}>
      <h2>{w("pipeline.parked")}</h2>
      <p class="hint">{w("pipeline.parkedHint")}</p>
      <Show when={props.parked.length} fallback={<p>{w("pipeline.noParked")}</p>}>
        <div class="table-scroller" tabindex="0" role="region" aria-label={w("pipeline.parked")}>
          <table>
            <thead>
              <tr><For each={["reason", "lane", "requests", "batched", "oldest"] as const}>{(name) => <th scope="col">{w(`pipeline.${name}`)}</th>}</For></tr>
            </thead>
            <tbody>
              <For each={props.parked}>
                {(each) => (
                  <tr>
                    <td>{each.reason}</td><td>{word("lane", each.lane)}</td><td>{number(each.requests)}</td><td>{number(each.batched)}</td><td><Ago at={each.oldest_at} /></td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      </Show>
    </section>
  );
}
