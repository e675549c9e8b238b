/** Consolidation, retention, replays and policies as they stand. */
import { answered, api, type Shape } from "../../api/client";
import { number } from "../../i18n";
import { Moment } from "../../ui/Time";
import { Table } from "../Table";
import { w, word } from "../words";

const status = (name: string) => <span class="badge">{word("runStatus", name)}</span>;

export function WorkView() {
  return (
    <>
      <Table<Shape<"ConsolidationRunView">>
        name={w("work.runs")}
        read={async (signal) => (await answered(api.GET("/v1/consolidation-runs", { params: { query: { limit: 50 } }, signal }))).runs}
        columns={[
          { name: w("common.created"), of: (run) => <Moment at={run.created_at} /> },
          { name: w("common.scope"), of: (run) => run.scope },
          { name: w("common.by"), of: (run) => run.asked_by },
          { name: w("common.status"), of: (run) => <>{status(run.status)} {run.dry_run ? w("work.dryRun") : ""} {run.error}</> },
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
      <Table<Shape<"Sweep">>
        name={w("work.sweeps")}
        read={async (signal) => (await answered(api.GET("/v1/retention-sweeps", { params: { query: { limit: 20 } }, signal }))).sweeps}
        columns={[
          { name: w("common.created"), of: (sweep) => <Moment at={sweep.created_at} /> },
          { name: w("common.by"), of: (sweep) => sweep.asked_by },
          { name: w("common.status"), of: (sweep) => <>{status(sweep.status)} {sweep.dry_run ? w("work.dryRun") : ""}</> },
          { name: w("work.policies"), of: (sweep) => (sweep.policies ?? []).map((each) => each.policy).join(", ") },
        ]}
      />
      <Table<Shape<"GenerationView">>
        name={w("work.generations")}
        read={async (signal) => (await answered(api.GET("/v1/generations", { signal }))).generations}
        columns={[
          { name: w("work.id"), of: (each) => <code class="mono">{each.generation_id}</code> },
          { name: w("common.created"), of: (each) => <Moment at={each.created_at} /> },
          { name: w("common.status"), of: (each) => <>{status(each.status)} {each.failure}</> },
          { name: w("work.namespaces"), of: (each) => each.namespaces },
          { name: w("work.progress"), of: (each) => `${number(each.done)} / ${number(each.conversations)}` },
        ]}
      />
      <Table<Shape<"AppliedPolicy">>
        name={w("work.policies")}
        read={async (signal) => (await answered(api.GET("/v1/policies", { signal }))).policies}
        columns={[
          { name: w("work.policy"), of: (each) => each.policy.name },
          { name: w("work.origin"), of: (each) => word("origin", each.origin) },
          { name: w("work.version"), of: (each) => number(each.policy.version ?? 0) },
          { name: w("work.whole"), of: (each) => <details><summary>{w("common.show")}</summary><pre class="prompt" tabindex="0">{JSON.stringify(each.policy, null, 2)}</pre></details> },
        ]}
      />
    </>
  );
}
