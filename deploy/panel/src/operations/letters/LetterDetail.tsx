/** One dead letter: why it is one, and its record without credentials. */
import { useQuery } from "@tanstack/solid-query";
import { For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { mayEverywhere } from "../../app/session";
import { number } from "../../i18n";
import { Back } from "../../ui/Back";
import { Loaded } from "../../ui/Loaded";
import { Moment } from "../../ui/Time";
import { Confirm } from "../../ui/Confirm";
import { w, word } from "../words";

type Props = { id: string; close: () => void; settle: (how: "replay" | "discard") => Promise<void> };

export function LetterDetail(props: Props) {
  const asked = useQuery(() => ({
    queryKey: ["letter", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/dead-letters/{letter}", { params: { path: { letter: props.id } }, signal })),
  }));
  return (
    <>
      <Back close={props.close} />
      <Loaded of={asked} name={w("letters.record")} rows={3}>
        {(letter) => (
          <>
            <Facts letter={letter()} />
            <Show when={mayEverywhere("admin")}>
              <div class="actions">
                <Confirm text={w("letters.replay")} title={w("letters.replayTitle", { count: number(1) })} hint={w("letters.replayHint")} disabled={!letter().source} primary act={() => void props.settle("replay")} />
                <Confirm text={w("letters.discard")} title={w("letters.discardTitle", { count: number(1) })} hint={w("letters.discardHint")} danger act={() => void props.settle("discard")} />
              </div>
            </Show>
            <Record letter={letter()} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Facts(props: { letter: Shape<"LetterContentView"> }) {
  const source = () => (props.letter.source ? `${props.letter.source.topic}[${props.letter.source.partition}]@${props.letter.source.offset}` : w("letters.noSource"));
  return (
    <>
      <h2 dir="auto">{props.letter.detail || props.letter.reason}</h2>
      <dl class="facts-grid">
        <div><dt>{w("letters.reason")}</dt><dd>{props.letter.reason}</dd></div>
        <div><dt>{w("letters.stage")}</dt><dd>{word("stage", props.letter.stage)}</dd></div>
        <div><dt>{w("common.status")}</dt><dd>{w(`letters.${props.letter.status}`)}</dd></div>
        <div><dt>{w("letters.when")}</dt><dd><Moment at={props.letter.at} /></dd></div>
        <div><dt>{w("letters.source")}</dt><dd><code class="mono">{source()}</code></dd></div>
        <div><dt>{w("letters.place")}</dt><dd><code class="mono">{props.letter.letter}</code></dd></div>
        <Show when={props.letter.key != null}><div><dt>{w("letters.key")}</dt><dd><code class="mono" dir="auto">{props.letter.key}</code></dd></div></Show>
      </dl>
    </>
  );
}

function Record(props: { letter: Shape<"LetterContentView"> }) {
  const headers = () => Object.entries(props.letter.headers);
  return (
    <>
      <h3>{w("letters.value")} <span class="hint">{w("letters.bytes", { bytes: number(props.letter.bytes) })}</span></h3>
      <Show when={props.letter.scrubbed}><p class="notice">{w("letters.scrubbed", { count: number(props.letter.scrubbed) })}</p></Show>
      <Show when={props.letter.by_reference}><p class="notice">{w("letters.byReference")}</p></Show>
      <Show when={props.letter.value} fallback={<p class="hint">{w("letters.noValue")}</p>}>{(value) => <pre class="prompt" tabindex="0" dir="auto">{laidOut(value())}</pre>}</Show>
      <Show when={props.letter.cut}><p class="hint">{w("letters.cut")}</p></Show>
      <Show when={headers().length}>
        <h3>{w("letters.headers")}</h3>
        <dl class="changes"><For each={headers()}>{([name, value]) => <div><dt class="mono">{name}</dt><dd class="mono">{value ?? "–"}</dd></div>}</For></dl>
      </Show>
    </>
  );
}

/** JSON in lines; whatever else it is, as it is. */
function laidOut(value: string): string {
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}
