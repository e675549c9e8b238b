/** The settings of one conversation's context: what holds, and what may be chosen for it in place of its policy's. */
import { useQuery } from "@tanstack/solid-query";
import { createComputed, createMemo, createSignal, For, Show } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { number, percent, t } from "../i18n";
import { Loaded } from "../ui/Loaded";
import { reason } from "../ui/states";
import { notify } from "../ui/toasts";
import { useReadAgain } from "./readAgain";

type Settings = Shape<"ConversationSettings">;
type Choice = Shape<"WindowChoice">;
const NAMES = ["strategy", "max_messages", "max_tokens", "min_recent", "warning_at", "warning_target", "aggressive_at", "aggressive_target"] as const;
const NUMBERS = ["max_messages", "max_tokens", "min_recent", "warning_at"] as const;

export function ContextSettings(props: { id: string; mayWrite: boolean }) {
  const params = () => ({ path: { conversation_id: props.id } });
  const readAgain = useReadAgain(() => props.id);
  const asked = useQuery(() => ({
    queryKey: ["window-settings", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/conversations/{conversation_id}/settings", { params: params(), signal })),
  }));
  const choose = async (body: Choice) => {
    try {
      await answered(api.PUT("/v1/conversations/{conversation_id}/settings", { params: params(), body }));
      notify(t("settings.sent"));
      void readAgain();
    } catch (failed) {
      notify(t("edit.failed", { reason: reason(failed) }), undefined, "bad");
    }
  };
  return (
    <Loaded of={asked} name={t("settings.title")} rows={2}>
      {(settings) => (
        <>
          <dl class="facts-grid"><For each={NAMES}>{(name) => <div><dt>{t(`settings.${name}`)}<Show when={name in settings().chosen}> <span class="badge">{t("settings.chosen")}</span></Show></dt><dd>{shown(settings(), name)}</dd></div>}</For></dl>
          <Show when={adjustable(settings())} fallback={<p class="hint">{t("settings.fixed", { policy: settings().policy })}</p>}>
            <Show when={props.mayWrite}><Form settings={settings()} choose={choose} /></Show>
          </Show>
        </>
      )}
    </Loaded>
  );
}

const adjustable = ({ adjustable }: Settings) => !!adjustable.strategy?.length || NUMBERS.some((name) => adjustable[name]);

function shown({ settings }: Settings, name: (typeof NAMES)[number]): string {
  const value = settings[name];
  if (value == null) return t("settings.ofContext", { share: percent(0.8) });
  if (typeof value === "string") return t(`strategy.${value as Settings["settings"]["strategy"]}`);
  return name.endsWith("_at") || name.endsWith("_target") ? percent(value) : number(value);
}

function Form(props: { settings: Settings; choose: (choice: Choice) => Promise<void> }) {
  const chosen = createMemo(() => props.settings.chosen);
  const [draft, setDraft] = createSignal<Choice>({});
  createComputed(() => setDraft({ ...chosen() })); // as polls that find nothing new leave it the same, what is typed stays
  const set = (name: keyof Choice, value: unknown) => setDraft((before) => ({ ...before, [name]: value }));
  const may = () => props.settings.adjustable;
  return (
    <form class="form" onSubmit={(event) => (event.preventDefault(), void props.choose(draft()))}>
      <p class="hint">{t("settings.hint")}</p>
      <div class="pair">
        <Show when={may().strategy?.length}>
          <label class="field"><span>{t("settings.strategy")}</span>
            <select value={draft().strategy ?? ""} onChange={(event) => set("strategy", event.currentTarget.value || undefined)}>
              <option value="">{t("settings.ofPolicy")}</option>
              <For each={may().strategy}>{(each) => <option value={each} selected={each === draft().strategy}>{t(`strategy.${each}`)}</option>}</For>
            </select>
          </label>
        </Show>
        <For each={NUMBERS.filter((name) => may()[name])}>
          {(name) => (
            <label class="field"><span>{t(`settings.${name}`)} <span class="hint">{t("settings.range", { least: number(may()[name]![0]!, 2), most: number(may()[name]![1]!, 2) })}</span></span>
              <input type="number" min={may()[name]![0]} max={may()[name]![1]} step={name === "warning_at" ? 0.01 : 1} placeholder={t("settings.ofPolicy")} value={draft()[name] ?? ""} onInput={(event) => set(name, event.currentTarget.value === "" ? undefined : event.currentTarget.valueAsNumber)} />
            </label>
          )}
        </For>
      </div>
      <div class="actions">
        <button class="button primary" type="submit">{t("edit.save")}</button>
        <Show when={Object.keys(chosen()).length}><button class="button" type="button" onClick={() => void props.choose({})}>{t("settings.reset")}</button></Show>
      </div>
    </form>
  );
}
