/** What a generation would change in a namespace: the live memory beside the replayed one. */
import { useSearchParams } from "@solidjs/router";
import { useInfiniteQuery } from "@tanstack/solid-query";
import { diffWords } from "diff";
import { createSignal, For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { moment, named, number } from "../../i18n";
import { differing } from "../../memories/Versions";
import { Loaded, loaded } from "../../ui/Loaded";
import { Empty } from "../../ui/states";
import GitCompare from "lucide-solid/icons/git-compare";
import { w, word } from "../words";

type Difference = Shape<"Difference">;
const PAGE = 500; // memories that are compared at a time

export function Differences(props: { id: string; close: () => void }) {
  const [search] = useSearchParams<{ ns?: string }>();
  const [same, setSame] = createSignal(false);
  const asked = useInfiniteQuery(() => ({
    queryKey: ["differences", props.id, search.ns],
    queryFn: ({ signal, pageParam }) =>
      answered(api.GET("/v1/generations/{generation_id}/differences", { params: { path: { generation_id: props.id }, query: { namespace: search.ns ?? "", limit: PAGE, cursor: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    enabled: !!search.ns,
  }));
  const compared = () => loaded(asked)?.pages.flatMap((page) => page.differences) ?? [];
  const shown = () => compared().filter((each) => same() || (each.fate !== "same" && each.fate !== "kept"));
  return (
    <section class="panel-card" aria-label={w("work.differences")}>
      <div class="page-head">
        <h2>{w("work.differencesIn", { namespace: search.ns ?? "–" })}</h2>
        <label class="check"><input type="checkbox" checked={same()} onChange={(event) => setSame(event.currentTarget.checked)} />{w("work.showSame")}</label>
        <button class="button small quiet" onClick={props.close}>{w("common.close")}</button>
      </div>
      <Show when={search.ns} fallback={<p>{w("work.chooseNamespace")}</p>}>
        <Loaded of={asked} name={w("work.differences")} rows={3}>
          {() => (
            <Show when={shown().length || asked.hasNextPage} fallback={<Empty icon={<GitCompare />} title={w("work.noDifference")} />}>
              <div class="table-scroller" tabindex="0" role="region" aria-label={w("work.differences")}>
                <table class="sides">
                  <thead><tr><th scope="col">{w("work.fate")}</th><th scope="col">{w("work.live")}</th><th scope="col">{w("work.replayed")}</th></tr></thead>
                  <tbody><For each={shown()}>{(each) => <Row difference={each} />}</For></tbody>
                </table>
              </div>
              <Show when={asked.hasNextPage}>
                <p class="hint">{w("work.moreDifferences", { count: number(compared().length) })}</p>
                <button class="button" disabled={asked.isFetchingNextPage} onClick={() => void asked.fetchNextPage()}>{w("common.more")}</button>
              </Show>
            </Show>
          )}
        </Loaded>
      </Show>
    </section>
  );
}

function Row(props: { difference: Difference }) {
  const words = () => (props.difference.fate === "changed" ? diffWords(props.difference.before!.text, props.difference.after!.text) : undefined);
  return (
    <tr>
      <td>
        <span class="badge">{word("fate", props.difference.fate)}</span>
        <Show when={props.difference.why}><p class="hint">{props.difference.why}</p></Show>
        <Show when={fieldsOf(props.difference).length}><Fields difference={props.difference} /></Show>
      </td>
      <td dir="auto"><Show when={words()} fallback={<Whole memory={props.difference.before} gone={props.difference.fate === "lost"} />}>{(parts) => <For each={parts().filter((part) => !part.added)}>{(part) => <Show when={part.removed} fallback={part.value}><del>{part.value}</del></Show>}</For>}</Show></td>
      <td dir="auto"><Show when={words()} fallback={<Whole memory={props.difference.after} fresh={props.difference.fate === "added"} />}>{(parts) => <For each={parts().filter((part) => !part.removed)}>{(part) => <Show when={part.added} fallback={part.value}><ins>{part.value}</ins></Show>}</For>}</Show></td>
    </tr>
  );
}

function Whole(props: { memory?: Difference["before"]; gone?: boolean; fresh?: boolean }) {
  return (
    <Show when={props.memory} fallback="–">
      {(memory) => <Show when={props.gone || props.fresh} fallback={memory().text}>{props.gone ? <del>{memory().text}</del> : <ins>{memory().text}</ins>}</Show>}
    </Show>
  );
}

/** The fields that differ, with both values. */
function Fields(props: { difference: Difference }) {
  return (
    <dl class="changes">
      <For each={fieldsOf(props.difference)}>{(field) => <div><dt>{named("field", field.name)}</dt><dd dir="auto"><del>{field.before}</del> → <ins>{field.after}</ins></dd></div>}</For>
    </dl>
  );
}

/** Of the fields that the server compared: as the history of a memory shows them, and those that it does not show. */
function fieldsOf({ before, after, fields }: Difference) {
  if (!before || !after || !fields) return [];
  const known = new Map(differing(before, after).map((each) => [each.name as string, each]));
  const told = (memory: object, name: string) => plain((memory as Record<string, unknown>)[name], name);
  return fields.filter((name) => name !== "text").map((name) => known.get(name) ?? { name, before: told(before, name), after: told(after, name) });
}

const DIGITS = 3; // shares that differ by less than the history shows

function plain(value: unknown, name: string): string {
  if (name === "event_time" && value) return moment(String(value));
  if (typeof value === "number") return number(value, DIGITS);
  return (Array.isArray(value) ? value.map(String).join(", ") : String(value ?? "")) || "–";
}
