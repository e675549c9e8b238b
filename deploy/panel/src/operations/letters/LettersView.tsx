/** Dead letters: those that wait by stage and reason, one with its record, replaying and discarding. */
import { useNavigate, useParams, useSearchParams } from "@solidjs/router";
import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/solid-query";
import MailCheck from "lucide-solid/icons/mail-check";
import MailX from "lucide-solid/icons/mail-x";
import { createSignal, For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { mayEverywhere } from "../../app/session";
import { number } from "../../i18n";
import { Loaded, loaded } from "../../ui/Loaded";
import { Rows } from "../../ui/Rows";
import { Empty } from "../../ui/states";
import { Moment } from "../../ui/Time";
import { act } from "../act";
import { Confirm } from "../../ui/Confirm";
import { w, word } from "../words";
import { LetterDetail } from "./LetterDetail";

type Letter = Shape<"LetterView">;
type Group = Shape<"LetterGroup">;
type How = "replay" | "discard";
type Filter = { ns?: string; stage?: string; reason?: string; status?: Letter["status"] | "any" };
const STATUSES = ["waiting", "replayed", "discarded", "any"] as const;

export function LettersView() {
  const params = useParams<{ id?: string }>();
  const [search, setSearch] = useSearchParams<Filter>();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const [chosen, setChosen] = createSignal<string[]>([]);
  const asked = useInfiniteQuery(() => ({
    queryKey: ["letters", search.status, search.stage, search.reason],
    queryFn: ({ signal, pageParam }) => {
      const query = { status: search.status ?? "waiting", stage: search.stage, reason: search.reason, limit: 50, cursor: pageParam };
      return answered(api.GET("/v1/dead-letters", { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: 15_000,
    placeholderData: keepPreviousData,
    select: ({ pages }) => ({ letters: pages.flatMap((page) => page.letters), groups: (pages[0]?.waiting ?? []).map((group) => ({ ...group })) }),
    reconcile: "letter",
  }));
  const letters = () => loaded(asked)?.letters ?? [];
  const groups = () => loaded(asked)?.groups ?? [];
  const open = (letter?: string) => navigate(`/operations/letters${letter ? `/${letter}` : ""}${window.location.hash.replace(/^[^?]*/, "")}`);
  const settle = async (how: How, places: string[]) => {
    const body = { letters: places, again: true };
    const post = how === "replay" ? api.POST("/v1/dead-letters/replay", { body }) : api.POST("/v1/dead-letters/discard", { body });
    await act(() => answered(post), (done) => said(how, done));
    setChosen([]);
    await cache.invalidateQueries({ predicate: (query) => ["letters", "letter", "pipeline"].includes(String(query.queryKey[0])) });
  };
  return (
    <>
      <p class="hint">{w("letters.hint")}</p>
      <Filters groups={groups()} filter={search} set={(filter) => (setChosen([]), setSearch(filter))} />
      <Loaded of={asked} name={w("letters.list")}>
        {() => (
          <Show when={letters().length || params.id} fallback={
            <Empty icon={<MailCheck />} title={search.stage || search.reason || search.status ? w("letters.emptyOther") : w("letters.empty")} hint={w("letters.emptyHint")} />
          }>
            <div class="beside" classList={{ "with-detail": !!params.id }}>
              <section class="panel-card letters" aria-label={w("letters.list")}>
                <Show when={mayEverywhere("admin")}><Actions letters={letters()} chosen={chosen()} choose={setChosen} settle={settle} /></Show>
                <Rows label={w("letters.list")}>
                  <For each={letters()}>
                    {(letter) => (
                      <li class="letter-row">
                        <Show when={mayEverywhere("admin")}>
                          <input
                            type="checkbox" aria-label={w("letters.select", { letter: letter.letter })} checked={chosen().includes(letter.letter)}
                            onChange={(event) => setChosen(event.currentTarget.checked ? [...chosen(), letter.letter] : chosen().filter((each) => each !== letter.letter))}
                          />
                        </Show>
                        <button class="row plain" classList={{ chosen: letter.letter === params.id }} aria-current={letter.letter === params.id ? "true" : undefined} onClick={() => open(letter.letter)}>
                          <span class="kind-icon quote" aria-hidden="true"><MailX /></span>
                          <span class="row-body">
                            <span class="row-text" dir="auto">{letter.detail || letter.reason}</span>
                            <span class="facts"><strong>{letter.reason}</strong><span>{word("stage", letter.stage)}</span><Moment at={letter.at} /><span class="badge">{w(`letters.${letter.status}`)}</span></span>
                          </span>
                        </button>
                      </li>
                    )}
                  </For>
                </Rows>
                <Show when={asked.hasNextPage}><button class="button" disabled={asked.isFetchingNextPage} onClick={() => void asked.fetchNextPage()}>{w("common.more")}</button></Show>
              </section>
              <section class="panel-card detail-card" aria-label={w("letters.record")}>
                <Show when={params.id} keyed fallback={<Empty icon={<MailX />} title={w("letters.choose")} />}>
                  {(id) => <LetterDetail id={id} close={() => open()} settle={(how) => settle(how, [id])} />}
                </Show>
              </section>
            </div>
          </Show>
        )}
      </Loaded>
    </>
  );
}

function said(how: How, done: Shape<"LetterOutcomes">): string {
  const failed = done.outcomes.filter((each) => each.status === "failed");
  const count = number(done.outcomes.length - failed.length);
  const good = how === "replay" ? w("letters.replayedSome", { count }) : w("letters.discardedSome", { count });
  return failed.length ? `${good}. ${w("letters.someFailed", { count: number(failed.length), why: failed[0]?.error ?? "" })}` : good;
}

function Filters(props: { groups: Group[]; filter: Filter; set: (filter: Filter) => void }) {
  const pressed = (group: Group) => props.filter.stage === group.stage && props.filter.reason === group.reason;
  const press = (group: Group) => props.set(pressed(group) ? { stage: undefined, reason: undefined } : { stage: group.stage, reason: group.reason, status: undefined });
  return (
    <div class="filters flat">
      <label class="with-label">
        <span class="hint">{w("letters.status")}</span>
        <select class="choice" value={props.filter.status ?? "waiting"} onChange={(event) => props.set({ status: event.currentTarget.value as Letter["status"] })}>
          <For each={STATUSES}>{(status) => <option value={status} selected={status === (props.filter.status ?? "waiting")}>{w(`letters.${status}`)}</option>}</For>
        </select>
      </label>
      <div class="chips" role="group" aria-label={w("letters.groups")}>
        <For each={props.groups}>
          {(group) => (
            <button class="chip pill" classList={{ pressed: pressed(group) }} aria-pressed={pressed(group)} onClick={() => press(group)}>
              {word("stage", group.stage)} · {group.reason} <span class="count">{number(group.letters)}</span>
            </button>
          )}
        </For>
      </div>
    </div>
  );
}

function Actions(props: { letters: Letter[]; chosen: string[]; choose: (places: string[]) => void; settle: (how: How, places: string[]) => Promise<void> }) {
  const all = () => props.letters.length > 0 && props.chosen.length === props.letters.length;
  const count = () => number(props.chosen.length);
  return (
    <div class="actions choosing">
      <label class="check"><input type="checkbox" checked={all()} onChange={(event) => props.choose(event.currentTarget.checked ? props.letters.map((each) => each.letter).slice(0, MOST_AT_ONCE) : [])} />{w("letters.selectAll")}</label>
      <span class="hint grow">{props.chosen.length ? w("letters.selected", { count: count() }) : ""}</span>
      <Confirm text={w("letters.replay")} title={w("letters.replayTitle", { count: count() })} hint={w("letters.replayHint")} disabled={!props.chosen.length} primary act={() => void props.settle("replay", props.chosen)} />
      <Confirm text={w("letters.discard")} title={w("letters.discardTitle", { count: count() })} hint={w("letters.discardHint")} disabled={!props.chosen.length} danger act={() => void props.settle("discard", props.chosen)} />
    </div>
  );
}

const MOST_AT_ONCE = 100; // as many as the API settles at once
