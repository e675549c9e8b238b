/** What one may do with all data of a namespace or a user: take it out, bring it in, erase it. */
import { useSearchParams } from "@solidjs/router";
import Archive from "lucide-solid/icons/archive";
import { Show } from "solid-js";
import { t } from "../i18n";
import { Empty } from "../ui/states";
import { Erase } from "./Erase";
import { dataName } from "./name";
import { Export, Import, UserExport } from "./Transfer";
import "../styles/data.css";
import { useTitle } from "../ui/title";

export function DataPage() {
  const [search] = useSearchParams<{ ns?: string }>();
  const name = () => dataName(search.ns || undefined);
  useTitle(name);
  return (
    <div class="page">
      <h1>{name()}</h1>
      <Show when={search.ns} keyed fallback={<Empty icon={<Archive />} title={t("nav.chooseNamespace")} />}>
        {(namespace) => (
          <>
            <div class="columns"><Export namespace={namespace} /><Import namespace={namespace} /></div>
            <UserExport />
            <Erase namespace={namespace} />
          </>
        )}
      </Show>
    </div>
  );
}
