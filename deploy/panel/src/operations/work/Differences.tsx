/** What a generation would change in a namespace: the live memory beside the replayed one. */
import { useSearchParams } from "@solidjs/router";
import { useQuery } from "@tanstack/solid-query";
import { createSignal, For, Match, Show, Switch } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { Empty, Failed, Loading } from "../../ui/states";
import GitCompare from "lucide-solid/icons/git-compare";
import { w, word } from "../words";

export function Differences(props: { id: string; close: () => void }) {
  const [search] = useSearchParams<{ ns?: string }>();
  const [same, setSame] = createSignal(false);
  const asked = useQuery(() => ({
    queryKey: ["differences", props.id, search.ns],
    queryFn: ({ signal }) =>
      answered(api.GET("/v1/generations/{generation_id}/differences", { params: { path: { generation_id: props.id }, query: { namespace: search.ns ?? "", limit: 500 } }, signal })),
    enabled: !!search.ns,
  }));
  const shown = () => (asked.data?.differences ?? []).filter((each) => same() || (each.fate !== "same" && each.fate !== "kept"));
  return (
    <section class="panel-card" aria-label={w("work.differences")}>
      <div class="page-head">
        <h2>{w("work.differencesIn", { namespace: search.ns ?? "–" })}</h2>
        <label class="check"><input type="checkbox" checked={same()} onChange={(event) => setSame(event.currentTarget.checked)} />{w("work.showSame")}</label>
        <button class="button small quiet" onClick={props.close}>{w("common.close")}</button>
      </div>
      <Switch>
        <Match when={!search.ns}><p>{w("work.chooseNamespace")}</p></Match>
        <Match when={asked.isPending}><Loading rows={3} /></Match>
        <Match when={asked.isError}><Failed error={asked.error} again={() => void asked.refetch()} /></Match>
        <Match when={!shown().length}><Empty icon={<GitCompare />} title={w("work.noDifference")} /></Match>
        <Match when={true}>
          <div class="table-scroller" tabindex="0" role="region" aria-label={w("work.differences")}>
            <table class="sides">
              <thead><tr><th scope="col">{w("work.fate")}</th><th scope="col">{w("work.live")}</th><th scope="col">{w("work.replayed")}</th></tr></thead>
              <tbody><For each={shown()}>{(each) => <Row difference={each} />}</For></tbody>
            </table>
          </div>
        </Match>
      </Switch>
    </section>
  );
}

function Row(props: { difference: Shape<"Difference"> }) {
  return (
    <tr>
      <td><span class="badge">{word("fate", props.difference.fate)}</span><Show when={props.difference.why}><p class="hint">{props.difference.why}</p></Show><Show when={props.difference.fields?.length}><p class="hint">{props.difference.fields!.join(", ")}</p></Show></td>
      <td dir="auto"><Show when={props.difference.before} fallback="–">{(memory) => <Show when={props.difference.fate === "lost"} fallback={memory().text}><del>{memory().text}</del></Show>}</Show></td>
      <td dir="auto"><Show when={props.difference.after} fallback="–">{(memory) => <Show when={props.difference.fate === "added"} fallback={memory().text}><ins>{memory().text}</ins></Show>}</Show></td>
    </tr>
  );
}
