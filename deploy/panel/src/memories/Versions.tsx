/** What a memory was and became: every change, as a difference that can be read, and taken back. */
import { useQuery } from "@tanstack/solid-query";
import { diffWords } from "diff";
import Undo2 from "lucide-solid/icons/undo-2";
import { For, Show } from "solid-js";
import { answered, api, isMissing, type Shape } from "../api/client";
import { may } from "../app/session";
import { moment, named, number, percent, t } from "../i18n";
import { Loaded } from "../ui/Loaded";
import { Moment } from "../ui/Time";
import { useChanges } from "./changes";

type Version = Shape<"MemoryVersion">;
type Stored = Shape<"Memory">;
const MOST = 200;

export const useVersions = (id: () => string) =>
  useQuery(() => ({
    queryKey: ["versions", id()],
    queryFn: ({ signal }) => answered(api.GET("/v1/memories/{memory_id}/versions", { params: { path: { memory_id: id() }, query: { limit: MOST } }, signal })),
  }));

export function Versions(props: { id: string }) {
  const changes = useChanges();
  const asked = useVersions(() => props.id);
  return (
    <Show when={!isMissing(asked.error)}>
      <Loaded of={asked} name={t("tabs.versions")} rows={3}>
        {(stored) => (
          <ol class="versions">
            <For each={[...stored().versions].reverse()}>
              {(version) => (
                <li class="version">
                  <p class="facts">
                    <strong>{t(`versions.${version.change}`)}</strong>
                    <Moment at={version.at} />
                    <span>{t("versions.by", { actor: version.cause.actor })}</span>
                    <Show when={may("write", version.namespace) && version.change !== "purged"}>
                      <button class="button small quiet" onClick={() => changes.undo(props.id, version.version)} aria-label={`${t("versions.undo")} (${version.version})`}>
                        <Undo2 aria-hidden="true" />{t("edit.undo")}
                      </button>
                    </Show>
                  </p>
                  <Show when={version.cause.reason}>{(why) => <p class="hint" dir="auto">{why()}</p>}</Show>
                  <Difference version={version} />
                </li>
              )}
            </For>
          </ol>
        )}
      </Loaded>
    </Show>
  );
}

function Difference(props: { version: Version }) {
  const before = () => props.version.before ?? undefined;
  const words = () => diffWords(before()?.text ?? "", props.version.after.text ?? "");
  const fields = () => (before() ? differing(before()!, props.version.after) : []);
  return (
    <>
      <Show when={before()?.text !== props.version.after.text}>
        <p class="diff" dir="auto">
          <For each={words()}>
            {(part) => <Show when={part.added || part.removed} fallback={part.value}>{part.added ? <ins>{part.value}</ins> : <del>{part.value}</del>}</Show>}
          </For>
        </p>
      </Show>
      <Show when={fields().length}>
        <dl class="changes">
          <For each={fields()}>
            {(field) => <div><dt>{t(`field.${field.name}`)}</dt><dd><del>{field.before}</del> → <ins>{field.after}</ins></dd></div>}
          </For>
        </dl>
      </Show>
    </>
  );
}

const time = (at?: string | null) => (at ? moment(at) : "–");
const SHOWN = {
  kind: (memory: Stored) => named("kind", memory.kind),
  importance: (memory: Stored) => number(memory.importance * 10, 1),
  confidence: (memory: Stored) => percent(memory.confidence),
  status: (memory: Stored) => named("status", memory.status),
  tags: (memory: Stored) => (memory.tags ?? []).join(", ") || "–",
  event_time: (memory: Stored) => time(memory.event_time),
  valid_from: (memory: Stored) => time(memory.valid_from),
  valid_until: (memory: Stored) => time(memory.valid_until),
  expires_at: (memory: Stored) => time(memory.expires_at),
  context: (memory: Stored) => memory.context || "–",
  full_text: (memory: Stored) => memory.full_text || "–",
  pinned: (memory: Stored) => (memory.pinned ? "✓" : "–"),
} as const;

export function differing(before: Stored, after: Stored) {
  const names = Object.keys(SHOWN) as (keyof typeof SHOWN)[];
  return names
    .map((name) => ({ name, before: SHOWN[name](before), after: SHOWN[name](after) }))
    .filter((field) => field.before !== field.after);
}
