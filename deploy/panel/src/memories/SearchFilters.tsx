/** Filters that a search has and the list has not: times, confidence, pinned. Each is a part of the address. */
import { createComputed, createSignal, For } from "solid-js";
import { percent, t } from "../i18n";
import { useAddress } from "./address";
import { asTyped, momentOf } from "./times";

const CONFIDENCES = [50, 70, 90];
const LAST_DAY = "9999-12-31";

export function SearchFilters() {
  const address = useAddress();
  const [open, setOpen] = createSignal(false);
  createComputed(() => address.narrowed() && setOpen(true)); // and it stays open when the last one is removed
  return (
    <details class="more-filters" open={open()} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("list.moreFilters")}</summary>
      <div class="fields">
        <Time label={t("list.saidFrom")} type="date" value={address.from()} change={(from) => address.set({ from })} />
        <Time label={t("list.saidBefore")} type="date" value={address.before()} change={(before) => address.set({ before })} />
        <Time label={t("list.validAt")} type="datetime-local" value={asTyped(address.at())} change={(at) => address.set({ at: at && momentOf(at) })} disabled={address.tier() === "said"} />
        <label class="field">
          <span>{t("list.confidence")}</span>
          <select value={String(address.confidence())} disabled={address.tier() === "said"} onChange={(event) => address.set({ sure: event.currentTarget.value === "0" ? undefined : event.currentTarget.value })}>
            <option value="0">{t("list.any")}</option>
            <For each={CONFIDENCES}>{(each) => <option value={each}>{percent(each / 100)}</option>}</For>
          </select>
        </label>
        <button type="button" class="chip" classList={{ pressed: address.pinned() }} aria-pressed={address.pinned()} disabled={address.tier() === "said"} onClick={() => address.set({ pinned: address.pinned() ? undefined : "yes" })}>
          {t("list.pinned")}
        </button>
      </div>
    </details>
  );
}

type TimeProps = { label: string; type: "date" | "datetime-local"; value?: string; change: (value?: string) => void; disabled?: boolean };

function Time(props: TimeProps) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        type={props.type} max={props.type === "date" ? LAST_DAY : `${LAST_DAY}T23:59`} value={props.value ?? ""} disabled={props.disabled}
        onChange={({ currentTarget: input }) => input.validity.badInput || props.change(input.value || undefined)}
      />
    </label>
  );
}
