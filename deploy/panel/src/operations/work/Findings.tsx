/** What a dry run found: what a run would make of what waits. */
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/solid-query";
import { For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { number } from "../../i18n";
import { kindName } from "../../memories/kinds";
import { Loaded, loaded } from "../../ui/Loaded";
import { w, word } from "../words";

const AGAIN_MS = 2_000;
const PAGE = 200;
const isOver = (status?: Shape<"ConsolidationRunView">["status"]) => status === "completed" || status === "failed";

export function Findings(props: { id: string; close: () => void }) {
  const params = () => ({ path: { run_id: props.id } });
  const run = useQuery(() => ({
    queryKey: ["run", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/consolidation-runs/{run_id}", { params: params(), signal })),
    refetchInterval: (query) => (isOver(query.state.data?.status) ? false : AGAIN_MS),
  }));
  const asked = useInfiniteQuery(() => ({
    queryKey: ["findings", props.id, isOver(loaded(run)?.status)], // read anew once the run is over
    queryFn: ({ signal, pageParam }) => answered(api.GET("/v1/consolidation-runs/{run_id}/findings", { params: { ...params(), query: { limit: PAGE, cursor: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: () => (isOver(loaded(run)?.status) ? false : AGAIN_MS),
  }));
  const found = () => loaded(asked)?.pages.flatMap((page) => page.findings) ?? [];
  return (
    <section class="panel-card" aria-label={w("work.preview")}>
      <div class="page-head"><h2>{w("work.preview")}</h2><Show when={loaded(run)}>{(found) => <span class="badge">{word("runStatus", found().status)}</span>}</Show><button class="button small quiet" onClick={props.close}>{w("common.close")}</button></div>
      <p class="hint">{w("work.previewHint")}</p>
      <Loaded of={asked} name={w("work.preview")} rows={2}>
        {() => (
          <Show when={found().length} fallback={<p>{w(loaded(run)?.status === "completed" ? "work.nothingFound" : "work.stillRunning")}</p>}>
            <ul class="findings">
              <For each={found()}>
                {(finding) => (
                  <li>
                    <span class="badge">{word("ruling", finding.result)}</span>
                    <span class="grow" dir="auto">{finding.text} <Show when={finding.known}>{(known) => <del dir="auto">{known()}</del>}</Show></span>
                    <span class="hint">{kindName(finding.kind)} · {finding.namespace}<Show when={finding.reason}> · {finding.reason}</Show></span>
                  </li>
                )}
              </For>
            </ul>
            <Show when={asked.hasNextPage}>
              <p class="hint">{w("work.moreFindings", { count: number(found().length) })}</p>
              <button class="button" disabled={asked.isFetchingNextPage} onClick={() => void asked.fetchNextPage()}>{w("common.more")}</button>
            </Show>
          </Show>
        )}
      </Loaded>
    </section>
  );
}
