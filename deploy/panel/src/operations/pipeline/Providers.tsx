/** The providers of models and their circuit breakers, as workers find them. */
import { For, Show } from "solid-js";
import { number } from "../../i18n";
import { Ago } from "../../ui/Time";
import { w, word } from "../words";
import type { Pipeline } from "./PipelineView";

type Provider = Pipeline["providers"][number];

const state = (provider: Provider) => (provider.breaker && provider.breaker !== "closed" ? provider.breaker : provider.available ? "available" : "unavailable");

export function Providers(props: { providers: Provider[] }) {
  return (
    <section class="panel-card" aria-label={w("pipeline.providers")}>
      <h2>{w("pipeline.providers")}</h2>
      <p class="hint">{w("pipeline.providersHint")}</p>
      <Show when={props.providers.length} fallback={<p>{w("pipeline.noProviders")}</p>}>
        <ul class="lines">
          <For each={props.providers}>
            {(each) => (
              <li>
                <strong class="grow">{each.provider}</strong>
                <span class="state" classList={{ good: state(each) === "available", bad: state(each) === "open" || state(each) === "unavailable" }}>{word("breaker", state(each))}</span>
                <span class="hint">{w("pipeline.workers", { count: number(each.workers) })}, <Ago at={each.at} /></span>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </section>
  );
}
