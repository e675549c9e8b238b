/** What a query loaded, with a notice if it is out of date; what stands in its place while it loads, and if it could not be loaded. */
import { createEffect, createSignal, Match, onCleanup, Show, Switch, untrack, type JSX } from "solid-js";
import { isRefused } from "../api/client";
import { moment, t } from "../i18n";
import { Again, Failed, failure, Loading, reason } from "./states";

export type Query<T> = { data: T | undefined; isPending: boolean; isLoadingError: boolean; isError: boolean; error: unknown; dataUpdatedAt: number; refetch: () => unknown };

/** The data, also after a failed attempt to load them again. Unlike `data`, it does not hold up the whole view while they load. */
export const loaded = <T,>(query: Query<T>): T | undefined => (query.isPending || query.isLoadingError ? undefined : query.data);

/** The children are made once there are data, and stay while these change. `name` says what is loaded. */
export function Loaded<T>(props: { of: Query<T>; name: string; rows?: number; children: (data: () => T) => JSX.Element }) {
  return (
    <Switch fallback={<Failed error={props.of.error} name={props.name} again={() => void props.of.refetch()} />}>
      <Match when={props.of.isPending}><Loading rows={props.rows} /></Match>
      <Match when={!props.of.isLoadingError && !isRefused(props.of.error)}>
        <Outdated of={props.of} name={props.name} />
        {untrack(() => props.children(() => props.of.data as T))}
      </Match>
    </Switch>
  );
}

const [outdated, setOutdated] = createSignal<Query<unknown>[]>([]); // all on the page

/** Says since when the data were not updated, after an attempt that failed. */
export function Outdated(props: { of: Query<unknown>; name: string }) {
  createEffect(() => {
    const query = props.of;
    if (!query.isError) return;
    setOutdated((others) => [...others, query]);
    onCleanup(() => setOutdated((all) => all.filter((each) => each !== query)));
  });
  return (
    <Show when={props.of.isError}>
      <div class="outdated">
        <span>{t("state.outdated", { time: moment(props.of.dataUpdatedAt), reason: reason(props.of.error) })}</span>
        <Again class="as-text" name={props.name} again={() => void props.of.refetch()} />
      </div>
    </Show>
  );
}

/** Announces once for the page that parts of it could not be loaded, or are out of date. It is always in the document, so that screen readers announce what comes into it. */
export function Announcement() {
  const said = () => {
    if (failure()) return t("state.partFailed", { reason: reason(failure()!.error) });
    return outdated()[0] ? t("state.partOutdated", { reason: reason(outdated()[0]!.error) }) : "";
  };
  return <p class="hidden" role="status">{said()}</p>;
}
