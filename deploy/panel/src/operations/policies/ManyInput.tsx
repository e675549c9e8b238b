/** A field of several values: choices that may be ticked, the least and the greatest value, or rows such as those of kinds. */
import { For, Index, Match, Show, Switch } from "solid-js";
import { w } from "../words";
import type { Values } from "./FieldInput";
import type { Field } from "./schema";

type Props = { field: Field; value: unknown; differs: boolean; set: (value: unknown) => void; readOnly: boolean };

export function ManyInput(props: Props) {
  return (
    <fieldset class="policy-field many" classList={{ differs: props.differs, wide: props.field.kind === "rows" }} disabled={props.readOnly}>
      <legend><code class="mono">{props.field.name}</code><Show when={props.differs}> <span class="badge">{w("policies.changed")}</span></Show></legend>
      <Switch>
        <Match when={props.field.kind === "choices"}><Choices {...props} /></Match>
        <Match when={props.field.kind === "range"}><Range {...props} /></Match>
        <Match when={props.field.kind === "rows"}><Rows {...props} /></Match>
      </Switch>
      <p class="hint">{props.field.says}</p>
    </fieldset>
  );
}

function Choices(props: Props) {
  const chosen = () => (props.value as string[] | undefined) ?? [];
  const tick = (name: string, on: boolean) => props.set(props.field.choices.filter((each) => (each === name ? on : chosen().includes(each))));
  return (
    <div class="ticks">
      <For each={props.field.choices}>{(each) => <label class="check"><input type="checkbox" checked={chosen().includes(each)} onChange={(event) => tick(each, event.currentTarget.checked)} />{each}</label>}</For>
    </div>
  );
}

const FIRST = { integer: [1, 1], share: [0.5, 0.8] }; // what a field that was just ticked has, to be changed

/** Adjustable once it is ticked, within two bounds. */
function Range(props: Props) {
  const bounds = () => props.value as [number, number] | null | undefined;
  const set = (at: number, value: number) => props.set(bounds()!.map((each, place) => (place === at && !Number.isNaN(value) ? value : each)));
  return (
    <div class="ticks">
      <label class="check"><input type="checkbox" checked={!!bounds()} onChange={(event) => props.set(event.currentTarget.checked ? (props.field.integer ? FIRST.integer : FIRST.share) : null)} />{w("policies.adjustable")}</label>
      <Show when={bounds()}>
        <For each={[w("policies.least"), w("policies.most")]}>
          {(name, at) => <label class="with-label"><span class="hint">{name}</span><input type="number" step="any" value={bounds()![at()]} onChange={(event) => set(at(), event.currentTarget.valueAsNumber)} /></label>}
        </For>
      </Show>
    </div>
  );
}

/** A row of a name alone is kept as the name: the built-in kinds then have their own description. */
function Rows(props: Props) {
  const rows = () => ((props.value as (string | Values)[] | undefined) ?? []).map((row): Values => (typeof row === "string" ? { name: row } : row));
  const put = (all: Values[]) => props.set(all.map((row) => (Object.keys(row).length === 1 && "name" in row ? row.name : row)));
  const change = (at: number, name: string, value: string) =>
    put(rows().map((row, place) => (place === at ? Object.fromEntries(Object.entries({ ...row, [name]: value }).filter(([each, written]) => each === "name" || written !== "")) : row)));
  return (
    <>
      <ul class="kind-rows">
        <Index each={rows()}>
          {(row, at) => (
            <li>
              <For each={props.field.fields}>{(field) => <label class={`with-label of-${field.name}`}><span class="hint">{field.name}</span><input value={String(row()[field.name] ?? "")} onChange={(event) => change(at, field.name, event.currentTarget.value)} /></label>}</For>
              <button type="button" class="button small quiet" aria-label={w("policies.dropRow", { name: String(row().name) })} onClick={() => put(rows().filter((_, place) => place !== at))}>{w("policies.drop")}</button>
            </li>
          )}
        </Index>
      </ul>
      <Show when={!props.readOnly}><button type="button" class="button small" onClick={() => put([...rows(), { name: "" }])}>{w("policies.addRow")}</button></Show>
    </>
  );
}
