// Typed requests with required fields alone. They must compile; nothing runs them.
import type { Memstream } from "./memstream.js";

export async function request(memstream: Memstream): Promise<string | undefined> {
  await memstream.context({ text: "bees", scope: { app_id: "app", user_id: "ada" } });
  await memstream.update("m1", { text: "User keeps bees." });
  const made = await memstream.create({ namespace: "app/ada", text: "User keeps bees." });
  const found = await memstream.search({ namespaces: ["app/ada"], filters: { kinds: ["fact"] }, passage_filters: { speakers: ["ada"] } });
  return found.hits[0]?.memory?.text ?? made.memory_id ?? undefined;
}
