/** Consolidation: asking for a run or a dry run, what came of them, and when the next ones are due. */
import { useQueryClient } from "@tanstack/solid-query";
import { createSignal, For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { mayEverywhere } from "../../app/session";
import { dollars, number, weekday } from "../../i18n";
import { Moment } from "../../ui/Time";
import { act } from "../act";
import { Confirm } from "../../ui/Confirm";
import { Table } from "../Table";
import { w, word } from "../words";
import { Findings } from "./Findings";

type Run = Shape<"ConsolidationRunView">;
type Schedule = Shape<"ScheduleView">;

export function ConsolidationView() {
  const [previewed, setPreviewed] = createSignal<string>();
  return (
    <>
      <p class="hint">{w("work.consolidationHint")}</p>
      <Show when={mayEverywhere("admin")}><Asking began={(run) => run.dry_run && setPreviewed(run.run_id)} /></Show>
      <Show when={previewed()} keyed>{(id) => <Findings id={id} close={() => setPreviewed(undefined)} />}</Show>
      <Table<Run>
        name={w("work.runs")}
        id="run_id"
        read={async (signal, cursor) => {
          const page = await answered(api.GET("/v1/consolidation-runs", { params: { query: { limit: 50, cursor } }, signal }));
          return { rows: page.runs, next: page.next };
        }}
        columns={[
          { name: w("common.created"), of: (run) => <Moment at={run.created_at} /> },
          { name: w("common.scope"), of: (run) => run.scope },
          { name: w("common.by"), of: (run) => run.asked_by },
          { name: w("common.status"), of: (run) => <><span class="badge">{word("runStatus", run.status)}</span> {run.error}</> },
          { name: w("work.dryRun"), of: (run) => <Show when={run.dry_run}><button class="button small" onClick={() => setPreviewed(run.run_id)}>{w("work.preview")}</button></Show> },
          { name: w("work.progress"), of: (run) => `${number(run.processed ?? 0)} / ${number(run.conversations ?? 0)}`, numeric: true },
          { name: w("work.created"), of: (run) => number(run.created ?? 0), numeric: true },
          { name: w("work.reinforced"), of: (run) => number(run.reinforced ?? 0), numeric: true },
          { name: w("ruling.merged"), of: (run) => number(run.merged ?? 0), numeric: true },
          { name: w("work.superseded"), of: (run) => number(run.superseded ?? 0), numeric: true },
          { name: w("ruling.dropped"), of: (run) => number(run.dropped ?? 0), numeric: true },
          { name: w("work.failedRequests"), of: (run) => number(run.failed_requests ?? 0), numeric: true },
          { name: w("work.tokens"), of: (run) => number(run.tokens ?? 0), numeric: true },
          { name: w("work.cost"), of: (run) => dollars(run.cost_usd ?? 0), numeric: true },
        ]}
      />
      <Table<Schedule>
        name={w("work.schedules")}
        id="policy"
        read={async (signal) => ({ rows: (await answered(api.GET("/v1/consolidation-schedules", { signal }))).schedules })}
        columns={[
          { name: w("work.policy"), of: (each) => each.policy },
          { name: w("work.schedule"), of: (each) => timesOf(each) },
          { name: w("work.next"), of: (each) => <Moment at={each.next_due} /> },
          { name: w("work.last"), of: (each) => <Show when={each.last_run} fallback={w("work.neverRan")}>{(run) => <LastRun run={run()} />}</Show> },
        ]}
      />
    </>
  );
}

/** "03:00, Mon, Thu (Europe/Lisbon)": in the time zone of the schedule, as its policy has it. */
function timesOf({ schedule }: Schedule): string {
  const days = schedule.weekdays?.length ? schedule.weekdays.map(weekday).join(", ") : w("work.everyDay");
  return w("work.times", { at: schedule.at, days, zone: schedule.time_zone ?? "UTC" });
}

function LastRun(props: { run: Run }) {
  const done = () => ({
    created: number(props.run.created ?? 0), reinforced: number(props.run.reinforced ?? 0), merged: number(props.run.merged ?? 0),
    superseded: number(props.run.superseded ?? 0), dropped: number(props.run.dropped ?? 0), cost: dollars(props.run.cost_usd),
  });
  return (
    <>
      <span class="badge">{word("runStatus", props.run.status)}</span> <Moment at={props.run.due_at} />
      <p class="hint">{w("work.outcome", done())}</p>
      <Show when={props.run.failed_requests}>{(count) => <p class="hint">{w("work.requestsFailed", { count: number(count()) })}</p>}</Show>
      <Show when={props.run.error}><p class="hint" dir="auto">{props.run.error}</p></Show>
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
          <button class="button" disabled={!ready()} onClick={() => void run(true)}>{w("work.tryIt")}</button>
          <Confirm text={w("work.run")} title={w("work.runTitle")} hint={w("work.runHint")} primary large disabled={!ready()} act={() => void run(false)} />
        </div>
      </div>
    </section>
  );
}
