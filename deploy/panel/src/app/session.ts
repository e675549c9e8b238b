/** Who looks: the key, kept for this tab alone, and what the API says that it may do. */
import { createSignal } from "solid-js";
import type { Shape } from "../api/client";

const PLACE = "memstream.key";
const [key, keep] = createSignal(sessionStorage.getItem(PLACE) ?? "");
const [me, setMe] = createSignal<Shape<"Me">>();

export { key, me, setMe };

export function signIn(given: string): void {
  sessionStorage.setItem(PLACE, given);
  keep(given);
}

export function signOut(): void {
  sessionStorage.removeItem(PLACE);
  setMe(undefined);
  keep("");
}

export type Right = Shape<"Grant">["right"];
const RANKS: Record<Right, number> = { read: 1, write: 2, admin: 3 };

/** Whether the key has a right in a namespace, as the API decides it; the API decides it again. */
export function may(right: Right, namespace: string): boolean {
  return (me()?.grants ?? []).some((grant) => RANKS[right] <= RANKS[grant.right] && covers(grant.namespaces, namespace));
}

/** Whether it has the right in some namespace. */
export const mayAnywhere = (right: Right): boolean => (me()?.grants ?? []).some((grant) => RANKS[right] <= RANKS[grant.right]);

/** Whether it has the right in all namespaces. */
export function mayEverywhere(right: Right): boolean {
  return (me()?.grants ?? []).some((grant) => RANKS[right] <= RANKS[grant.right] && grant.namespaces === "*");
}

function covers(pattern: string, namespace: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(namespace);
}
