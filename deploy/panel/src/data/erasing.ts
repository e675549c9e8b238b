/** Erasing for good: what it would take, beginning it, and its receipt. */
import { answered, api, ApiProblem, type Shape } from "../api/client";
import { t } from "../i18n";
import { userQuery } from "./Fields";

export type Kind = "namespace" | "user" | "conversation";
export type Subject = { kind: Kind; id: string; tenant?: string; app?: string };
/** A line of a preview: how many of what would go. */
export type Foreseen = { what: string; where?: string; count: number };
const LOOK_MS = 1_000;

/** What the erasure would take, without what there is nothing of: most conversations have a namespace without data. */
export async function foresee(subject: Subject, signal: AbortSignal): Promise<Foreseen[]> {
  return (await counted(subject, signal)).filter((each) => each.count);
}

async function counted(subject: Subject, signal: AbortSignal): Promise<Foreseen[]> {
  if (subject.kind === "namespace") {
    const found = await answered(api.GET("/v1/namespaces/erasure", { params: { query: { namespace: subject.id } }, signal }));
    return held(found);
  }
  if (subject.kind === "conversation") {
    const found = await answered(api.GET("/v1/conversations/{conversation_id}/erasure", { params: { path: { conversation_id: subject.id } }, signal }));
    return [{ what: "messages", count: found.messages }, ...found.namespaces.map(of("resting"))];
  }
  const found = await answered(api.GET("/v1/users/purge", { params: { query: userQuery(subject) }, signal }));
  const said = Object.entries(found.said).map(([what, count]) => ({ what: what === "messages" ? "said" : what, count }));
  return [{ what: "conversations", count: found.conversations }, ...said, ...found.own.flatMap(held), ...found.shared.map(of("shared"))];
}

const held = (found: Shape<"OwnNamespace">): Foreseen[] => Object.entries(found.held).map(([what, count]) => ({ what, count, where: found.namespace }));
const of = (what: string) => (found: Shape<"SharedNamespace">): Foreseen => ({ what, count: found.memories, where: found.namespace });

/** Begins the erasure. A repeated key begins none a second time. */
export async function begin(subject: Subject, reason: string | undefined, key: string): Promise<string> {
  const header = { "Idempotency-Key": key };
  if (subject.kind === "namespace") return ofCommand(await answered(api.DELETE("/v1/namespaces", { params: { query: { namespace: subject.id, reason }, header } })));
  if (subject.kind === "user") return (await answered(api.POST("/v1/users/purge", { params: { header }, body: { ...userQuery(subject), reason } }))).erasure_id;
  const params = { path: { conversation_id: subject.id }, query: { reason }, header };
  return (await answered(api.DELETE("/v1/conversations/{conversation_id}", { params }))).erasure_id;
}

/** The command's erasure, once the curator has carried it out. */
async function ofCommand(result: Shape<"CommandResult">): Promise<string> {
  for (let found = result; ; ) {
    if (found.erasure_id) return found.erasure_id;
    if (found.status === "rejected") throw new ApiProblem(409, found.reason ?? t("erase.refused"));
    await new Promise((resume) => setTimeout(resume, LOOK_MS));
    const params = { path: { command_id: found.command_id }, query: { namespace: found.namespace } };
    found = await answered(api.GET("/v1/commands/{command_id}", { params }));
  }
}

export const receiptOf = (id: string, signal: AbortSignal) =>
  answered(api.GET("/v1/erasures/{erasure_id}", { params: { path: { erasure_id: id } }, signal }));
