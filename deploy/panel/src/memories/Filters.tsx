/** Filters of the list; each is a part of the address. */
import { SegmentedControl } from "@kobalte/core/segmented-control";
import { ToggleGroup } from "@kobalte/core/toggle-group";
import { useQuery } from "@tanstack/solid-query";
import X from "lucide-solid/icons/x";
import { For, Show, type JSX } from "solid-js";
import { answered, api } from "../api/client";
import { named, number, t } from "../i18n";
import { loaded } from "../ui/Loaded";
import { STATUSES, TIERS, useAddress } from "./address";
import { describedKind, KindIcon, kindName } from "./kinds";
import { SearchFilters } from "./SearchFilters";

export const useStatistics = (namespace: () => string) =>
  useQuery(() => ({
    queryKey: ["statistics", namespace()],
    queryFn: ({ signal }) => answered(api.GET("/v1/statistics", { params: { query: { namespace: namespace() } }, signal })),
  }));

export function Filters(props: { namespace: string }) {
  const address = useAddress();
  const statistics = useStatistics(() => props.namespace);
  const counts = () => loaded(statistics)?.kinds ?? {};
  const kinds = () => [...new Set([...Object.keys(counts()), ...address.kinds()])];
  return (
    <>
      <div class="filters" role="group" aria-label={t("list.filters")}>
        <Show when={address.text()}>
          <Segments label={t("list.tier")} value={address.tier()} values={TIERS} text={(each) => t(`list.${each}`)} choose={(chosen) => address.set({ in: chosen === "both" ? undefined : chosen })} />
        </Show>
        <Show when={kinds().length && !(address.text() && address.tier() === "said")}>
          <ToggleGroup class="chips" multiple value={address.kinds()} onChange={(chosen) => address.set({ kind: chosen })} aria-label={t("list.kinds")}>
            <For each={kinds()}>
              {(kind) => (
                <ToggleGroup.Item class="chip" value={kind} title={describedKind(kind) ?? kindName(kind)}>
                  <KindIcon kind={kind} />
                  <span class="name">{kindName(kind)}</span>
                  <span class="count">{number(counts()[kind] ?? 0)}</span>
                </ToggleGroup.Item>
              )}
            </For>
          </ToggleGroup>
        </Show>
        <Show when={!address.text()}>
          <Segments label={t("list.status")} value={address.status()} values={STATUSES} text={(each) => named("status", each)} choose={(chosen) => address.set({ status: chosen === "active" ? undefined : chosen, ...(chosen === "deleted" && { tag: undefined }) })} />
          <Choice label={t("list.order")} value={address.order()} choose={(chosen) => address.set({ order: chosen === "created" ? chosen : undefined })}>
            <option value="importance">{t("list.byImportance")}</option>
            <option value="created">{t("list.byNewest")}</option>
          </Choice>
        </Show>
        <Choice label={t("list.least")} value={String(address.least())} choose={(chosen) => address.set({ min: chosen === "0" ? undefined : chosen })}>
          <option value="0">{t("list.least")}: {t("list.any")}</option>
          <For each={[3, 5, 7, 9]}>{(tenths) => <option value={tenths}>{t("list.least")} {tenths}</option>}</For>
        </Choice>
        <Show when={address.tag()}>
          {(tag) => (
            <button class="chip pressed" onClick={() => address.set({ tag: undefined })} aria-label={`${t("list.removeTag")}: ${tag()}`}>
              #{tag()} <X aria-hidden="true" />
            </button>
          )}
        </Show>
      </div>
      <Show when={address.text()}><SearchFilters /></Show>
    </>
  );
}

type SegmentsProps<T extends string> = { label: string; value: T; values: T[]; text: (value: T) => string; choose: (value: T) => void };

function Segments<T extends string>(props: SegmentsProps<T>) {
  return (
    <SegmentedControl class="segments" value={props.value} onChange={(chosen) => props.choose(chosen as T)} aria-label={props.label}>
      <For each={props.values}>
        {(each) => (
          <SegmentedControl.Item class="segment" value={each}>
            <SegmentedControl.ItemInput />
            <SegmentedControl.ItemLabel class="segment-label">{props.text(each)}</SegmentedControl.ItemLabel>
          </SegmentedControl.Item>
        )}
      </For>
    </SegmentedControl>
  );
}

function Choice(props: { label: string; value: string; choose: (value: string) => void; children: JSX.Element }) {
  return (
    <select class="choice" aria-label={props.label} value={props.value} onChange={(event) => props.choose(event.currentTarget.value)}>
      {props.children}
    </select>
  );
}
