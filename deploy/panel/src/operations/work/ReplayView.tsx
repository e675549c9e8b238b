/** Replays: generations of memories beside the live ones, their differences, cutting over and taking that back. */
import { useQueryClient } from "@tanstack/solid-query";
import { createSignal, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { mayEverywhere } from "../../app/session";
import { number } from "../../i18n";
import { Moment } from "../../ui/Time";
import { act } from "../act";
import { Confirm } from "../../ui/Confirm";
import { Table } from "../Table";
import { w, word } from "../words";
import { Differences } from "./Differences";

type Generation = Shape<"GenerationView">;

export function ReplayView() {
  const [compared, setCompared] = createSignal<string>();
  return (
    <>
      <p class="hint">{w("work.replayHint")}</p>
      <Show when={compared()} keyed>{(id) => <Differences id={id} close={() => setCompared(undefined)} />}</Show>
      <Table<Generation>
        name={w("work.generations")}
        id="generation_id"
        read={async (signal) => ({ rows: (await answered(api.GET("/v1/generations", { signal }))).generations })}
        columns={[
          { name: w("work.id"), of: (each) => <code class="mono">{each.generation_id}</code> },
          { name: w("common.created"), of: (each) => <Moment at={each.created_at} /> },
          { name: w("common.status"), of: (each) => <><span class="badge">{word("runStatus", each.status)}</span> {each.failure}</> },
          { name: w("work.namespaces"), of: (each) => each.namespaces },
          { name: w("work.progress"), of: (each) => `${number(each.done)} / ${number(each.conversations)}`, numeric: true },
          { name: w("work.differences"), of: (each) => <button class="button small" onClick={() => setCompared(each.generation_id)}>{w("work.compare")}</button> },
          { name: w("work.act"), of: (each) => <Show when={mayEverywhere("admin")}><Switching generation={each} /></Show> },
        ]}
      />
    </>
  );
}

function Switching(props: { generation: Generation }) {
  const cache = useQueryClient();
  const params = () => ({ path: { generation_id: props.generation.generation_id } });
  const after = async (doing: () => Promise<Shape<"CutoverResult"> | undefined>) => {
    await doing();
    await cache.invalidateQueries({ predicate: (query) => ["table", "differences"].includes(String(query.queryKey[0])) });
  };
  const told = (done: Shape<"CutoverResult">) => w("work.switched", { changes: number(done.changes ?? 0), namespaces: number(done.namespaces ?? 0), left: number(done.left ?? 0) });
  return (
    <>
      <Show when={props.generation.status === "ready"}>
        <Confirm text={w("work.cutOver")} title={w("work.cutOverTitle")} hint={w("work.cutOverHint")} primary act={() => void after(() => act(() => answered(api.POST("/v1/generations/{generation_id}/cutover", { params: params() })), told))} />
      </Show>
      <Show when={props.generation.status === "cutover"}>
        <Confirm text={w("work.takeBack")} title={w("work.takeBackTitle")} hint={w("work.takeBackHint")} danger act={() => void after(() => act(() => answered(api.POST("/v1/generations/{generation_id}/undo", { params: params() })), told))} />
      </Show>
    </>
  );
}
