/** The frame of every view: signing in where a key is needed, navigation, display settings, notifications. */
import { useQuery, useQueryClient } from "@tanstack/solid-query";
import type { RouteSectionProps } from "@solidjs/router";
import { createEffect, createRoot, Match, Show, Suspense, Switch } from "solid-js";
import { answered, api, ApiProblem } from "../api/client";
import { followLanguage, t } from "../i18n";
import { keepFocus } from "../ui/focus";
import { Announcement, loaded } from "../ui/Loaded";
import { Failed, Loading } from "../ui/states";
import { Toasts } from "../ui/toasts";
import { Navigation } from "./Navigation";
import { key, setMe } from "./session";
import { SignIn } from "./SignIn";
import { followTheme } from "./theme";

createRoot(followLanguage);
createRoot(followTheme);
keepFocus();

export function Shell(props: RouteSectionProps) {
  const cache = useQueryClient();
  const asked = useQuery(() => ({
    queryKey: ["me", key()],
    queryFn: () => answered(api.GET("/v1/me")),
    staleTime: Infinity,
  }));
  const refused = () => asked.error instanceof ApiProblem && asked.error.status === 401;
  // Not when somebody signs in: with a key known before, the view asks at once, and its requests would be removed.
  createEffect<string>((before) => {
    if (before && before !== key()) cache.removeQueries({ predicate: (query) => query.queryKey[0] !== "me" });
    return key();
  }, "");
  createEffect(() => asked.isSuccess && setMe(asked.data));
  return (
    <>
      <Switch fallback={<Loading />}>
        <Match when={refused()}>
          <SignIn wrong={key() !== ""} />
        </Match>
        <Match when={asked.isLoadingError}>
          <main class="alone">
            <Failed error={asked.error} again={() => void asked.refetch()} />
          </main>
        </Match>
        <Match when={loaded(asked)}>
          <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), document.getElementById("content")?.focus())}>
            {t("nav.skip")}
          </a>
          <div class="shell">
            <Navigation keyed={asked.data!.keyed} name={asked.data!.name} />
            <main id="content" tabindex="-1">
              <Suspense fallback={<Loading />}>
                <Show when={asked.data!.key_id} keyed>
                  {props.children}
                </Show>
              </Suspense>
            </main>
          </div>
        </Match>
      </Switch>
      <Announcement />
      <Toasts />
    </>
  );
}
