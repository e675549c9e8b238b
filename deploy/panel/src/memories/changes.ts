/** Changing memories: each change tells what came of it and offers to take it back. */
import { useQueryClient } from "@tanstack/solid-query";
import { answered, api, ApiProblem, type Shape } from "../api/client";
import { t } from "../i18n";
import { reason } from "../ui/states";
import { notify } from "../ui/toasts";
import type { Memory } from "./MemoryRow";

type Result = Shape<"CommandResult">;
export type Draft = { text: string; kind?: string; tags: string[]; importance?: number; event_time?: string | null; valid_from?: string | null; valid_until?: string | null; reason?: string };
const SHOWN = ["memories", "memory", "versions", "related", "search", "statistics", "namespaces"];

export function useChanges() {
  const cache = useQueryClient();
  const refresh = () => cache.invalidateQueries({ predicate: (query) => SHOWN.includes(String(query.queryKey[0])) });

  async function carriedOut(asked: Promise<Result>, done: string, undo?: () => void): Promise<Result | undefined> {
    try {
      const result = await asked;
      if (result.status === "rejected") notify(t("edit.rejected", { reason: result.reason ?? "" }), undefined, "bad");
      else notify(result.status === "pending" ? t("edit.pending") : done, undo && { text: t("edit.undo"), run: undo });
      await refresh();
      return result;
    } catch (failed) {
      const stale = failed instanceof ApiProblem && failed.status === 412;
      notify(stale ? t("edit.stale") : t("edit.failed", { reason: reason(failed) }), undefined, "bad");
      return undefined;
    }
  }

  const path = (id: string) => ({ path: { memory_id: id } });
  const as = (memory: Memory) => ({ ...path(memory.memory_id), header: { "if-match": `"${memory.version}"` } });
  const undo = (id: string, version?: number) =>
    void carriedOut(answered(api.POST("/v1/memories/{memory_id}/undo", { params: path(id), body: version ? { version } : {} })), t("edit.restored"));

  return {
    undo,
    create: (namespace: string, draft: Draft) =>
      carriedOut(answered(api.POST("/v1/memories", { body: { namespace, ...scaled(draft) } })), t("edit.created")),
    update: (memory: Memory, draft: Draft) =>
      carriedOut(
        answered(api.PATCH("/v1/memories/{memory_id}", { params: as(memory), body: { scale: "tenths", ...changed(memory, draft) } })),
        t("edit.saved"),
        () => undo(memory.memory_id),
      ),
    remove: (memory: Memory) =>
      carriedOut(answered(api.DELETE("/v1/memories/{memory_id}", { params: as(memory) })), t("edit.removed"), () => undo(memory.memory_id)),
    erase: (id: string) =>
      carriedOut(answered(api.POST("/v1/memories/{memory_id}/erase", { params: path(id), body: {} })), t("edit.erased")),
    pin: (memory: Memory) => {
      const asked = memory.pinned
        ? api.DELETE("/v1/memories/{memory_id}/pin", { params: as(memory) })
        : api.PUT("/v1/memories/{memory_id}/pin", { params: as(memory) });
      return carriedOut(answered(asked), t(memory.pinned ? "edit.unpinned" : "edit.pinned"), () => undo(memory.memory_id));
    },
  };
}

const scaled = (draft: Draft) => ({ ...draft, scale: "tenths" as const });

/** What differs: whoever saves without a change of a field must not overwrite it. */
export function changed(memory: Memory, draft: Draft): Partial<Draft> {
  const same: Record<string, boolean> = {
    text: draft.text === memory.text,
    kind: draft.kind === memory.kind,
    tags: draft.tags.join("\n") === (memory.tags ?? []).join("\n"),
    importance: draft.importance === memory.importance_tenths,
    event_time: draft.event_time === undefined || draft.event_time === memory.event_time,
    valid_from: draft.valid_from === undefined || draft.valid_from === memory.valid_from,
    valid_until: draft.valid_until === undefined || draft.valid_until === memory.valid_until,
    reason: !draft.reason,
  };
  return Object.fromEntries(Object.entries(draft).filter(([name]) => !same[name]));
}
