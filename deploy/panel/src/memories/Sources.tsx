/** The messages that a memory comes from, each in the conversation where it was said. */
import { useQuery } from "@tanstack/solid-query";
import MessageSquareQuote from "lucide-solid/icons/message-square-quote";
import { For, Match, Show, Switch } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { named, t } from "../i18n";
import { Empty, Loading } from "../ui/states";
import { Moment } from "../ui/Time";
import type { Memory } from "./MemoryRow";

type Message = Shape<"MessageView">;
const AROUND = 2; // messages that are shown before and after a source
const PAGE = 200;
const MOST_PAGES = 10; // of a conversation that is looked through for a source

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

/** The conversation up to the last source; a long one is read a page at a time. Throws ApiProblem. */
async function messagesUpTo(id: string, sources: Set<string>, signal: AbortSignal): Promise<Message[]> {
  const found: Message[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const params = { path: { conversation_id: id }, query: { limit: PAGE, cursor } };
    const page = await answered(api.GET("/v1/conversations/{conversation_id}/messages", { params, signal }));
    found.push(...page.messages);
    cursor = page.next ?? undefined;
    const known = new Set(found.map((message) => message.message_id));
    if (!cursor || [...sources].every((source) => known.has(source))) break;
  }
  return found;
}

/** Sources with what was said around them; `undefined` stands where messages are left out between. */
export function excerpt(messages: Message[], sources: Set<string>): (Message | undefined)[] {
  const near = messages.map((_, at) => messages.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((each) => sources.has(each.message_id)));
  return messages.flatMap((message, at) => (near[at] ? [message] : near[at - 1] ? [undefined] : []));
}

function InConversation(props: { id: string; sources: Set<string> }) {
  const asked = useQuery(() => ({
    queryKey: ["messages", props.id, [...props.sources].sort()],
    queryFn: ({ signal }) => messagesUpTo(props.id, props.sources, signal),
    staleTime: 60_000,
  }));
  const shown = () => (asked.isSuccess ? excerpt(asked.data, props.sources) : []);
  return (
    <section class="conversation">
      <h3>{t("sources.inConversation", { id: props.id })}</h3>
      <Switch fallback={<p class="hint">{t("sources.gone")}</p>}>
        <Match when={asked.isPending}><Loading rows={3} /></Match>
        <Match when={shown().length}>
          <ol class="messages">
            <For each={shown()}>
              {(message) => (
                <Show when={message} fallback={<li class="left-out" aria-hidden="true">⋯</li>}>
                  {(said) => <Said message={said()} source={props.sources.has(said().message_id)} />}
                </Show>
              )}
            </For>
          </ol>
        </Match>
      </Switch>
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
        <Show when={props.source}><span class="badge">{t("sources.source")}</span></Show>
      </p>
      <p class="content" dir="auto">{props.message.content || props.message.tool_calls?.map((call) => call.name).join(", ")}</p>
    </li>
  );
}
