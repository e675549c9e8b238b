/** The messages that a memory comes from, each in the conversation where it was said. */
import { A, useSearchParams } from "@solidjs/router";
import { useQuery } from "@tanstack/solid-query";
import MessageSquareQuote from "lucide-solid/icons/message-square-quote";
import { For, Show } from "solid-js";
import { answered, api, isMissing, type Shape } from "../api/client";
import { named, number, t } from "../i18n";
import { Content } from "../ui/Content";
import { FollowLink } from "../ui/FollowLink";
import { Loaded, loaded } from "../ui/Loaded";
import { Empty } from "../ui/states";
import { Moment } from "../ui/Time";
import type { Memory } from "./MemoryRow";

type Message = Shape<"MessageView">;
const AROUND = 2; // messages that are shown before and after a source
const PAGE = 2 * AROUND + 3; // one more on either side tells whether what is shown around the next source goes on from there

export function Sources(props: { memory: Memory }) {
  const conversations = () => [...new Set((props.memory.sources ?? []).map((source) => source.conversation_id))].reverse();
  const messagesOf = (id: string) =>
    new Set((props.memory.sources ?? []).filter((source) => source.conversation_id === id).map((source) => source.message_id));
  return (
    <Show when={conversations().length} fallback={<Empty icon={<MessageSquareQuote />} title={t("sources.none")} />}>
      <For each={conversations()}>{(id) => <InConversation id={id} sources={messagesOf(id)} />}</For>
    </Show>
  );
}

type Found = { pages: Message[][]; gone: number };

/** What was said around each source; `gone` counts those that are not in the archive. Throws ApiProblem. */
async function around(id: string, sources: Set<string>, signal: AbortSignal): Promise<Found> {
  const pages: Message[][] = [];
  let gone = 0;
  for (const source of sources) {
    if (pages.some((page) => inMiddle(page, source))) continue;
    const params = { path: { conversation_id: id }, query: { limit: PAGE, around: source } };
    try {
      pages.push((await answered(api.GET("/v1/conversations/{conversation_id}/messages", { params, signal }))).messages);
    } catch (failed) {
      if (!isMissing(failed)) throw failed;
      gone++;
    }
  }
  return { pages, gone };
}

function inMiddle(page: Message[], source: string): boolean {
  const at = page.findIndex((message) => message.message_id === source);
  return at > AROUND && at < page.length - AROUND - 1;
}

/** Sources with what was said around them, each message once; `undefined` stands where messages are left out between. */
export function excerpt(pages: Message[][], sources: Set<string>): (Message | undefined)[] {
  const near = new Map<string, Message>();
  const following = new Map<string, string>();
  for (const page of pages) {
    page.forEach((message, at) => {
      const next = page[at + 1];
      if (next) following.set(message.message_id, next.message_id);
      if (page.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((each) => sources.has(each.message_id))) near.set(message.message_id, message);
    });
  }
  const shown = [...near.values()].sort((one, other) => one.partition - other.partition || one.position - other.position);
  return shown.flatMap((message, at) => {
    const next = shown[at + 1];
    return next && following.get(message.message_id) !== next.message_id ? [message, undefined] : [message];
  });
}

function InConversation(props: { id: string; sources: Set<string> }) {
  const asked = useQuery(() => ({
    queryKey: ["messages", props.id, "around", [...props.sources].sort()],
    queryFn: ({ signal }) => around(props.id, props.sources, signal),
    staleTime: 60_000,
  }));
  const [search] = useSearchParams<{ ns?: string }>();
  const shown = () => excerpt(loaded(asked)?.pages ?? [], props.sources);
  return (
    <section class="conversation">
      <h3><A class="memory-link" href={`/conversations/${encodeURIComponent(props.id)}?ns=${encodeURIComponent(search.ns ?? "")}`}>{t("sources.inConversation", { id: props.id })}</A></h3>
      <Loaded of={asked} name={t("sources.inConversation", { id: props.id })} rows={3}>
        {(found) => (
          <Show when={shown().length} fallback={<p class="hint">{t("sources.gone")}</p>}>
            <ol class="messages">
              <For each={shown()}>
                {(message) => (
                  <Show when={message} fallback={<li class="left-out" aria-hidden="true">⋯</li>}>
                    {(said) => <Said message={said()} source={props.sources.has(said().message_id)} />}
                  </Show>
                )}
              </For>
            </ol>
            <Show when={found().gone}>{(gone) => <p class="hint">{t("sources.someGone", { count: number(gone()) })}</p>}</Show>
          </Show>
        )}
      </Loaded>
    </section>
  );
}

function Said(props: { message: Message; source: boolean }) {
  const speaker = () => props.message.name || (props.message.role === "user" && props.message.user_id) || named("role", props.message.role);
  return (
    <li class={`message ${props.message.role}`} classList={{ source: props.source }}>
      <p class="facts">
        <strong>{speaker()}</strong>
        <Moment at={props.message.timestamp} />
        <Show when={props.source}><span class="badge">{t("sources.source")}</span><FollowLink conversation={props.message.conversation_id} message={props.message.message_id} /></Show>
      </p>
      <Content of={props.message} />
    </li>
  );
}
