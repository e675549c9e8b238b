/** Whether what is remembered is of use: how many contexts had memories, how many searches found something, and what a cache answered. */
import { For, Show } from "solid-js";
import type { Shape } from "../api/client";
import { number, percent, t } from "../i18n";

type Day = Shape<"NamespaceDay">;
/** What part of what was asked was answered so; of a day, or of all days. */
export const RATES = [
  { name: "withMemories", part: "contexts_with_memories", all: "contexts" },
  { name: "searchesFound", part: "searches_found", all: "searches" },
  { name: "fromCache", part: "reads_cached", all: "reads" },
] as const;

/** "75% (30 of 40)"; of a day on which nothing was asked: a dash. */
export const rateOf = (day: Day, { part, all }: (typeof RATES)[number]) =>
  day[all] ? t("insights.rate", { share: percent((day[part] ?? 0) / day[all]), part: number(day[part] ?? 0), all: number(day[all]) }) : "–";

export function Hits(props: { days: Day[] }) {
  const sum = (name: (typeof RATES)[number]["part" | "all"]) => props.days.reduce((all, each) => all + (each[name] ?? 0), 0);
  const rates = () => RATES.map((rate) => ({ ...rate, part: sum(rate.part), all: sum(rate.all) })).filter((rate) => rate.all);
  return (
    <section class="hits" aria-label={t("insights.hits")}>
      <h3>{t("insights.hits")}</h3>
      <Show when={rates().length} fallback={<p class="hint">{t("insights.noQuestions")}</p>}>
        <p class="hint">{t("insights.hitsHint")}</p>
        <dl class="figures">
          <For each={rates()}>
            {(rate) => (
              <div><dt>{t(`insights.${rate.name}`)}</dt><dd>{percent(rate.part / rate.all)} <span class="hint">{t("insights.ofAll", { part: number(rate.part), all: number(rate.all) })}</span></dd></div>
            )}
          </For>
        </dl>
      </Show>
    </section>
  );
}
