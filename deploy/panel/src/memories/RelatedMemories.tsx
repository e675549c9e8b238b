/** What a memory replaces, refines or relates to, and what is near to it in meaning. */
import { useQuery } from "@tanstack/solid-query";
import Waypoints from "lucide-solid/icons/waypoints";
import { For, Show } from "solid-js";
import { answered, api } from "../api/client";
import { percent, t } from "../i18n";
import { Loaded } from "../ui/Loaded";
import { Rows } from "../ui/Rows";
import { Empty } from "../ui/states";
import { Graph } from "./Graph";
import { MemoryRow, type Memory } from "./MemoryRow";

export const readRelated = (id: string, signal: AbortSignal) =>
  answered(api.GET("/v1/memories/{memory_id}/related", { params: { path: { memory_id: id } }, signal }));

export function RelatedMemories(props: { memory: Memory }) {
  const asked = useQuery(() => ({
    queryKey: ["related", props.memory.memory_id],
    queryFn: ({ signal }) => readRelated(props.memory.memory_id, signal),
  }));
  return (
    <Loaded of={asked} name={t("tabs.related")} rows={3}>
      {(related) => (
        <>
          <Show when={related().degraded}><p class="notice" role="status">{t("related.degraded")}</p></Show>
          <Show when={related().linked.length + related().near.length} fallback={<Empty icon={<Waypoints />} title={t("related.none")} />}>
            <Show when={related().linked.length}><Graph memory={props.memory} linked={related().linked} /></Show>
            <Rows label={t("tabs.related")}>
              <For each={related().linked}>
                {(each) => <li><p class="relation">{t(`related.${each.relation}`)}</p><MemoryRow memory={each.memory} /></li>}
              </For>
              <For each={related().near}>
                {(each) => <li><p class="relation">{t("related.near")} · {t("related.similarity", { percent: percent(each.score) })}</p><MemoryRow memory={each.memory} /></li>}
              </For>
            </Rows>
          </Show>
        </>
      )}
    </Loaded>
  );
}
