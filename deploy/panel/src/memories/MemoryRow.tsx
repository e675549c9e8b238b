/** One memory in a list: what it says, and what is to be known of it at a glance. */
import PinIcon from "lucide-solid/icons/pin";
import Repeat2 from "lucide-solid/icons/repeat-2";
import { For, Show, type JSX } from "solid-js";
import type { Shape } from "../api/client";
import { day, named, number, percent, t } from "../i18n";
import { Link } from "../ui/Link";
import { Ago, now } from "../ui/Time";
import { useAddress } from "./address";
import { KindIcon, kindName } from "./kinds";

export type Memory = Shape<"MemoryView">;
const MOST_TAGS = 3;

/** When it was said; when it was stored, of one that was made by hand. */
export const saidAt = (memory: Memory): string => memory.said_at ?? memory.sources?.at(-1)?.timestamp ?? memory.created_at;

/** Until when it holds, or from when on where that lies ahead; nothing of what simply holds. */
function validity(memory: Memory): string | undefined {
  if (memory.valid_until) return t("memory.until", { day: day(memory.valid_until) });
  return memory.valid_from && Date.parse(memory.valid_from) > now() ? t("memory.from", { day: day(memory.valid_from) }) : undefined;
}

export function Importance(props: { memory: Memory }) {
  const said = () =>
    t("memory.importanceOf", { tenths: number(props.memory.importance_tenths, 1), band: named("band", props.memory.importance_band) });
  return (
    <span class="importance" title={said()}>
      <span class="hidden">{said()}</span>
      <span class="meter" aria-hidden="true"><span style={{ width: `${props.memory.importance * 100}%` }} /></span>
      <span aria-hidden="true">{number(props.memory.importance_tenths, 1)}</span>
    </span>
  );
}

export function MemoryRow(props: { memory: Memory; chosen?: boolean; children?: JSX.Element }) {
  const address = useAddress();
  const tags = () => props.memory.tags ?? [];
  const again = () => props.memory.reinforcement_count ?? 0;
  return (
    <Link class="row" classList={{ chosen: props.chosen, past: props.memory.status !== "active" }} href={address.to(props.memory.memory_id)} current={props.chosen ?? false} noScroll>
      <KindIcon kind={props.memory.kind} />
      <span class="row-body">
        <span class="row-text" dir="auto">{props.memory.text}</span>
        <span class="facts">
          <span class="kind">{kindName(props.memory.kind)}</span>
          <Show when={props.memory.status !== "active"}><span class="badge">{named("status", props.memory.status)}</span></Show>
          <Importance memory={props.memory} />
          <span title={t("memory.confidence")}>{t("memory.confidenceOf", { percent: percent(props.memory.confidence) })}</span>
          <Show when={again()}>
            <span class="with-icon"><Repeat2 aria-hidden="true" /><span class="hidden">{t("memory.reinforced")}</span> {number(again())}×</span>
          </Show>
          <Show when={props.memory.pinned}>
            <span class="with-icon"><PinIcon aria-hidden="true" /><span class="hidden">{t("memory.pinned")}</span></span>
          </Show>
          <Ago at={saidAt(props.memory)} />
          <Show when={validity(props.memory)}>{(said) => <span>{said()}</span>}</Show>
          <For each={tags().slice(0, MOST_TAGS)}>{(tag) => <span class="tag">#{tag}</span>}</For>
        </span>
        {props.children}
      </span>
    </Link>
  );
}
