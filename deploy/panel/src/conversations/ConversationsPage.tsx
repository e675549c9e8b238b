/** Conversations of a namespace: those that memories come from, and what is in context of the one that is chosen. */
import { A, useNavigate, useParams, useSearchParams } from "@solidjs/router";
import { useQuery } from "@tanstack/solid-query";
import MessagesSquare from "lucide-solid/icons/messages-square";
import Search from "lucide-solid/icons/search";
import { createSignal, For, Match, Show, Switch } from "solid-js";
import { answered, api } from "../api/client";
import { number, t } from "../i18n";
import { Empty, Failed, Loading } from "../ui/states";
import { Ago } from "../ui/Time";
import { ConversationDetail } from "./ConversationDetail";

const MOST = 500; // memories that are looked through for their conversations

/** The conversations that the newest memories come from, the latest first. */
async function conversationsOf(namespace: string, signal: AbortSignal) {
  const query = { namespace, order: "created" as const, detail: "full" as const, limit: MOST };
  const page = await answered(api.GET("/v1/memories", { params: { query }, signal }));
  const found = new Map<string, { id: string; memories: number; at: string }>();
  for (const source of page.memories.flatMap((memory) => memory.sources ?? [])) {
    const known = found.get(source.conversation_id) ?? { id: source.conversation_id, memories: 0, at: "" };
    const at = source.timestamp ?? "";
    found.set(source.conversation_id, { ...known, memories: known.memories + 1, at: at > known.at ? at : known.at });
  }
  return [...found.values()].sort((a, b) => b.at.localeCompare(a.at));
}

export function ConversationsPage() {
  const params = useParams<{ id?: string }>();
  const [search] = useSearchParams<{ ns?: string }>();
  const navigate = useNavigate();
  const to = (id?: string) => `/conversations${id ? `/${encodeURIComponent(id)}` : ""}?ns=${encodeURIComponent(search.ns ?? "")}`;
  const id = () => (params.id ? decodeURIComponent(params.id) : undefined);
  return (
    <div class="memories" classList={{ "with-detail": !!id() }}>
      <section class="finding" aria-label={t("nav.conversations")}>
        <div class="toolbar"><h1>{t("nav.conversations")}</h1><Find open={(typed) => navigate(to(typed))} /></div>
        <Show when={search.ns} keyed fallback={<Empty icon={<MessagesSquare />} title={t("nav.chooseNamespace")} />}>
          {(namespace) => <List namespace={namespace} chosen={id()} to={to} />}
        </Show>
      </section>
      <aside class="chosen" aria-label={t("conversation.window")}>
        <Show when={id()} keyed fallback={<Empty icon={<MessagesSquare />} title={t("conversation.choose")} />}>
          {(chosen) => <ConversationDetail id={chosen} close={() => navigate(to())} />}
        </Show>
      </aside>
    </div>
  );
}

function Find(props: { open: (id: string) => void }) {
  const [typed, setTyped] = createSignal("");
  return (
    <form class="search" role="search" onSubmit={(event) => (event.preventDefault(), typed().trim() && props.open(typed().trim()))}>
      <Search aria-hidden="true" />
      <input aria-label={t("conversation.id")} placeholder={t("conversation.find")} value={typed()} onInput={(event) => setTyped(event.currentTarget.value)} />
    </form>
  );
}

function List(props: { namespace: string; chosen?: string; to: (id: string) => string }) {
  const asked = useQuery(() => ({
    queryKey: ["conversations", props.namespace],
    queryFn: ({ signal }) => conversationsOf(props.namespace, signal),
  }));
  return (
    <Switch>
      <Match when={asked.isPending}><Loading /></Match>
      <Match when={asked.isError}><Failed error={asked.error} again={() => void asked.refetch()} /></Match>
      <Match when={asked.isSuccess && !asked.data.length}><Empty icon={<MessagesSquare />} title={t("conversation.none")} hint={t("conversation.noneHint")} /></Match>
      <Match when={asked.isSuccess}>
        <div class="scroller">
          <ul class="rows flowing">
            <For each={asked.data}>
              {(each) => (
                <li>
                  <A class="row" classList={{ chosen: each.id === props.chosen }} href={props.to(each.id)} noScroll>
                    <span class="kind-icon quote" aria-hidden="true"><MessagesSquare /></span>
                    <span class="row-body">
                      <span class="row-text">{each.id}</span>
                      <span class="facts"><span>{each.memories === 1 ? t("conversation.source") : t("conversation.sources", { count: number(each.memories) })}</span><Show when={each.at}><Ago at={each.at} /></Show></span>
                    </span>
                  </A>
                </li>
              )}
            </For>
          </ul>
        </div>
      </Match>
    </Switch>
  );
}
