/** A table of one list of the API, a page at a time: loading, empty and failed are told. On a phone each row is a card, with the names of its columns. */
import { useInfiniteQuery } from "@tanstack/solid-query";
import ListX from "lucide-solid/icons/list-x";
import { For, Show, type JSX } from "solid-js";
import { w } from "./words";
import { Loaded } from "../ui/Loaded";
import { Empty } from "../ui/states";

/** `numeric`: what is in it stands at its end. */
export type Column<Row> = { name: string; of: (row: Row) => JSX.Element; numeric?: boolean };
/** `id`: the field that tells one row from another. `next` is the cursor of the page behind this one, if there is one. */
export type Page<Row> = { rows: Row[]; next?: string | null };
type Props<Row> = { name: string; id: keyof Row & string; read: (signal: AbortSignal, cursor?: string) => Promise<Page<Row>>; columns: Column<Row>[] };

export function Table<Row>(props: Props<Row>) {
  const asked = useInfiniteQuery(() => ({
    queryKey: ["table", props.name],
    queryFn: ({ signal, pageParam }) => props.read(signal, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: 15_000,
    select: ({ pages }) => pages.flatMap((page) => page.rows),
    reconcile: props.id,
  }));
  return (
    <section class="panel-card" aria-label={props.name}>
      <h2>{props.name}</h2>
      <Loaded of={asked} name={props.name} rows={2}>
        {(rows) => (
          <Show when={rows().length} fallback={<Empty icon={<ListX />} title={w("common.none")} />}>
            <Rows name={props.name} rows={rows()} columns={props.columns} />
            <Show when={asked.hasNextPage}><button class="button" disabled={asked.isFetchingNextPage} onClick={() => void asked.fetchNextPage()}>{w("common.more")}</button></Show>
          </Show>
        )}
      </Loaded>
    </section>
  );
}

/** Roles are said, as a browser forgets those of a table that is shown as cards. */
export function Rows<Row>(props: { name: string; rows: Row[]; columns: Column<Row>[] }) {
  return (
    <div class="table-scroller" tabindex="0" role="region" aria-label={props.name}>
      <table class="cards" role="table">
        <thead role="rowgroup">
          <tr role="row"><For each={props.columns}>{(column) => <th role="columnheader" scope="col" classList={{ number: column.numeric }}>{column.name}</th>}</For></tr>
        </thead>
        <tbody role="rowgroup">
          <For each={props.rows}>
            {(row) => (
              <tr role="row">
                <For each={props.columns}>{(column) => <td role="cell" data-name={column.name} classList={{ number: column.numeric }}><div>{column.of(row)}</div></td>}</For>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}
