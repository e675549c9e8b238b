/** Chooses the namespace of all views, among those that the key may read; the address keeps it. */
import { Combobox } from "@kobalte/core/combobox";
import { keepPreviousData, useQuery } from "@tanstack/solid-query";
import { useSearchParams } from "@solidjs/router";
import ChevronsUpDown from "lucide-solid/icons/chevrons-up-down";
import { createEffect, createSignal } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { number, t } from "../i18n";
import { loaded } from "../ui/Loaded";

type Namespace = Shape<"NamespaceSummary">;

export function NamespacePicker() {
  const [search, setSearch] = useSearchParams<{ ns?: string }>();
  const [typed, setTyped] = createSignal("");
  const found = useQuery(() => ({
    queryKey: ["namespaces", typed()],
    queryFn: ({ signal }) =>
      answered(api.GET("/v1/namespaces", { params: { query: { containing: typed(), limit: 100 } }, signal })),
    placeholderData: keepPreviousData,
  }));
  const known = (): Namespace[] => loaded(found)?.namespaces ?? [];
  const chosen = (): Namespace | null => {
    const name = search.ns;
    return name ? (known().find((each) => each.namespace === name) ?? { namespace: name, live: 0 }) : null;
  };
  /** With the one that is looked at, which may be empty, or not among the first. */
  const options = (): Namespace[] => (typed() || !chosen() || known().includes(chosen()!) ? known() : [chosen()!, ...known()]);
  createEffect(() => {
    const first = known()[0];
    if (!search.ns && first && !typed()) setSearch({ ns: first.namespace }, { replace: true });
  });
  const choose = (namespace: Namespace | null) => {
    setTyped("");
    if (namespace && namespace.namespace !== search.ns) setSearch({ ns: namespace.namespace, kind: [], tag: undefined, q: undefined });
  };
  return (
    <Combobox<Namespace>
      class="namespace-picker"
      options={options()}
      optionValue="namespace"
      optionTextValue="namespace"
      optionLabel="namespace"
      value={chosen()}
      onChange={choose}
      onInputChange={(text) => setTyped(text === search.ns ? "" : text)}
      defaultFilter={() => true}
      triggerMode="focus"
      placeholder={t("nav.chooseNamespace")}
      itemComponent={(item) => (
        <Combobox.Item item={item.item} class="menu-item">
          <Combobox.ItemLabel class="grow">{item.item.rawValue.namespace}</Combobox.ItemLabel>
          <span class="count">{number(item.item.rawValue.live)}</span>
        </Combobox.Item>
      )}
    >
      <Combobox.Label class="hidden">{t("nav.namespace")}</Combobox.Label>
      <Combobox.Control class="with-button">
        <Combobox.Input onFocus={(event) => event.currentTarget.select()} />
        <Combobox.Trigger class="icon-button" aria-label={t("nav.chooseNamespace")}>
          <ChevronsUpDown />
        </Combobox.Trigger>
      </Combobox.Control>
      <Combobox.Portal>
        <Combobox.Content class="menu">
          <Combobox.Listbox class="menu-list" />
        </Combobox.Content>
      </Combobox.Portal>
    </Combobox>
  );
}
