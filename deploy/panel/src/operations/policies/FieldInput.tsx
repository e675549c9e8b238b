/** One field of a policy: an input that fits its type, what it does, and whether it differs from the default. */
import { createUniqueId, For, Match, Show, Switch } from "solid-js";
import { w } from "../words";
import { ManyInput } from "./ManyInput";
import type { Field } from "./schema";

export type Values = Record<string, unknown>;
type Props = { field: Field; values: Values; set: (name: string, value: unknown) => void; readOnly: boolean };

const MANY: Field["kind"][] = ["choices", "range", "rows"];
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

const valueOf = (props: Props) => props.values[props.field.name] ?? props.field.default;

function setOf(props: Props) {
  const isUnset = (given: unknown) => same(given, props.field.default) || (given === "" && props.field.default === undefined);
  return (given: unknown) => props.set(props.field.name, isUnset(given) ? undefined : given);
}

export function FieldInput(props: Props) {
  return (
    <Switch fallback={<One {...props} />}>
      <Match when={props.field.kind === "group"}><Group {...props} /></Match>
      <Match when={MANY.includes(props.field.kind)}><ManyInput field={props.field} value={valueOf(props)} differs={props.field.name in props.values} set={setOf(props)} readOnly={props.readOnly} /></Match>
    </Switch>
  );
}

function One(props: Props) {
  const id = createUniqueId();
  const value = () => valueOf(props);
  const set = setOf(props);
  return (
    <div class="policy-field" classList={{ differs: props.field.name in props.values, flag: props.field.kind === "boolean" }}>
      <label for={id}><code class="mono">{props.field.name}</code><Show when={props.field.name in props.values}> <span class="badge">{w("policies.changed")}</span></Show></label>
      <Switch fallback={<Written id={id} value={value()} set={set} readOnly={props.readOnly} says={props.field.says ? `${id}-says` : undefined} />}>
        <Match when={props.field.kind === "boolean"}>
          <input id={id} type="checkbox" checked={!!value()} disabled={props.readOnly} aria-describedby={`${id}-says`} onChange={(event) => set(event.currentTarget.checked)} />
        </Match>
        <Match when={props.field.kind === "choice"}>
          <select id={id} disabled={props.readOnly} aria-describedby={`${id}-says`} onChange={(event) => set(event.currentTarget.value)}>
            <For each={props.field.choices}>{(each) => <option value={each} selected={each === value()}>{each}</option>}</For>
          </select>
        </Match>
        <Match when={props.field.kind === "integer" || props.field.kind === "number"}>
          <input
            id={id} type="number" step={props.field.kind === "integer" ? 1 : "any"} min={props.field.minimum} max={props.field.maximum} value={String(value() ?? "")} placeholder={props.field.nullable ? "–" : ""} disabled={props.readOnly}
            aria-describedby={`${id}-says`} onChange={(event) => set(event.currentTarget.value === "" ? null : event.currentTarget.valueAsNumber)}
          />
        </Match>
        <Match when={props.field.kind === "text" && props.field.long}>
          <textarea id={id} rows="3" value={String(value() ?? "")} disabled={props.readOnly} aria-describedby={`${id}-says`} onChange={(event) => set(event.currentTarget.value || (props.field.nullable ? null : ""))} />
        </Match>
        <Match when={props.field.kind === "text"}>
          <input id={id} value={String(value() ?? "")} pattern={props.field.pattern} disabled={props.readOnly} aria-describedby={`${id}-says`} onChange={(event) => (event.currentTarget.reportValidity(), set(event.currentTarget.value || (props.field.nullable ? null : "")))} />
        </Match>
        <Match when={props.field.kind === "list"}>
          <textarea
            id={id} rows="2" value={((value() as string[] | undefined) ?? []).join("\n")} disabled={props.readOnly} aria-describedby={`${id}-says`}
            onChange={(event) => set(event.currentTarget.value.split("\n").map((line) => line.trim()).filter(Boolean))}
          />
        </Match>
      </Switch>
      <p class="hint" id={`${id}-says`}>{props.field.says}<Show when={props.field.kind === "list"}> {w("policies.onePerLine")}</Show></p>
    </div>
  );
}

function Group(props: Props) {
  const inner = () => (props.values[props.field.name] as Values | undefined) ?? {};
  const set = (name: string, value: unknown) => {
    const changed = { ...inner(), [name]: value };
    if (value === undefined) delete changed[name];
    props.set(props.field.name, Object.keys(changed).length ? changed : undefined);
  };
  return (
    <details class="policy-group" open={props.field.name === "match"}>
      <summary><code class="mono">{props.field.name}</code><Show when={Object.keys(inner()).length}> <span class="badge">{w("policies.changed")}</span></Show></summary>
      <Show when={props.field.says}><p class="hint">{props.field.says}</p></Show>
      <div class="policy-fields"><For each={props.field.fields}>{(field) => <FieldInput field={field} values={inner()} set={set} readOnly={props.readOnly} />}</For></div>
    </details>
  );
}

/** What has no form of its own, as JSON. */
function Written(props: { id: string; value: unknown; set: (value: unknown) => void; readOnly: boolean; says?: string }) {
  const take = (element: HTMLTextAreaElement) => {
    try {
      props.set(JSON.parse(element.value || "null"));
      element.setCustomValidity("");
    } catch (wrong) {
      element.setCustomValidity(String(wrong));
      element.reportValidity();
    }
  };
  return <textarea id={props.id} class="mono" rows="6" disabled={props.readOnly} aria-describedby={props.says} value={JSON.stringify(props.value ?? null, null, 1)} onChange={(event) => take(event.currentTarget)} />;
}
