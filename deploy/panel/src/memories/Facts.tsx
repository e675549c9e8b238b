/** The fields of a memory, as far as it has them. */
import { For, Show, type JSX } from "solid-js";
import { named, number, percent, t } from "../i18n";
import { Moment } from "../ui/Time";
import { useAddress } from "./address";
import { describedKind, kindName } from "./kinds";
import { Importance, saidAt, type Memory } from "./MemoryRow";

export function Facts(props: { memory: Memory }) {
  const address = useAddress();
  const memory = () => props.memory;
  const again = () => memory().reinforcement_count ?? 0;
  return (
    <>
      <dl class="facts-grid">
        <Fact name={t("field.kind")} value={[kindName(memory().kind), ...(memory().kinds ?? []).filter((kind) => kind !== memory().kind).map(kindName)].join(", ")} />
        <Fact name={t("field.status")} value={named("status", memory().status)} />
        <Fact name={t("memory.importance")} value={<Importance memory={memory()} />} />
        <Fact name={t("memory.confidence")} value={percent(memory().confidence)} />
        <Fact name={t("memory.age")} value={<Moment at={saidAt(memory())} />} />
        <Fact name={t("memory.reinforced")} value={again() ? times(again()) : undefined} />
        <Fact name={t("memory.happens")} value={time(memory().event_time)} />
        <Fact name={t("memory.validFrom")} value={time(memory().valid_from)} />
        <Fact name={t("memory.validUntil")} value={time(memory().valid_until)} />
        <Fact name={t("memory.expires")} value={time(memory().expires_at)} />
        <Fact name={t("memory.toldBy")} value={memory().told_by?.join(", ")} />
        <Fact name={t("memory.attributed")} value={memory().attributed_to} />
        <Fact name={t("memory.by")} value={memory().created_by} />
        <Fact name={t("memory.stored")} value={<Moment at={memory().created_at} />} />
        <Fact name={t("memory.version")} value={number(memory().version)} />
        <Fact name={t("memory.reads")} value={times(memory().access_count ?? 0)} />
        <Fact name={t("memory.id")} value={<code class="mono">{memory().memory_id}</code>} />
      </dl>
      <Show when={describedKind(memory().kind)}>{(says) => <p class="hint"><strong>{kindName(memory().kind)}</strong>: {says()}</p>}</Show>
      <Show when={memory().tags?.length}>
        <div class="tags" role="group" aria-label={t("memory.tags")}>
          <For each={memory().tags}>{(tag) => <button class="tag" onClick={() => address.set({ tag, q: undefined })}>#{tag}</button>}</For>
        </div>
      </Show>
      <Long title={t("memory.context")} text={memory().context} />
      <Long title={t("memory.fullText")} text={memory().full_text} />
    </>
  );
}

const times = (count: number) => (count === 1 ? t("memory.once") : t("memory.readTimes", { count: number(count) }));
const time = (at?: string | null) => at && <Moment at={at} />;

function Fact(props: { name: string; value?: JSX.Element }) {
  return (
    <Show when={props.value}>
      <div><dt>{props.name}</dt><dd>{props.value}</dd></div>
    </Show>
  );
}

function Long(props: { title: string; text?: string | null }) {
  return (
    <Show when={props.text}>
      <section class="long"><h3>{props.title}</h3><p dir="auto">{props.text}</p></section>
    </Show>
  );
}
