/** The pipeline at a glance: how far each stage is, and what holds work up. */
import { A, useSearchParams } from "@solidjs/router";
import { useQuery } from "@tanstack/solid-query";
import TriangleAlert from "lucide-solid/icons/triangle-alert";
import { For, Show, type JSX } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { named, number } from "../../i18n";
import { Loaded } from "../../ui/Loaded";
import { Ago } from "../../ui/Time";
import { w, word } from "../words";
import { Parked } from "./Parked";
import { Providers } from "./Providers";
import { Stages } from "./Stages";

const AGAIN_MS = 4_000;

export type Pipeline = Shape<"Pipeline">;

export function PipelineView() {
  const asked = useQuery(() => ({
    queryKey: ["pipeline"],
    queryFn: ({ signal }) => answered(api.GET("/v1/pipeline", { signal })),
    refetchInterval: AGAIN_MS,
    reconcile: "stage",
  }));
  return (
    <Loaded of={asked} name={w("section.pipeline")}>{(pipeline) => <Shown pipeline={pipeline()} />}</Loaded>
  );
}

function Shown(props: { pipeline: Pipeline }) {
  const [search] = useSearchParams<{ ns?: string }>();
  return (
    <>
      <div class="page-head"><p class="hint grow">{w("pipeline.hint")}</p><A class="button small" href={`/follow${search.ns ? `?ns=${encodeURIComponent(search.ns)}` : ""}`}>{w("trail.title")}</A></div>
      <Missing parts={props.pipeline.missing} />
      <Figures pipeline={props.pipeline} />
      <Show when={!("stages" in props.pipeline.missing)}><Stages stages={props.pipeline.stages} /></Show>
      <div class="columns">
        <Show when={!("providers" in props.pipeline.missing)}><Providers providers={props.pipeline.providers} /></Show>
        <Show when={!("budget" in props.pipeline.missing)}><Budget limits={props.pipeline.budget} /></Show>
      </div>
      <Show when={!("parked" in props.pipeline.missing)}><Parked parked={props.pipeline.parked} /></Show>
    </>
  );
}

/** What the server could not find out is said, and the rest is shown. */
function Missing(props: { parts: Record<string, string> }) {
  return (
    <Show when={Object.keys(props.parts).length}>
      <div class="notice with-icon" role="status">
        <TriangleAlert aria-hidden="true" />
        <div>
          <strong>{w("pipeline.degraded")}</strong>
          <ul><For each={Object.entries(props.parts)}>{([part, why]) => <li>{w("pipeline.missing", { part: word("part", part), why })}</li>}</For></ul>
        </div>
      </div>
    </Show>
  );
}

function Figures(props: { pipeline: Pipeline }) {
  const [search] = useSearchParams<{ ns?: string }>();
  const letters = () => "/operations/letters" + (search.ns ? `?ns=${encodeURIComponent(search.ns)}` : "");
  const parked = () => props.pipeline.parked.reduce((sum, each) => sum + each.requests, 0);
  const known = (part: string, value: number | null | undefined) => (part in props.pipeline.missing || value == null ? "–" : number(value));
  return (
    <dl class="figures">
      <Figure name={w("pipeline.calls")}>{known("under_way", props.pipeline.under_way?.calls)}</Figure>
      <Figure name={w("pipeline.parked")}>{known("parked", parked())}</Figure>
      <Figure name={w("pipeline.outbox")}>
        {known("under_way", props.pipeline.under_way?.outbox)}
        <Show when={props.pipeline.under_way?.outbox_since}>{(since) => <span class="hint"> <Ago at={since()} /></span>}</Show>
      </Figure>
      <Figure name={w("pipeline.letters")} bad={!!props.pipeline.dead_letters}><A href={letters()}>{known("dead_letters", props.pipeline.dead_letters)}</A></Figure>
    </dl>
  );
}

function Figure(props: { name: string; bad?: boolean; children: JSX.Element }) {
  return <div classList={{ bad: props.bad }}><dt>{props.name}</dt><dd>{props.children}</dd></div>;
}

function Budget(props: { limits: Pipeline["budget"] }) {
  return (
    <section class="panel-card" aria-label={w("pipeline.budget")}>
      <h2>{w("pipeline.budget")}</h2>
      <Show when={props.limits.length} fallback={<p class="hint">{w("pipeline.noBudget")}</p>}>
        <ul class="lines">
          <For each={props.limits}>
            {(each) => (
              <li class="budget">
                <strong class="grow">{named("limit", each.limit)}</strong>
                <span class="meter wide" aria-hidden="true"><span style={{ width: `${Math.max(0, Math.min(1, each.remains / (each.of || 1))) * 100}%` }} /></span>
                <span class="hint">{w("pipeline.budgetOf", { remains: number(Math.max(0, each.remains), 2), of: number(each.of, 2) })}</span>
                <Show when={each.reserved}><span class="hint">{w("pipeline.reserved", { reserved: number(each.reserved, 2) })}</span></Show>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </section>
  );
}
