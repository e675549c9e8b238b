/** Conversations that the key may read, and what is in context of the one that is chosen. */
import { useNavigate, useParams, useSearchParams } from "@solidjs/router";
import MessagesSquare from "lucide-solid/icons/messages-square";
import Search from "lucide-solid/icons/search";
import { createSignal, Show } from "solid-js";
import { t } from "../i18n";
import { Empty } from "../ui/states";
import { ConversationDetail } from "./ConversationDetail";
import { ConversationList } from "./ConversationList";
import { useTitle } from "../ui/title";

export function ConversationsPage() {
  useTitle(() => t("nav.conversations"));
  const params = useParams<{ id?: string }>();
  const [search] = useSearchParams<{ ns?: string; user?: string; phase?: string }>();
  const navigate = useNavigate();
  const query = () => new URLSearchParams(Object.entries(search).flatMap(([name, value]) => (typeof value === "string" && value && name !== "tab" ? [[name, value]] : [])));
  const to = (id?: string) => `/conversations${id ? `/${encodeURIComponent(id)}` : ""}?${query()}`;
  const id = () => (params.id ? decodeURIComponent(params.id) : undefined);
  return (
    <div class="memories" classList={{ "with-detail": !!id() }}>
      <section class="finding" aria-label={t("nav.conversations")}>
        <div class="toolbar"><h1>{t("nav.conversations")}</h1><Find open={(typed) => navigate(to(typed))} /></div>
        <ConversationList namespace={search.ns || undefined} chosen={id()} to={to} />
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
