/** A link to a memory, in the namespace that is looked at. */
import { A, useSearchParams } from "@solidjs/router";
import type { JSX } from "solid-js";

export function MemoryLink(props: { id: string; children: JSX.Element }) {
  const [search] = useSearchParams<{ ns?: string }>();
  return <A class="memory-link" href={`/memories/${encodeURIComponent(props.id)}?ns=${encodeURIComponent(search.ns ?? "")}`}>{props.children}</A>;
}
