/** Memories of a namespace: a list or what a search found, and beside it the one that is chosen. */
import { useNavigate, useParams } from "@solidjs/router";
import NotebookText from "lucide-solid/icons/notebook-text";
import Plus from "lucide-solid/icons/plus";
import Search from "lucide-solid/icons/search";
import X from "lucide-solid/icons/x";
import { createEffect, createSignal, on, onCleanup, Show } from "solid-js";
import { may } from "../app/session";
import { t } from "../i18n";
import { Empty } from "../ui/states";
import { useAddress } from "./address";
import { Detail } from "./Detail";
import { Editor } from "./Editor";
import { Filters } from "./Filters";
import { MemoryList } from "./MemoryList";
import { Results } from "./Results";
import { useTitle } from "../ui/title";

const TYPING_MS = 250;

export function MemoriesPage() {
  useTitle(() => t("nav.memories"));
  const address = useAddress();
  const params = useParams<{ id?: string }>();
  const navigate = useNavigate();
  const id = () => (params.id ? decodeURIComponent(params.id) : undefined);
  const [creating, setCreating] = createSignal(false);
  return (
    <div class="memories" classList={{ "with-detail": !!id() }}>
      <section class="finding" aria-label={t("list.label")}>
        <div class="toolbar">
          <h1>{t("nav.memories")}</h1>
          <SearchField />
          <Show when={address.namespace() && may("write", address.namespace()!)}>
            <button class="button primary" onClick={() => setCreating(true)} aria-label={t("list.create")}>
              <Plus aria-hidden="true" />
              <span class="wide-only">{t("list.create")}</span>
            </button>
            <Editor namespace={address.namespace()!} open={creating()} close={() => setCreating(false)} />
          </Show>
        </div>
        <Show when={address.namespace()} keyed fallback={<Empty icon={<NotebookText />} title={t("nav.chooseNamespace")} hint={t("list.chooseHint")} />}>
          {(namespace) => (
            <>
              <Filters namespace={namespace} />
              <Show when={address.text()} fallback={<MemoryList namespace={namespace} chosen={id()} />}>
                <Results namespace={namespace} chosen={id()} />
              </Show>
            </>
          )}
        </Show>
      </section>
      <aside class="chosen" aria-label={t("tabs.about")}>
        <Show when={id()} keyed fallback={<Empty icon={<NotebookText />} title={t("memory.choose")} />}>
          {(memoryId) => <Detail id={memoryId} close={() => navigate(address.to())} />}
        </Show>
      </aside>
    </div>
  );
}

function SearchField() {
  const address = useAddress();
  const [typed, setTyped] = createSignal(address.text());
  let timer = 0;
  createEffect(on(address.text, (text) => setTyped(text)));
  onCleanup(() => clearTimeout(timer));
  const search = (text: string, soon = TYPING_MS) => {
    setTyped(text);
    clearTimeout(timer);
    timer = window.setTimeout(() => address.set({ q: text.trim() || undefined }), soon);
  };
  return (
    <form class="search" role="search" onSubmit={(event) => (event.preventDefault(), search(typed(), 0))}>
      <Search aria-hidden="true" />
      <input
        type="search" aria-label={t("list.searchLabel")} placeholder={t("list.search")} value={typed()} maxlength="2000"
        onInput={(event) => search(event.currentTarget.value)}
      />
      <Show when={typed()}>
        <button type="button" class="icon-button" aria-label={t("list.clear")} onClick={() => search("", 0)}><X /></button>
      </Show>
    </form>
  );
}
