/** The list: read a page at a time, of which only what is in sight is in the document, so that 10,000 scroll smoothly. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/solid-query";
import { createVirtualizer } from "@tanstack/solid-virtual";
import Inbox from "lucide-solid/icons/inbox";
import { createEffect, createMemo, For, Show } from "solid-js";
import { answered, api } from "../api/client";
import { number, t } from "../i18n";
import { Loaded, loaded } from "../ui/Loaded";
import { Empty } from "../ui/states";
import { UNFILTERED, useAddress, type Address } from "./address";
import { useStatistics } from "./Filters";
import { useKeysOfLongList, useOneStop } from "./keys";
import { MemoryRow, type Memory } from "./MemoryRow";

const FIRST_PAGE = 100;
const PAGE = 500;
const ROW_PX = 76;
const AHEAD = 30; // rows before the end of what is read, from where on the next page is asked for

function useMemories(namespace: () => string, address: Address) {
  const filters = () => ({
    namespace: namespace(),
    kind: address.kinds(),
    tag: address.tag() ? [address.tag()!] : [],
    status: [address.status()],
    min_importance: address.least(),
    scale: "tenths" as const,
    order: address.order(),
  });
  return useInfiniteQuery(() => ({
    queryKey: ["memories", filters()],
    queryFn: ({ pageParam, signal }) =>
      answered(api.GET("/v1/memories", { params: { query: { ...filters(), limit: pageParam ? PAGE : FIRST_PAGE, cursor: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  }));
}

export function MemoryList(props: { namespace: string; chosen?: string }) {
  const address = useAddress();
  const asked = useMemories(() => props.namespace, address);
  const statistics = useStatistics(() => props.namespace);
  // A memo: rows read it once each.
  const memories = createMemo((): Memory[] => loaded(asked)?.pages.flatMap((page) => page.memories) ?? []);
  const total = () => (address.filtered() ? undefined : loaded(statistics)?.live);
  const count = () => (asked.hasNextPage ? total() : memories().length);
  return (
    <Loaded of={asked} name={t("list.label")}>
      {() => (
        <Show when={memories().length} fallback={
          <Show when={address.filtered()} fallback={<Empty icon={<Inbox />} title={t("list.empty")} hint={t("list.emptyHint")} />}>
            <Empty icon={<Inbox />} title={t("list.noMatch")} hint={t("list.noMatchHint")}>
              <button class="button" onClick={() => address.set(UNFILTERED)}>{t("list.reset")}</button>
            </Empty>
          </Show>
        }>
          <p class="summary" role="status">
            {t("list.count", { count: count() === undefined ? `${number(memories().length)}+` : number(count()!) })}
          </p>
          <VirtualList memories={memories()} chosen={props.chosen} total={count() ?? -1} more={() => asked.hasNextPage && !asked.isFetchingNextPage && !asked.isError && void asked.fetchNextPage()} />
        </Show>
      )}
    </Loaded>
  );
}

function VirtualList(props: { memories: Memory[]; chosen?: string; total: number; more: () => void }) {
  let scroller!: HTMLDivElement;
  const rows = createVirtualizer({
    get count() { return props.memories.length; },
    getScrollElement: () => scroller,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => props.memories[index]?.memory_id ?? index,
    overscan: 12,
  });
  useOneStop(() => scroller);
  const moveByKeys = useKeysOfLongList(() => scroller, () => props.memories.length, (place) => rows.scrollToIndex(place));
  createEffect(() => {
    if ((rows.getVirtualItems().at(-1)?.index ?? 0) >= props.memories.length - AHEAD) props.more();
  });
  return (
    <div class="scroller" ref={scroller} onKeyDown={moveByKeys}>
      <ul class="rows" style={{ height: `${rows.getTotalSize()}px` }} aria-label={t("list.label")}>
        <For each={rows.getVirtualItems()}>
          {(item) => (
            <li
              data-index={item.index} aria-posinset={item.index + 1} aria-setsize={props.total}
              ref={(element) => queueMicrotask(() => rows.measureElement(element))} style={{ transform: `translateY(${item.start}px)` }}
            >
              <Show when={props.memories[item.index]}>
                {(memory) => <MemoryRow memory={memory()} chosen={memory().memory_id === props.chosen} />}
              </Show>
            </li>
          )}
        </For>
      </ul>
    </div>
  );
}
