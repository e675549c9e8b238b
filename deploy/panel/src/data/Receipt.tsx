/** The receipt of an erasure: what went of which store, and what remains until when. It is looked at until it is complete. */
import { useQuery } from "@tanstack/solid-query";
import Download from "lucide-solid/icons/download";
import { For, Show } from "solid-js";
import type { Shape } from "../api/client";
import { named, number, t, translated } from "../i18n";
import { Loaded } from "../ui/Loaded";
import { Moment } from "../ui/Time";
import { receiptOf } from "./erasing";
import { fileName, save } from "./transfer";

type Receipt = Shape<"Receipt">;
const LOOK_MS = 1_000;

const removed = (store: Shape<"StoreErased">) => Object.entries(store.removed).filter(([, count]) => count);

export function ReceiptOf(props: { id: string; close: () => void }) {
  const asked = useQuery(() => ({
    queryKey: ["receipt", props.id],
    queryFn: ({ signal }) => receiptOf(props.id, signal),
    refetchInterval: (query: { state: { data?: Receipt } }) => (query.state.data?.status === "complete" ? false : LOOK_MS),
  }));
  return (
    <Loaded of={asked} name={t("erase.receipt")} rows={2}>{(receipt) => <Shown receipt={receipt()} close={props.close} />}</Loaded>
  );
}

function Shown(props: { receipt: Receipt; close: () => void }) {
  const keep = () => save(new Blob([JSON.stringify(props.receipt, null, 2)], { type: "application/json" }), fileName(`receipt-${props.receipt.erasure_id}`, "json"));
  const stores = () => (props.receipt.stores ?? []).filter((each) => each.status === "pending" || removed(each).length);
  const namespaces = () => (props.receipt.namespaces ?? []).filter((each) => each.status === "pending" || each.memories || each.versions || each.vectors || each.kept);
  return (
    <div class="receipt" role="region" aria-label={t("erase.receipt")}>
      <p class="facts" role="status">
        <strong>{t(props.receipt.status === "complete" ? "erase.complete" : "erase.going")}</strong>
        <code class="mono">{Object.values(props.receipt.subject).join(", ")}</code>
        <Moment at={props.receipt.completed_at ?? props.receipt.at} />
        <code class="mono">{props.receipt.erasure_id}</code>
      </p>
      <Show when={props.receipt.nothing_found}><p class="notice">{t("erase.nothingFound")}</p></Show>
      <ul class="removed">
        <For each={namespaces()}>
          {(each) => <li><code class="mono">{each.namespace}</code> {t("erase.inNamespace", { memories: number(each.memories), versions: number(each.versions), vectors: number(each.vectors) })}<Show when={each.kept}> {t("erase.kept", { count: number(each.kept ?? 0) })}</Show></li>}
        </For>
        <For each={stores()}>
          {(store) => <li>{store.store}: {removed(store).map(([what, count]) => `${named("erased", what)} ${number(count)}`).join(", ")} <Show when={store.status === "pending"}><span class="badge">{t("erase.pending")}</span></Show></li>}
        </For>
      </ul>
      <Show when={props.receipt.remains?.length}>
        <details>
          <summary>{t("erase.remains")}</summary>
          <ul class="removed"><For each={props.receipt.remains}>{(each) => <li><code class="mono">{translated("remainsIn", each.code, each.topic)}</code> {translated("remains", each.code, each.holds)}: {translated("remainsBecause", each.code, each.because)} <Show when={each.until}>{(until) => <Moment at={until()} />}</Show></li>}</For></ul>
        </details>
      </Show>
      <div class="actions">
        <button class="button" onClick={keep}><Download aria-hidden="true" />{t("erase.keep")}</button>
        <button class="button quiet" onClick={props.close}>{t("memory.close")}</button>
      </div>
    </div>
  );
}
