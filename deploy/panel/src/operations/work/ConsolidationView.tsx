/** Consolidation: asking for a run or a dry run, what came of them, and when the next ones are due. */
import { useQueryClient } from "@tanstack/solid-query";
import { createSignal, For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { mayEverywhere } from "../../app/session";
import { number } from "../../i18n";
import { Moment } from "../../ui/Time";
import { act } from "../act";
import { Confirm } from "../Confirm";
import { Table } from "../Table";
import { w, word } from "../words";
import { Findings } from "./Findings";

type Run = Shape<"ConsolidationRunView">;

export function ConsolidationView() {
  const [previewed, setPreviewed] = createSignal<string>();
  return (
    <>
      <p class="hint">{w("work.consolidationHint")}</p>
      <Show when={mayEverywhere("admin")}><Asking began={(run) => run.dry_run && setPreviewed(run.run_id)} /></Show>
      <Show when={previewed()} keyed>{(id) => <Findings id={id} close={() => setPreviewed(undefined)} />}</Show>
      <Table<Run>
        name={w("work.runs")}
        read={async (signal) => (await answered(api.GET("/v1/consolidation-runs", { params: { query: { limit: 50 } }, signal }))).runs}
        columns={[
          { name: w("common.created"), of: (run) => <Moment at={run.created_at} /> },
          { name: w("common.scope"), of: (run) => run.scope },
          { name: w("common.by"), of: (run) => run.asked_by },
          { name: w("common.status"), of: (run) => <><span class="badge">{word("runStatus", run.status)}</span> {run.error}</> },
          { name: w("work.dryRun"), of: (run) => <Show when={run.dry_run}><button class="button small" onClick={() => setPreviewed(run.run_id)}>{w("work.preview")}</button></Show> },
          { name: w("work.progress"), of: (run) => `${number(run.processed ?? 0)} / ${number(run.conversations ?? 0)}` },
          { name: w("work.created"), of: (run) => number(run.created ?? 0) },
          { name: w("work.reinforced"), of: (run) => number(run.reinforced ?? 0) },
          { name: w("work.superseded"), of: (run) => number(run.superseded ?? 0) },
          { name: w("work.tokens"), of: (run) => number(run.tokens ?? 0) },
          { name: w("work.cost"), of: (run) => number(run.cost_usd, 4) },
        ]}
      />
      <Table<Shape<"Scheduled">>
        name={w("work.schedules")}
        read={async (signal) => (await answered(api.GET("/v1/consolidation-schedules", { signal }))).schedules}
        columns={[
          { name: w("work.policy"), of: (each) => each.policy },
          { name: w("work.next"), of: (each) => <Moment at={each.next_due} /> },
        ]}
      />
    </>
  );
}

const OF = ["everything", "namespace", "policy", "conversation_id"] as const;

function Asking(props: { began: (run: Run) => void }) {
  const cache = useQueryClient();
  const [of, setOf] = createSignal<(typeof OF)[number]>("everything");
  const [named, setNamed] = createSignal("");
  const run = async (dryRun: boolean) => {
    const body = { dry_run: dryRun, ...(of() === "everything" ? {} : { [of()]: named().trim() }) };
    const made = await act(() => answered(api.POST("/v1/consolidation-runs", { body })), () => (dryRun ? w("work.dryRunBegan") : w("work.runBegan")));
    if (made) props.began(made);
    await cache.invalidateQueries({ queryKey: ["table"] });
  };
  const ready = () => of() === "everything" || !!named().trim();
  return (
    <section class="panel-card" aria-label={w("work.runNow")}>
      <h2>{w("work.runNow")}</h2>
      <div class="follow">
        <label class="field"><span>{w("common.scope")}</span>
          <select value={of()} onChange={(event) => setOf(event.currentTarget.value as (typeof OF)[number])}><For each={OF}>{(each) => <option value={each}>{word("scope", each)}</option>}</For></select>
        </label>
        <Show when={of() !== "everything"}><label class="field"><span>{word("scope", of())}</span><input maxlength="256" value={named()} onInput={(event) => setNamed(event.currentTarget.value)} /></label></Show>
        <div class="actions">
          <button class="button small" disabled={!ready()} onClick={() => void run(true)}>{w("work.tryIt")}</button>
          <Confirm text={w("work.run")} title={w("work.runTitle")} hint={w("work.runHint")} primary disabled={!ready()} act={() => void run(false)} />
        </div>
      </div>
    </section>
  );
}
