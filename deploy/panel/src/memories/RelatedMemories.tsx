/** What a memory replaces, refines or relates to, and what is near to it in meaning. */
import { useQuery } from "@tanstack/solid-query";
import Waypoints from "lucide-solid/icons/waypoints";
import { For, Match, Show, Switch } from "solid-js";
import { answered, api } from "../api/client";
import { percent, t } from "../i18n";
import { Empty, Failed, Loading } from "../ui/states";
import { MemoryRow } from "./MemoryRow";

export function RelatedMemories(props: { id: string }) {
  const asked = useQuery(() => ({
    queryKey: ["related", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/memories/{memory_id}/related", { params: { path: { memory_id: props.id } }, signal })),
  }));
  return (
    <Switch>
      <Match when={asked.isPending}><Loading rows={3} /></Match>
      <Match when={asked.isError}><Failed error={asked.error} again={() => void asked.refetch()} /></Match>
      <Match when={asked.isSuccess}>
        <Show when={asked.data!.degraded}><p class="notice" role="status">{t("related.degraded")}</p></Show>
        <Show when={asked.data!.linked.length + asked.data!.near.length} fallback={<Empty icon={<Waypoints />} title={t("related.none")} />}>
          <ul class="rows flowing">
            <For each={asked.data!.linked}>
              {(each) => <li><p class="relation">{t(`related.${each.relation}`)}</p><MemoryRow memory={each.memory} /></li>}
            </For>
            <For each={asked.data!.near}>
              {(each) => <li><p class="relation">{t("related.near")} · {t("related.similarity", { percent: percent(each.score) })}</p><MemoryRow memory={each.memory} /></li>}
            </For>
          </ul>
        </Show>
      </Match>
    </Switch>
  );
}
