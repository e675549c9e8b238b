/** What operators look after: consolidation, retention, replays, policies. To be seen with a key that may read all namespaces. */
import { answered, api, type Shape } from "../api/client";
import { named, number, t } from "../i18n";
import { Moment } from "../ui/Time";
import { Table } from "./Table";

const status = (name: string) => <span class="badge">{named("runStatus", name)}</span>;

export function OperationsPage() {
  return (
    <div class="page">
      <h1>{t("nav.operations")}</h1>
      <Table<Shape<"ConsolidationRunView">>
        name={t("operations.runs")}
        read={async (signal) => (await answered(api.GET("/v1/consolidation-runs", { params: { query: { limit: 50 } }, signal }))).runs}
        columns={[
          { name: t("operations.created"), of: (run) => <Moment at={run.created_at} /> },
          { name: t("operations.scope"), of: (run) => run.scope },
          { name: t("operations.by"), of: (run) => run.asked_by },
          { name: t("operations.status"), of: (run) => <>{status(run.status)} {run.dry_run ? t("operations.dryRun") : ""} {run.error}</> },
          { name: t("operations.progress"), of: (run) => `${number(run.processed ?? 0)} / ${number(run.conversations ?? 0)}` },
          { name: t("versions.created"), of: (run) => number(run.created ?? 0) },
          { name: t("versions.reinforced"), of: (run) => number(run.reinforced ?? 0) },
          { name: t("versions.superseded"), of: (run) => number(run.superseded ?? 0) },
          { name: t("operations.tokens"), of: (run) => number(run.tokens ?? 0) },
          { name: t("operations.cost"), of: (run) => number(run.cost_usd, 4) },
        ]}
      />
      <Table<Shape<"Scheduled">>
        name={t("operations.schedules")}
        read={async (signal) => (await answered(api.GET("/v1/consolidation-schedules", { signal }))).schedules}
        columns={[
          { name: t("conversation.policy"), of: (each) => each.policy },
          { name: t("operations.next"), of: (each) => <Moment at={each.next_due} /> },
        ]}
      />
      <Table<Shape<"Sweep">>
        name={t("operations.sweeps")}
        read={async (signal) => (await answered(api.GET("/v1/retention-sweeps", { params: { query: { limit: 20 } }, signal }))).sweeps}
        columns={[
          { name: t("operations.created"), of: (sweep) => <Moment at={sweep.created_at} /> },
          { name: t("operations.by"), of: (sweep) => sweep.asked_by },
          { name: t("operations.status"), of: (sweep) => <>{status(sweep.status)} {sweep.dry_run ? t("operations.dryRun") : ""}</> },
          { name: t("operations.policies"), of: (sweep) => (sweep.policies ?? []).map((each) => each.policy).join(", ") },
        ]}
      />
      <Table<Shape<"GenerationView">>
        name={t("operations.generations")}
        read={async (signal) => (await answered(api.GET("/v1/generations", { signal }))).generations}
        columns={[
          { name: t("operations.id"), of: (each) => <code class="mono">{each.generation_id}</code> },
          { name: t("operations.created"), of: (each) => <Moment at={each.created_at} /> },
          { name: t("operations.status"), of: (each) => <>{status(each.status)} {each.failure}</> },
          { name: t("nav.namespace"), of: (each) => each.namespaces },
          { name: t("operations.progress"), of: (each) => `${number(each.done)} / ${number(each.conversations)}` },
        ]}
      />
      <Table<Shape<"AppliedPolicy">>
        name={t("operations.policies")}
        read={async (signal) => (await answered(api.GET("/v1/policies", { signal }))).policies}
        columns={[
          { name: t("conversation.policy"), of: (each) => each.policy.name },
          { name: t("operations.origin"), of: (each) => t(`origin.${each.origin}`) },
          { name: t("memory.version"), of: (each) => number(each.policy.version ?? 0) },
          { name: t("operations.whole"), of: (each) => <details><summary>{t("block.show")}</summary><pre class="prompt" tabindex="0">{JSON.stringify(each.policy, null, 2)}</pre></details> },
        ]}
      />
    </div>
  );
}
