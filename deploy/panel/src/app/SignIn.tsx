/** Asks for a key. It goes into no address and no form that a browser would keep. */
import { TextField } from "@kobalte/core/text-field";
import { ToggleButton } from "@kobalte/core/toggle-button";
import Eye from "lucide-solid/icons/eye";
import EyeOff from "lucide-solid/icons/eye-off";
import { createSignal, onMount, Show } from "solid-js";
import { t } from "../i18n";
import { Logo } from "../ui/Logo";
import { signIn } from "./session";
import { useTitle } from "../ui/title";

export function SignIn(props: { wrong: boolean }) {
  useTitle(() => t("signIn.title"));
  const [given, setGiven] = createSignal("");
  const [shown, setShown] = createSignal(false);
  let field!: HTMLInputElement;
  onMount(() => field.focus());
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (given().trim()) signIn(given().trim());
  };
  return (
    <main class="alone">
      <form class="card sign-in" onSubmit={send}>
        <Logo />
        <h1>{t("signIn.title")}</h1>
        <TextField class="field" value={given()} onChange={setGiven} validationState={props.wrong ? "invalid" : "valid"}>
          <TextField.Label>{t("signIn.key")}</TextField.Label>
          <div class="with-button">
            <TextField.Input ref={field} type={shown() ? "text" : "password"} autocomplete="off" autocapitalize="none" spellcheck={false} />
            <ToggleButton class="icon-button" pressed={shown()} onChange={setShown} aria-label={t("signIn.show")}>
              <Show when={shown()} fallback={<Eye />}>
                <EyeOff />
              </Show>
            </ToggleButton>
          </div>
          <TextField.ErrorMessage class="error">{t("signIn.refused")}</TextField.ErrorMessage>
          <TextField.Description class="hint">{t("signIn.hint")}</TextField.Description>
        </TextField>
        <button class="button primary" type="submit">
          {t("signIn.send")}
        </button>
      </form>
    </main>
  );
}
