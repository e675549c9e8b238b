/** What a dry run found: what a run would make of what waits. */
import { useQuery } from "@tanstack/solid-query";
import { For, Match, Show, Switch } from "solid-js";
import { answered, api } from "../../api/client";
import { number } from "../../i18n";
import { kindName } from "../../memories/kinds";
import { Failed, Loading } from "../../ui/states";
import { w, word } from "../words";

const AGAIN_MS = 2_000;

export function Findings(props: { id: string; close: () => void }) {
  const params = () => ({ path: { run_id: props.id } });
  const asked = useQuery(() => ({
    queryKey: ["findings", props.id],
    queryFn: async ({ signal }) => {
      const run = await answered(api.GET("/v1/consolidation-runs/{run_id}", { params: params(), signal }));
      const page = await answered(api.GET("/v1/consolidation-runs/{run_id}/findings", { params: { ...params(), query: { limit: 200 } }, signal }));
      return { run, findings: page.findings, more: !!page.next };
    },
    refetchInterval: (query) => (query.state.data && ["completed", "failed"].includes(query.state.data.run.status) ? false : AGAIN_MS),
  }));
  return (
    <section class="panel-card" aria-label={w("work.preview")}>
      <div class="page-head"><h2>{w("work.preview")}</h2><Show when={asked.data}>{(found) => <span class="badge">{word("runStatus", found().run.status)}</span>}</Show><button class="button small quiet" onClick={props.close}>{w("common.close")}</button></div>
      <p class="hint">{w("work.previewHint")}</p>
      <Switch>
        <Match when={asked.isPending}><Loading rows={2} /></Match>
        <Match when={asked.isError && !asked.data}><Failed error={asked.error} again={() => void asked.refetch()} /></Match>
        <Match when={asked.data && !asked.data.findings.length}><p>{asked.data!.run.status === "completed" ? w("work.nothingFound") : w("work.stillRunning")}</p></Match>
        <Match when={asked.data}>
          {(found) => (
            <ul class="findings">
              <For each={found().findings}>
                {(finding) => (
                  <li>
                    <span class="badge">{word("ruling", finding.result)}</span>
                    <span class="grow" dir="auto">{finding.text} <Show when={finding.known}>{(known) => <del dir="auto">{known()}</del>}</Show></span>
                    <span class="hint">{kindName(finding.kind)} · {finding.namespace}<Show when={finding.reason}> · {finding.reason}</Show></span>
                  </li>
                )}
              </For>
              <Show when={found().more}><li class="hint">{w("work.moreFindings", { count: number(found().findings.length) })}</li></Show>
            </ul>
          )}
        </Match>
      </Switch>
    </section>
  );
}
