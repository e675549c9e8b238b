/** One message from its topic to its memories: each step with its time. */
import { useSearchParams } from "@solidjs/router";
import { useQuery } from "@tanstack/solid-query";
import Route from "lucide-solid/icons/route";
import { createEffect, createSignal, For, on, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { named } from "../../i18n";
import "../../styles/operations.css";
import { Loaded } from "../../ui/Loaded";
import { Empty } from "../../ui/states";
import { Moment } from "../../ui/Time";
import { w, word } from "../words";
import { Step } from "./Step";
import { useTitle } from "../../ui/title";

type Asked = { conversation?: string; message?: string; ns?: string };

export function FollowPage() {
  useTitle(() => w("trail.title"));
  const [search] = useSearchParams<Asked>();
  return (
    <div class="page operations">
      <div class="page-head"><h1>{w("trail.title")}</h1></div>
      <p class="hint">{w("trail.hint")}</p>
      <Question />
      <Show when={search.conversation && search.message} fallback={<Empty icon={<Route />} title={w("trail.choose")} />}>
        <Trail conversation={search.conversation!} message={search.message!} />
      </Show>
    </div>
  );
}

function Question() {
  const [search, setSearch] = useSearchParams<Asked>();
  const [conversation, setConversation] = createSignal(search.conversation ?? "");
  const [message, setMessage] = createSignal(search.message ?? "");
  createEffect(on(() => [search.conversation, search.message], () => (setConversation(search.conversation ?? ""), setMessage(search.message ?? ""))));
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (conversation().trim() && message().trim()) setSearch({ conversation: conversation().trim(), message: message().trim() });
  };
  return (
    <form class="follow" onSubmit={send}>
      <label class="field"><span>{w("pipeline.conversation")}</span><input value={conversation()} maxlength="256" onInput={(event) => setConversation(event.currentTarget.value)} /></label>
      <label class="field"><span>{w("pipeline.message")}</span><input value={message()} maxlength="256" onInput={(event) => setMessage(event.currentTarget.value)} /></label>
      <button class="button primary" type="submit">{w("pipeline.followIt")}</button>
    </form>
  );
}

const UNFINISHED_MS = 3_000;

function Trail(props: { conversation: string; message: string }) {
  const asked = useQuery(() => ({
    queryKey: ["trail", props.conversation, props.message],
    queryFn: ({ signal }) =>
      answered(api.GET("/v1/conversations/{conversation_id}/trail", { params: { path: { conversation_id: props.conversation }, query: { message_id: props.message } }, signal })),
    refetchInterval: (query) => (query.state.data && !isOver(query.state.data) ? UNFINISHED_MS : false),
  }));
  return (
    <Loaded of={asked} name={w("trail.steps")} rows={4}>{(trail) => <Steps trail={trail()} />}</Loaded>
  );
}

const isOver = (trail: Shape<"MessageTrail">) => (trail.steps ?? []).some((step) => step.kind === "completed" || step.kind === "failed");

function Steps(props: { trail: Shape<"MessageTrail"> }) {
  const steps = () => props.trail.steps ?? [];
  const began = () => steps().find((step) => step.at)?.at;
  const missing = () => Object.entries(props.trail.missing ?? {});
  return (
    <section class="panel-card" aria-label={w("trail.steps")}>
      <p class="facts">
        <strong>{named("role", props.trail.role)}</strong>
        <span>{w("trail.said")} <Moment at={props.trail.said_at} /></span>
        <Show when={props.trail.extracted != null}><span class="badge">{props.trail.extracted ? w("trail.extracted") : w("trail.waits")}</span></Show>
        <Show when={props.trail.in_context != null}><span class="badge">{props.trail.in_context ? w("trail.inContext") : w("trail.leftContext")}</span></Show>
      </p>
      <Show when={missing().length}>
        <div class="notice" role="status"><ul><For each={missing()}>{([part, why]) => <li>{w("pipeline.missing", { part: word("part", part), why })}</li>}</For></ul></div>
      </Show>
      <ol class="versions trail"><For each={steps()}>{(step) => <Step step={step} began={began()} />}</For></ol>
    </section>
  );
}
