/** The token window as a picture: what each role takes of the model's context, against the limits from which on messages leave. */
import { For } from "solid-js";
import type { Shape } from "../api/client";
import { named, number, t } from "../i18n";

const ROLES = ["system", "user", "assistant", "tool"] as const;
const LINES = [80, 90]; // percent of the context, from which on messages leave, and leave faster

export function TokenWindow(props: { statistics: Shape<"StatisticsView"> }) {
  const taken = () => ROLES.map((role) => ({ role, tokens: props.statistics.tokens_by_role[role] ?? 0 })).filter((each) => each.tokens);
  const share = (tokens: number) => (tokens / (props.statistics.context_tokens || 1)) * 100;
  const said = () => t("conversation.used", { percent: number(props.statistics.percent_used, 1), tokens: number(props.statistics.total_tokens), most: number(props.statistics.context_tokens) });
  return (
    <figure class="window">
      <figcaption class="facts">
        <strong>{said()}</strong>
        <span class={`badge level ${props.statistics.level}`}>{t(`level.${props.statistics.level}`)}</span>
      </figcaption>
      <div class="window-bar" role="img" aria-label={said()}>
        <For each={taken()}>{(each) => <span class={`part ${each.role}`} style={{ width: `${share(each.tokens)}%` }} />}</For>
        <For each={LINES}>{(line) => <span class="line" style={{ left: `${line}%` }}><span>{number(line)} %</span></span>}</For>
      </div>
      <ul class="legend">
        <For each={taken()}>{(each) => <li><i class={`dot part ${each.role}`} aria-hidden="true" />{named("role", each.role)} {number(each.tokens)}</li>}</For>
      </ul>
      <p class="facts">
        <span>{t("conversation.inWindow", { count: number(props.statistics.messages_in_context), of: number(props.statistics.total_messages) })}</span>
        <span>{t("conversation.prunedCount", { count: number(props.statistics.pruned_messages) })}</span>
      </p>
      <details><summary>{t("conversation.rule")}</summary><p class="hint">{props.statistics.explanation}</p></details>
    </figure>
  );
}
