/** Making a key. Its token is shown once, and kept nowhere. */
import { createSignal, For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { act } from "../act";
import { w, word } from "../words";

type Right = Shape<"Grant">["right"];
const RIGHTS: Right[] = ["read", "write", "admin"];

export function MakeKey(props: { made: () => void }) {
  const [name, setName] = createSignal("");
  const [right, setRight] = createSignal<Right>("read");
  const [namespaces, setNamespaces] = createSignal("");
  const [days, setDays] = createSignal("");
  const [token, setToken] = createSignal("");
  const ready = () => name().trim() && namespaces().trim();
  const make = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!ready()) return;
    const until = days() ? new Date(Date.now() + Number(days()) * 86_400_000).toISOString() : undefined;
    const body = { name: name().trim(), grants: [{ right: right(), namespaces: namespaces().trim() }], expires_at: until };
    const made = await act(() => answered(api.POST("/v1/keys", { body })), () => w("access.keyMade"));
    if (!made) return;
    setToken(made.token);
    setName("");
    props.made();
  };
  return (
    <section class="panel-card" aria-label={w("access.make")}>
      <h2>{w("access.make")}</h2>
      <form class="follow" onSubmit={(event) => void make(event)}>
        <label class="field"><span>{w("access.name")}</span><input value={name()} maxlength="256" required onInput={(event) => setName(event.currentTarget.value)} /></label>
        <label class="field"><span>{w("access.right")}</span><select value={right()} onChange={(event) => setRight(event.currentTarget.value as Right)}><For each={RIGHTS}>{(each) => <option value={each}>{word("right", each)}</option>}</For></select></label>
        <label class="field"><span>{w("access.pattern")}</span><input value={namespaces()} placeholder="app/*" maxlength="256" required onInput={(event) => setNamespaces(event.currentTarget.value)} /></label>
        <label class="field"><span>{w("access.days")}</span><input type="number" min="1" max="3650" value={days()} placeholder="–" onInput={(event) => setDays(event.currentTarget.value)} /></label>
        <button class="button primary" type="submit" disabled={!ready()}>{w("access.makeIt")}</button>
      </form>
      <Show when={token()}>
        <div class="notice" role="status">
          <p>{w("access.once")}</p>
          <p><code class="mono token">{token()}</code></p>
          <button class="button small" onClick={() => setToken("")}>{w("access.stored")}</button>
        </div>
      </Show>
    </section>
  );
}
