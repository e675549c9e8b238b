// Runs one scene with the built client and prints what it saw, a line of JSON each: use_client.mjs CLIENT URL KEY SCENE

const [, , client, url, key, scene] = process.argv;
const { Memstream, Problem } = await import(client);
const memstream = new Memstream(url, { ...(key ? { key } : {}), sleep: () => new Promise((resolve) => setTimeout(resolve, 1)) });
const ADA = "app/ada";
const say = (seen) => console.log(JSON.stringify(seen));

async function problemOf(promise) {
  try {
    await promise;
    return "none";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [error.status, error.code, error.retryable];
  }
}

const scenes = {
  async changes() {
    const made = await memstream.create({ namespace: ADA, text: "User keeps bees.", tags: ["garden"], kind: "fact" });
    say([made.status, made.change, made.namespace]);
    say((await memstream.get(made.memory_id)).text);
    say((await memstream.update(made.memory_id, { text: "User keeps hens." })).change);
    say((await memstream.delete(made.memory_id)).change);
    say(await problemOf(memstream.get(made.memory_id)));
  },
  async late() {
    const pending = await memstream.create({ namespace: ADA, text: "User keeps bees." });
    say(pending.status);
    say((await memstream.waitFor(pending, 20_000)).change);
  },
  async found() {
    const found = await memstream.search({ namespaces: [ADA], text: "bees", in: "memories" });
    say(found.hits.map((hit) => [hit.tier, hit.memory.text]));
    const said = await memstream.search({ namespaces: [ADA], text: "barn", in: "said", passage_filters: { speakers: ["ada"] } });
    say(said.hits.map((hit) => [hit.tier, hit.passage.speaker, hit.passage.text, hit.neighbours[0].text, hit.message_ids]));
    const block = await memstream.context({ namespaces: [ADA], text: "bees", conversation_id: "c1" });
    say([block.text.includes("User keeps bees."), block.tokens > 0]);
    const listed = await memstream.api.GET("/v1/memories", { params: { query: { namespace: ADA } } });
    say(listed.data.memories.map((memory) => memory.text));
  },
  async marks() {
    await memstream.mark("c1", "c1-1", "pinned");
    say(await problemOf(memstream.mark("c1", "c1-9", "pinned")));
  },
  async controls() {
    for (const action of ["flush", "prune", "clear", "restore"]) await memstream.control("c1", action);
    say(await problemOf(memstream.control("c2", "prune")));
  },
  async choices() {
    await memstream.setUserSettings("ada", { max_messages: 30 }, { app_id: "app" });
    say(await problemOf(memstream.setUserSettings("bob", {}, { app_id: "other" })));
  },
  async refused() {
    say(await problemOf(memstream.get("11111111-1111-4111-8111-111111111111")));
    say(await problemOf(memstream.create({ namespace: "other/ada", text: "User keeps bees." })));
    say(await problemOf(memstream.create({ namespace: ADA, text: "" })));
  },
  async once() {
    say(await problemOf(memstream.create({ namespace: ADA, text: "User keeps bees." })));
  },
  async events() {
    let seen = 0;
    for await (const event of memstream.events([ADA], { since: "beginning" })) {
      say([event.position !== "", event.type, event.data.namespace, event.data.sequence]);
      if ((seen += 1) === 4) break;
    }
  },
};

await scenes[scene]();
