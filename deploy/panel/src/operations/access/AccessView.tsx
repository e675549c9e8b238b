/** Keys of the API and the audit, for administrators. */
import { useSearchParams } from "@solidjs/router";
import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/solid-query";
import ScrollText from "lucide-solid/icons/scroll-text";
import { For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { me, mayEverywhere } from "../../app/session";
import { Loaded } from "../../ui/Loaded";
import { Empty } from "../../ui/states";
import { Moment, now } from "../../ui/Time";
import { act } from "../act";
import { Confirm } from "../../ui/Confirm";
import { Rows, Table } from "../Table";
import { w, word } from "../words";
import { MakeKey } from "./MakeKey";

type Key = Shape<"Key">;

export function AccessView() {
  return (
    <Show when={mayEverywhere("admin")} fallback={<Empty icon={<ScrollText />} title={w("access.forAdministrators")} />}>
      <Keys />
      <Audit />
    </Show>
  );
}

function Keys() {
  const cache = useQueryClient();
  const changed = () => cache.invalidateQueries({ predicate: (query) => ["table", "audit"].includes(String(query.queryKey[0])) });
  const revoke = async (key: Key) => {
    await act(() => answered(api.DELETE("/v1/keys/{key_id}", { params: { path: { key_id: key.key_id } } })), () => w("access.revokedNow", { name: key.name }));
    await changed();
  };
  const state = (key: Key) => (key.revoked_at ? "revoked" : key.expires_at && Date.parse(key.expires_at) <= now() ? "expired" : "holds");
  return (
    <>
      <MakeKey made={() => void changed()} />
      <Table<Key>
        name={w("access.keys")}
        id="key_id"
        read={async (signal) => ({ rows: (await answered(api.GET("/v1/keys", { signal }))).keys })}
        columns={[
          { name: w("access.name"), of: (key) => <><strong>{key.name}</strong> <Show when={key.key_id === me()?.key_id}><span class="badge">{w("access.yours")}</span></Show></> },
          { name: w("access.grants"), of: (key) => <ul><For each={key.grants}>{(grant) => <li>{word("right", grant.right)} <code class="mono">{grant.namespaces}</code></li>}</For></ul> },
          { name: w("common.status"), of: (key) => <span class="state" classList={{ good: state(key) === "holds" }}>{w(`access.${state(key)}`)}</span> },
          { name: w("access.made"), of: (key) => <Moment at={key.created_at} /> },
          { name: w("access.used"), of: (key) => <Show when={key.last_used_at} fallback={w("access.never")}>{(at) => <Moment at={at()} />}</Show> },
          { name: w("access.until"), of: (key) => <Show when={key.expires_at} fallback="–">{(at) => <Moment at={at()} />}</Show> },
          { name: w("work.act"), of: (key) => <Show when={state(key) === "holds"}><Confirm text={w("access.revoke")} title={w("access.revokeTitle", { name: key.name })} hint={key.key_id === me()?.key_id ? w("access.revokeOwn") : w("access.revokeHint")} danger act={() => void revoke(key)} /></Show> },
        ]}
      />
    </>
  );
}

function Audit() {
  const [search, setSearch] = useSearchParams<{ action?: string }>();
  const asked = useInfiniteQuery(() => ({
    queryKey: ["audit", search.action],
    queryFn: ({ signal, pageParam }) => answered(api.GET("/v1/audit", { params: { query: { limit: 50, action: search.action || undefined, cursor: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    select: ({ pages }) => pages.flatMap((page) => page.entries),
    reconcile: "id",
  }));
  return (
    <section class="panel-card" aria-label={w("access.audit")}>
      <div class="page-head"><h2>{w("access.audit")}</h2>
        <label class="with-label"><span class="hint">{w("access.action")}</span><input class="choice" placeholder={w("access.anyAction")} value={search.action ?? ""} maxlength="100" onChange={(event) => setSearch({ action: event.currentTarget.value.trim() || undefined }, { replace: true })} /></label>
      </div>
      <p class="hint">{w("access.auditHint")}</p>
      <Loaded of={asked} name={w("access.audit")} rows={3}>
        {(entries) => (
          <Show when={entries().length} fallback={<Empty icon={<ScrollText />} title={w("access.noAudit")} />}>
            <Rows
              name={w("access.audit")}
              rows={entries()}
              columns={[
                { name: w("access.when"), of: (entry) => <Moment at={entry.at} /> },
                { name: w("access.who"), of: (entry) => entry.actor },
                { name: w("access.did"), of: (entry) => entry.action },
                { name: w("access.to"), of: (entry) => <span class="mono">{entry.subject}</span> },
                { name: w("access.details"), of: (entry) => <Details of={entry.details} /> },
              ]}
            />
            <Show when={asked.hasNextPage}><button class="button" onClick={() => void asked.fetchNextPage()}>{w("common.more")}</button></Show>
          </Show>
        )}
      </Loaded>
    </section>
  );
}

function Details(props: { of: Record<string, unknown> }) {
  return (
    <Show when={Object.keys(props.of).length} fallback="–">
      <details><summary>{w("common.show")}</summary><pre class="prompt" tabindex="0">{JSON.stringify(props.of, null, 2)}</pre></details>
    </Show>
  );
}
