/** Who changed a policy over HTTP, and what. */
import { useQuery } from "@tanstack/solid-query";
import { For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { mayEverywhere } from "../../app/session";
import { Loaded } from "../../ui/Loaded";
import { Moment } from "../../ui/Time";
import { w } from "../words";
import { Compare, Value } from "./Compare";
import { differences } from "./differences";
import type { Draft } from "./PolicyForm";

type Put = Shape<"PutPolicy">;

export function History(props: { name: string; now: Draft; take: (draft: Draft) => void }) {
  const asked = useQuery(() => ({
    queryKey: ["policy-history", props.name],
    queryFn: async ({ signal }) => (await answered(api.GET("/v1/policies/{name}/history", { params: { path: { name: props.name } }, signal }))).changes,
  }));
  const take = (put: Put) => {
    const { version: _, ...policy } = put.policy as unknown as Draft;
    props.take({ ...policy, name: props.name });
  };
  return (
    <>
      <h3>{w("policies.history")}</h3>
      <p class="hint">{w("policies.historyHint")}</p>
      <Loaded of={asked} name={w("policies.history")} rows={2}>
        {(changes) => (
          <Show when={changes().length} fallback={<p class="hint">{w("policies.noHistory")}</p>}>
            <Compare changes={changes()} now={props.now} />
            <ol class="versions">
              <For each={changes()}>
                {(put, at) => (
                  <li class="version">
                    <p class="facts"><strong>{put.removed ? w("policies.wasRemoved") : w("policies.wasPut")}</strong><Moment at={put.at} /><span>{put.actor}</span>
                      <Show when={put.policy && mayEverywhere("admin")}><button class="button small quiet" onClick={() => take(put)}>{w("policies.take")}</button></Show>
                    </p>
                    <Show when={put.policy}><Fields put={put} before={changes()[at() + 1]} /></Show>
                  </li>
                )}
              </For>
            </ol>
          </Show>
        )}
      </Loaded>
    </>
  );
}

/** What differs from the change before it. */
function Fields(props: { put: Put; before?: Put }) {
  const fields = () => differences(props.before?.policy ?? {}, props.put.policy ?? {});
  return <dl class="changes"><For each={fields()}>{(field) => <div><dt class="mono">{field.name}</dt><dd class="change"><Value of={field.before} as="del" /> → <Value of={field.after} as="ins" /></dd></div>}</For></dl>;
}
