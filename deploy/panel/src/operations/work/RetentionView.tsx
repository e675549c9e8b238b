/** Retention of the archive: what would leave, what left, and what each policy keeps. */
import { useQueryClient } from "@tanstack/solid-query";
import { For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { mayEverywhere } from "../../app/session";
import { number } from "../../i18n";
import { Moment } from "../../ui/Time";
import { act } from "../act";
import { Confirm } from "../../ui/Confirm";
import { Table } from "../Table";
import { w, word } from "../words";

type Sweep = Shape<"Sweep">;

export function RetentionView() {
  const cache = useQueryClient();
  const sweep = async (dryRun: boolean) => {
    await act(() => answered(api.POST("/v1/retention-sweeps", { body: { dry_run: dryRun } })), () => (dryRun ? w("work.countBegan") : w("work.sweepBegan")));
    await cache.invalidateQueries({ queryKey: ["table"] });
  };
  return (
    <>
      <p class="hint">{w("work.retentionHint")}</p>
      <Show when={mayEverywhere("admin")}>
        <div class="actions">
          <button class="button" onClick={() => void sweep(true)}>{w("work.count")}</button>
          <Confirm text={w("work.sweep")} title={w("work.sweepTitle")} hint={w("work.sweepHint")} danger large act={() => void sweep(false)} />
        </div>
      </Show>
      <Table<Sweep>
        name={w("work.sweeps")}
        id="sweep_id"
        read={async (signal, cursor) => {
          const page = await answered(api.GET("/v1/retention-sweeps", { params: { query: { limit: 20, cursor } }, signal }));
          return { rows: page.sweeps, next: page.next };
        }}
        columns={[
          { name: w("common.created"), of: (each) => <Moment at={each.created_at} /> },
          { name: w("common.by"), of: (each) => each.asked_by },
          { name: w("common.status"), of: (each) => <><span class="badge">{word("runStatus", each.status)}</span> {each.dry_run ? w("work.onlyCounted") : ""}</> },
          { name: w("work.policies"), of: (each) => <><Policies sweep={each} /><Records sweep={each} /></> },
        ]}
      />
    </>
  );
}

function Policies(props: { sweep: Sweep }) {
  const left = (each: Shape<"RetentionStatistics">) => ({ policy: each.policy, days: number(each.days), kept: number(each.messages ?? 0), count: number(each.pruned ?? 0), held: number(each.held ?? 0) });
  return <ul><For each={props.sweep.policies ?? []}>{(each) => <li>{props.sweep.dry_run ? w("work.wouldLeave", left(each)) : w("work.didLeave", left(each))}</li>}</For></ul>;
}

/** Beside messages: records of model calls and of prunings. */
function Records(props: { sweep: Sweep }) {
  const records = () => ({ usage: number(props.sweep.usage ?? 0), prunings: number(props.sweep.prunings ?? 0) });
  return <Show when={props.sweep.status === "completed"}><p class="hint">{props.sweep.dry_run ? w("work.recordsWouldLeave", records()) : w("work.recordsDidLeave", records())}</p></Show>;
}
