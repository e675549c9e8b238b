/** What operators look after. To be seen with a key that may read all namespaces. */
import { A, useParams, useSearchParams } from "@solidjs/router";
import { For, lazy, Show, Suspense } from "solid-js";
import { Dynamic } from "solid-js/web";
import { mayEverywhere } from "../app/session";
import { t } from "../i18n";
import "../styles/operations.css";
import { Loading } from "../ui/states";
import { LettersView } from "./letters/LettersView";
import { PipelineView } from "./pipeline/PipelineView";
import { w } from "./words";

const WorkView = lazy(() => import("./work/WorkView").then((view) => ({ default: view.WorkView })));

const SECTIONS = [
  { path: "pipeline", text: () => w("section.pipeline"), view: PipelineView },
  { path: "letters", text: () => w("section.letters"), view: LettersView },
  { path: "consolidation", text: () => w("section.consolidation"), view: WorkView },
];

export function OperationsPage() {
  const params = useParams<{ section?: string }>();
  const [search] = useSearchParams<{ ns?: string }>();
  const to = (path: string) => `/operations/${path}` + (search.ns ? `?ns=${encodeURIComponent(search.ns)}` : "");
  const section = () => SECTIONS.find((each) => each.path === params.section) ?? SECTIONS[0]!;
  return (
    <div class="page operations">
      <div class="page-head">
        <h1>{t("nav.operations")}</h1>
        <Show when={!mayEverywhere("admin")}><span class="badge">{w("common.readOnly")}</span></Show>
      </div>
      <nav class="section-nav" aria-label={w("section.label")}>
        <For each={SECTIONS}>
          {(each) => <A href={to(each.path)} class="section-link" classList={{ current: each === section() }} aria-current={each === section() ? "page" : undefined}>{each.text()}</A>}
        </For>
      </nav>
      <Suspense fallback={<Loading />}>
        <Dynamic component={section().view} />
      </Suspense>
    </div>
  );
}
