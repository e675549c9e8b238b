/** What a model gets to read of a namespace: the profile, and the context block for a message. */
import { useSearchParams } from "@solidjs/router";
import { useQuery } from "@tanstack/solid-query";
import UserRound from "lucide-solid/icons/user-round";
import { For, Show } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { number, t } from "../i18n";
import { Loaded } from "../ui/Loaded";
import { MemoryLink } from "../ui/MemoryLink";
import { Empty } from "../ui/states";
import { BlockPreview } from "./BlockPreview";
import { useTitle } from "../ui/title";

type Profile = Shape<"Profile">;

export function ProfilePage() {
  useTitle(() => t("nav.profile"));
  const [search] = useSearchParams<{ ns?: string }>();
  return (
    <div class="page">
      <h1>{t("nav.profile")}</h1>
      <Show when={search.ns} keyed fallback={<Empty icon={<UserRound />} title={t("nav.chooseNamespace")} />}>
        {(namespace) => (
          <div class="columns">
            <ProfileCard namespace={namespace} />
            <BlockPreview namespace={namespace} />
          </div>
        )}
      </Show>
    </div>
  );
}

function ProfileCard(props: { namespace: string }) {
  const asked = useQuery(() => ({
    queryKey: ["profile", props.namespace],
    queryFn: ({ signal }) => answered(api.GET("/v1/profile", { params: { query: { namespace: props.namespace } }, signal })),
  }));
  return (
    <section class="panel-card" aria-labelledby="profile-title">
      <h2 id="profile-title">{t("profile.title")}</h2>
      <p class="hint">{t("profile.hint")}</p>
      <Loaded of={asked} name={t("profile.title")} rows={3}>
        {(profile) => (
          <Show when={profile().lines?.length} fallback={<Empty icon={<UserRound />} title={t("profile.empty")} hint={t("profile.emptyHint")} />}>
            <Lines profile={profile()} />
          </Show>
        )}
      </Loaded>
    </section>
  );
}

function Lines(props: { profile: Profile }) {
  return (
    <>
      <Tokens tokens={props.profile.tokens ?? 0} most={props.profile.max_tokens ?? 0} />
      <Show when={props.profile.left_out}>{(lines) => <p class="notice">{t("profile.leftOut", { count: number(lines()) })}</p>}</Show>
      <ul class="lines">
        <For each={props.profile.lines}>
          {(line) => (
            <li>
              <span class="badge">{t(`part.${line.part}`)}</span>
              <span dir="auto">{line.text}</span>
              <For each={line.memory_ids}>{(id, index) => <MemoryLink id={id}>{t("profile.from", { number: number(index() + 1) })}</MemoryLink>}</For>
            </li>
          )}
        </For>
      </ul>
      <details>
        <summary>{t("profile.asRead")}</summary>
        <pre class="prompt" tabindex="0" dir="auto">{props.profile.text}</pre>
      </details>
    </>
  );
}

/** How much of its room a text takes. */
export function Tokens(props: { tokens: number; most: number }) {
  return (
    <p class="tokens">
      <span class="meter wide" aria-hidden="true"><span style={{ width: `${Math.min(100, (props.tokens / (props.most || 1)) * 100)}%` }} /></span>
      <span>{t("profile.tokens", { tokens: number(props.tokens), most: number(props.most) })}</span>
    </p>
  );
}
