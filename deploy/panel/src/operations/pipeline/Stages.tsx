/** How far each stage is behind its topics. */
import { For, Show } from "solid-js";
import { number } from "../../i18n";
import { w, word } from "../words";
import type { Pipeline } from "./PipelineView";

export function Stages(props: { stages: Pipeline["stages"] }) {
  return (
    <section aria-label={w("pipeline.flow")}>
      <ol class="stages">
        <For each={props.stages}>
          {(stage) => (
            <li class="stage" classList={{ behind: stage.records > 0, stopped: !stage.running }}>
              <h2>{word("stage", stage.stage)}</h2>
              <p class="lag"><strong>{number(stage.records)}</strong> <span class="hint">{stage.records ? w("pipeline.behind") : w("pipeline.upToDate")}</span></p>
              <span class="state" classList={{ good: stage.running, bad: !stage.running }}>{stage.running ? w("pipeline.running") : w("pipeline.stopped")}</span>
              <Show when={stage.topics.some((topic) => topic.records)}>
                <ul class="hint"><For each={stage.topics.filter((topic) => topic.records)}>{(topic) => <li>{w("pipeline.topic", { topic: topic.topic, count: number(topic.records) })}</li>}</For></ul>
              </Show>
            </li>
          )}
        </For>
      </ol>
    </section>
  );
}
