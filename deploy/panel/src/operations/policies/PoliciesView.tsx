/** Policies as they apply, one of them as a form, what a change would reach, and who changed it before. */
import { DropdownMenu } from "@kobalte/core/dropdown-menu";
import { useNavigate, useParams, useSearchParams } from "@solidjs/router";
import { useQuery, useQueryClient } from "@tanstack/solid-query";
import ChevronsUpDown from "lucide-solid/icons/chevrons-up-down";
import Scale from "lucide-solid/icons/scale";
import { createSignal, For, Show } from "solid-js";
import { answered, api, type Shape } from "../../api/client";
import { mayEverywhere } from "../../app/session";
import { number } from "../../i18n";
import { Loaded, loaded } from "../../ui/Loaded";
import { Rows } from "../../ui/Rows";
import { Empty } from "../../ui/states";
import { act } from "../act";
import { Confirm } from "../../ui/Confirm";
import { w, word } from "../words";
import { History } from "./History";
import { PolicyForm, type Draft } from "./PolicyForm";

type Applied = Shape<"AppliedPolicy">;

export function PoliciesView() {
  const params = useParams<{ id?: string }>();
  const [search] = useSearchParams<{ ns?: string }>();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const [begun, setBegun] = createSignal<Draft>(); // a new one, or an older version that is taken up again
  const asked = useQuery(() => ({ queryKey: ["policies"], queryFn: ({ signal }) => answered(api.GET("/v1/policies", { signal })) }));
  const to = (name?: string) => `/operations/policies${name ? `/${encodeURIComponent(name)}` : ""}${search.ns ? `?ns=${encodeURIComponent(search.ns)}` : ""}`;
  const name = () => (params.id ? decodeURIComponent(params.id) : undefined);
  const chosen = () => asked.data?.policies.find((each) => each.policy.name === name());
  const open = (policy?: string) => (setBegun(undefined), navigate(to(policy)));
  const saved = async (policy: string) => {
    await cache.invalidateQueries({ predicate: (query) => ["policies", "policy-history"].includes(String(query.queryKey[0])) });
    open(policy);
  };
  return (
    <>
      <p class="hint">{w("policies.hint")}</p>
      <Loaded of={asked} name={w("section.policies")}>
        {(listed) => (
          <div class="beside policies" classList={{ "with-detail": !!begun() || !!chosen() }}>
            <section class="panel-card letters" aria-label={w("section.policies")}>
              <Show when={mayEverywhere("admin")}><Begin begin={(draft) => (navigate(to()), setBegun(draft))} /></Show>
              <Show when={listed().invalid?.length}><Invalid listed={listed()} removed={() => saved("")} /></Show>
              <Rows label={w("section.policies")}><For each={listed().policies}>{(each) => <li><Row applied={each} chosen={each.policy.name === name() && !begun()} open={() => open(each.policy.name)} /></li>}</For></Rows>
            </section>
            <section class="panel-card detail-card" aria-label={w("work.policy")}>
              <Show when={begun()} keyed fallback={
                <Show when={chosen()} keyed fallback={<Empty icon={<Scale />} title={w("policies.choose")} />}>
                  {(applied) => (
                    <>
                      <PolicyForm draft={applied.policy as Draft} origin={applied.origin} saved={saved} close={() => open()} />
                      <History name={applied.policy.name} now={applied.policy as Draft} take={setBegun} />
                    </>
                  )}
                </Show>
              }>
                {(draft) => <PolicyForm draft={draft} fresh saved={saved} close={() => open()} />}
              </Show>
            </section>
          </div>
        )}
      </Loaded>
    </>
  );
}

function Row(props: { applied: Applied; chosen: boolean; open: () => void }) {
  const matches = () => Object.entries(props.applied.policy.match ?? {}).map(([field, pattern]) => `${field}=${pattern}`).join(", ");
  return (
    <button class="row plain" classList={{ chosen: props.chosen }} aria-current={props.chosen ? "true" : undefined} onClick={props.open}>
      <span class="kind-icon quote" aria-hidden="true"><Scale /></span>
      <span class="row-body">
        <span class="row-text">{props.applied.policy.name}</span>
        <span class="facts"><span>{word("origin", props.applied.origin)}</span><span>{w("work.version")} {number(props.applied.policy.version ?? 1)}</span><span class="mono">{matches() || w("policies.everything")}</span></span>
      </span>
    </button>
  );
}

/** Records of the topic that are ignored. One with the name of a policy that applies is replaced by saving that policy; the others can be removed. */
function Invalid(props: { listed: Shape<"PolicyList">; removed: () => Promise<void> }) {
  const removable = (name: string) => name !== "" && !props.listed.policies.some((each) => each.origin === "topic" && each.policy.name === name);
  const remove = async (name: string) => {
    const done = await act(async () => (await answered(api.DELETE("/v1/policies/{name}", { params: { path: { name } } })), true), () => w("policies.invalidRemoved", { name }));
    if (done) await props.removed();
  };
  return (
    <section class="notice bad" aria-label={w("policies.invalid")}>
      <p><strong>{w("policies.invalid")}</strong></p>
      <ul class="removed">
        <For each={props.listed.invalid}>
          {(each) => (
            <li>
              <span dir="auto">{each.reason}</span>{" "}
              <Show when={mayEverywhere("admin") && removable(each.name)}><Confirm text={w("policies.remove")} title={w("policies.invalidTitle", { name: each.name })} danger act={() => void remove(each.name)} /></Show>
            </li>
          )}
        </For>
      </ul>
    </section>
  );
}

/** A new policy, from the defaults or a preset. */
function Begin(props: { begin: (draft: Draft) => void }) {
  const presets = useQuery(() => ({ queryKey: ["presets"], queryFn: async ({ signal }) => (await answered(api.GET("/v1/presets", { signal }))).presets, staleTime: Infinity }));
  const begin = (preset: object) => {
    const { version: _, ...rest } = preset as Draft;
    props.begin({ ...rest, name: "", match: {} });
  };
  return (
    <div class="choosing">
      <DropdownMenu modal={false}>
        <DropdownMenu.Trigger class="button small">{w("policies.begin")}<ChevronsUpDown aria-hidden="true" /></DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content class="menu menu-list">
            <DropdownMenu.Item class="menu-item" onSelect={() => begin({})}>{w("policies.blank")}</DropdownMenu.Item>
            <For each={loaded(presets)}>{(each) => <DropdownMenu.Item class="menu-item" onSelect={() => begin(each)}>{each.name}</DropdownMenu.Item>}</For>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu>
    </div>
  );
}
