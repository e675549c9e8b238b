/** A table of one list of the API: loading, empty and failed are told, and a wide one scrolls by itself. */
import { useQuery } from "@tanstack/solid-query";
import ListX from "lucide-solid/icons/list-x";
import { For, Match, Switch, type JSX } from "solid-js";
import { w } from "./words";
import { Empty, Failed, Loading } from "../ui/states";

export type Column<Row> = { name: string; of: (row: Row) => JSX.Element };
type Props<Row> = { name: string; read: (signal: AbortSignal) => Promise<Row[]>; columns: Column<Row>[] };

export function Table<Row>(props: Props<Row>) {
  const asked = useQuery(() => ({ queryKey: ["table", props.name], queryFn: ({ signal }) => props.read(signal), refetchInterval: 15_000 }));
  return (
    <section class="panel-card" aria-label={props.name}>
      <h2>{props.name}</h2>
      <Switch>
        <Match when={asked.isPending}><Loading rows={2} /></Match>
        <Match when={asked.isError}><Failed error={asked.error} again={() => void asked.refetch()} /></Match>
        <Match when={asked.isSuccess && !asked.data.length}><Empty icon={<ListX />} title={w("common.none")} /></Match>
        <Match when={asked.isSuccess}>
          <div class="table-scroller" tabindex="0" role="region" aria-label={props.name}>
            <table>
              <thead><tr><For each={props.columns}>{(column) => <th scope="col">{column.name}</th>}</For></tr></thead>
              <tbody><For each={asked.data}>{(row) => <tr><For each={props.columns}>{(column) => <td>{column.of(row)}</td>}</For></tr>}</For></tbody>
            </table>
          </div>
        </Match>
      </Switch>
    </section>
  );
}
