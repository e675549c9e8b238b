/** The context block that a message would get: what is in it and why, what had no room. */
import { TextField } from "@kobalte/core/text-field";
import { keepPreviousData, useQuery } from "@tanstack/solid-query";
import { createSignal, For, Show, type JSX } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { number, t } from "../i18n";
import { Loaded } from "../ui/Loaded";
import { MemoryLink } from "../ui/MemoryLink";
import { Ago } from "../ui/Time";
import { Tokens } from "./ProfilePage";

type Block = Shape<"Block">;

export function BlockPreview(props: { namespace: string }) {
  const [typed, setTyped] = createSignal("");
  const [text, setText] = createSignal("");
  const [withProfile, setWithProfile] = createSignal(false); // whether the prompt has the profile already
  const asked = useQuery(() => ({
    queryKey: ["block", props.namespace, text(), withProfile()],
    queryFn: ({ signal }) =>
      answered(api.POST("/v1/context", { body: { namespaces: [props.namespace], text: text() || null, profile: withProfile(), explain: true }, signal })),
    placeholderData: keepPreviousData,
  }));
  return (
    <section class="panel-card" aria-labelledby="block-title">
      <h2 id="block-title">{t("block.title")}</h2>
      <p class="hint">{t("block.hint")}</p>
      <form class="with-send" onSubmit={(event) => (event.preventDefault(), setText(typed().trim()))}>
        <TextField class="field grow" value={typed()} onChange={setTyped}>
          <TextField.Label>{t("block.message")}</TextField.Label>
          <TextField.Input maxlength="4000" placeholder={t("block.example")} />
        </TextField>
        <button class="button primary" type="submit">{t("block.show")}</button>
      </form>
      <label class="check"><input type="checkbox" checked={withProfile()} onChange={(event) => setWithProfile(event.currentTarget.checked)} />{t("block.withProfile")}</label>
      <Loaded of={asked} name={t("block.title")} rows={3}>{(block) => <Shown block={block()} />}</Loaded>
    </section>
  );
}

const LEFT_OUT = ["memories_left_out", "messages_left_out", "said_left_out", "memories_known"] as const;

function Shown(props: { block: Block }) {
  const leftOut = () => LEFT_OUT.map((name) => ({ name, count: props.block[name] ?? 0 })).filter((each) => each.count);
  return (
    <>
      <Tokens tokens={props.block.tokens} most={props.block.max_tokens} />
      <Show when={props.block.degraded?.length}><p class="notice" role="status">{t("state.degraded")}</p></Show>
      <ul class="left-outs">
        <For each={leftOut()}>{(each) => <li>{t(`block.${each.name}`, { count: number(each.count) })}</li>}</For>
      </ul>
      <Show when={props.block.text} fallback={<p class="hint">{t("block.empty")}</p>}>
        <pre class="prompt" tabindex="0" dir="auto" aria-label={t("block.title")}>{props.block.text}</pre>
        <h3>{t("block.inIt")}</h3>
        <ul class="lines">
          <For each={props.block.memories}>
            {(memory) => <Line text={memory.text} tokens={memory.tokens} score={memory.score}><MemoryLink id={memory.memory_id}>{t("block.memory")}</MemoryLink></Line>}
          </For>
          <For each={props.block.said}>
            {(passage) => <Line text={passage.text} tokens={passage.tokens} score={passage.score}><span>{passage.speaker}</span> <Ago at={passage.said_at} /></Line>}
          </For>
        </ul>
      </Show>
      <Show when={props.block.left_out?.length}>
        <h3>{t("block.leftOut")}</h3>
        <ul class="lines left-out-lines">
          <For each={props.block.left_out}>{(each) => <Missed left={each} />}</For>
        </ul>
      </Show>
    </>
  );
}

function Missed(props: { left: Shape<"LeftOut"> }) {
  return (
    <li>
      <span class="grow" dir="auto">{props.left.text}</span>
      <span class="facts">
        <span class="badge">{t(`block.reason_${props.left.reason}`)}</span>
        <Show when={props.left.tier === "memories"} fallback={<span>{t(`block.tier_${props.left.tier}`)}</span>}>
          <MemoryLink id={props.left.id}>{t("block.memory")}</MemoryLink>
        </Show>
        <span>{t("block.ofTokens", { tokens: number(props.left.tokens) })}</span>
      </span>
    </li>
  );
}

function Line(props: { text: string; tokens: number; score: number; children: JSX.Element }) {
  return (
    <li>
      <span class="grow" dir="auto">{props.text}</span>
      <span class="facts">
        {props.children}
        <span>{t("found.score", { score: number(props.score, 2) })}</span>
        <span>{t("block.ofTokens", { tokens: number(props.tokens) })}</span>
      </span>
    </li>
  );
}
