/** What a query loaded, with a notice if it is out of date; what stands in its place while it loads, and if it could not be loaded. */
import { Match, Show, Switch, type JSX } from "solid-js";
import { isRefused } from "../api/client";
import { moment, t } from "../i18n";
import { Failed, Loading, reason } from "./states";

export type Query<T> = { data: T | undefined; isPending: boolean; isLoadingError: boolean; isError: boolean; error: unknown; dataUpdatedAt: number; refetch: () => unknown };

/** The data, also after a failed attempt to load them again. Unlike `data`, it does not hold up the whole view while they load. */
export const loaded = <T,>(query: Query<T>): T | undefined => (query.isPending || query.isLoadingError ? undefined : query.data);

/** The children are made once there are data. */
export function Loaded(props: { of: Query<unknown>; rows?: number; children: JSX.Element }) {
  return (
    <Switch fallback={<Failed error={props.of.error} again={() => void props.of.refetch()} />}>
      <Match when={props.of.isPending}><Loading rows={props.rows} /></Match>
      <Match when={!props.of.isLoadingError && !isRefused(props.of.error)}>
        <Outdated of={props.of} />
        {props.children}
      </Match>
    </Switch>
  );
}

/** Says since when the data were not updated, after an attempt that failed. The status is always in the document, so that screen readers
 * announce what comes into it. */
export function Outdated(props: { of: Query<unknown> }) {
  const said = () => t("state.outdated", { time: moment(props.of.dataUpdatedAt), reason: reason(props.of.error) });
  return (
    <div class="outdated">
      <span role="status">{props.of.isError ? said() : ""}</span>
      <Show when={props.of.isError}><button class="as-text" onClick={() => void props.of.refetch()}>{t("state.again")}</button></Show>
    </div>
  );
}
