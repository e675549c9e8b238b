/** The token window as a picture: what each role takes of the model's context, against the limits from which on messages leave. */
import { useQuery } from "@tanstack/solid-query";
import { createSignal, For, Show } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { named, number, percent, t } from "../i18n";
import { loaded } from "../ui/Loaded";

const LEVELS = ["warning", "aggressive"] as const;
const ROLES = ["system", "user", "assistant", "tool"] as const;

export function TokenWindow(props: { id: string; statistics: Shape<"StatisticsView"> }) {
  const taken = () => ROLES.map((role) => ({ role, tokens: props.statistics.tokens_by_role[role] ?? 0 })).filter((each) => each.tokens);
  const share = (tokens: number) => (tokens / (props.statistics.context_tokens || 1)) * 100;
  const line = (tokens: number) => ({ left: `${Math.min(share(tokens), 100)}%` });
  const limits = () => ({ tokens: number(props.statistics.token_limit), warning: number(props.statistics.warning_at_tokens), aggressive: number(props.statistics.aggressive_at_tokens) });
  const said = () => t("conversation.used", { percent: number(props.statistics.percent_used, 1), tokens: number(props.statistics.total_tokens), most: number(props.statistics.context_tokens) });
  return (
    <figure class="window">
      <figcaption class="facts">
        <strong>{said()}</strong>
        <span class={`badge level ${props.statistics.level}`}>{t(`level.${props.statistics.level}`)}</span>
      </figcaption>
      <div class="window-bar" role="img" aria-label={said()}>
        <For each={taken()}>{(each) => <span class={`part ${each.role}`} style={{ width: `${share(each.tokens)}%` }} />}</For>
        <span class="line limit" style={line(props.statistics.token_limit)}><span>{t("conversation.limitLine", limits())}</span></span>
        <For each={LEVELS}>
          {(level) => <span class={`line ${level}`} style={line(props.statistics[`${level}_at_tokens`])}><span>{number(share(props.statistics[`${level}_at_tokens`]))} %</span></span>}
        </For>
      </div>
      <ul class="legend">
        <For each={taken()}>{(each) => <li><i class={`dot part ${each.role}`} aria-hidden="true" />{named("role", each.role)} {number(each.tokens)}</li>}</For>
      </ul>
      <p class="facts"><span>{t("conversation.limits", limits())}</span></p>
      <p class="facts">
        <span>{t("conversation.inWindow", { count: number(props.statistics.messages_in_context), of: number(props.statistics.total_messages) })}</span>
        <span>{t("conversation.prunedCount", { count: number(props.statistics.pruned_messages) })}</span>
      </p>
      <Rule id={props.id} explanation={props.statistics.explanation} />
    </figure>
  );
}

/** How it is decided what leaves, from the settings in force; without them in the server's words. */
function Rule(props: { id: string; explanation: string }) {
  const [open, setOpen] = createSignal(false);
  const asked = useQuery(() => ({
    queryKey: ["window-settings", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/conversations/{conversation_id}/settings", { params: { path: { conversation_id: props.id } }, signal })),
    enabled: open(),
  }));
  const told = ({ settings }: Shape<"ConversationSettings">) =>
    `${t(`rule.${settings.strategy}`)} ${t("rule.limits", {
      recent: number(settings.min_recent), most: number(settings.max_messages), warning: percent(settings.warning_at), to: percent(settings.warning_target),
      aggressive: percent(settings.aggressive_at), further: percent(settings.aggressive_target),
    })}`;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("conversation.rule")}</summary>
      <p class="hint rule"><Show when={loaded(asked)} fallback={asked.isPending ? "…" : props.explanation}>{(settings) => <>{told(settings())}</>}</Show></p>
    </details>
  );
}
