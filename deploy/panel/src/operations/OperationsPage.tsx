/** What operators look after. To be seen with a key that may read all namespaces. */
import { useParams, useSearchParams } from "@solidjs/router";
import { createEffect, For, lazy, Show, Suspense, type Component } from "solid-js";
import { Dynamic } from "solid-js/web";
import { mayEverywhere } from "../app/session";
import { t } from "../i18n";
import "../styles/operations.css";
import { Link } from "../ui/Link";
import { bringIntoSight } from "../ui/sight";
import { Loading } from "../ui/states";
import { LettersView } from "./letters/LettersView";
import { PipelineView } from "./pipeline/PipelineView";
import { w } from "./words";
import { useTitle } from "../ui/title";

const ConsolidationView = lazy(() => import("./work/ConsolidationView").then((view) => ({ default: view.ConsolidationView })));
const RetentionView = lazy(() => import("./work/RetentionView").then((view) => ({ default: view.RetentionView })));
const ReplayView = lazy(() => import("./work/ReplayView").then((view) => ({ default: view.ReplayView })));
const PoliciesView = lazy(() => import("./policies/PoliciesView").then((view) => ({ default: view.PoliciesView })));
const AccessView = lazy(() => import("./access/AccessView").then((view) => ({ default: view.AccessView })));

type Section = { path: string; text: () => string; view: Component; ofAdministrators?: boolean };
const SECTIONS: Section[] = [
  { path: "pipeline", text: () => w("section.pipeline"), view: PipelineView },
  { path: "letters", text: () => w("section.letters"), view: LettersView },
  { path: "consolidation", text: () => w("section.consolidation"), view: ConsolidationView },
  { path: "retention", text: () => w("section.retention"), view: RetentionView },
  { path: "replay", text: () => w("section.replay"), view: ReplayView },
  { path: "policies", text: () => w("section.policies"), view: PoliciesView },
  { path: "access", text: () => w("section.access"), view: AccessView, ofAdministrators: true },
];

export function OperationsPage() {
  const params = useParams<{ section?: string }>();
  const [search] = useSearchParams<{ ns?: string }>();
  const to = (path: string) => `/operations/${path}` + (search.ns ? `?ns=${encodeURIComponent(search.ns)}` : "");
  const section = () => SECTIONS.find((each) => each.path === params.section) ?? SECTIONS[0]!;
  useTitle(() => `${section().text()} · ${t("nav.operations")}`);
  let sections!: HTMLElement;
  createEffect(() => section() && queueMicrotask(() => bringIntoSight(sections)));
  return (
    <div class="page operations">
      <div class="page-head">
        <h1>{t("nav.operations")}</h1>
        <Show when={!mayEverywhere("admin")}><span class="badge">{w("common.readOnly")}</span></Show>
      </div>
      <nav class="section-nav" aria-label={w("section.label")} ref={sections}>
        <For each={SECTIONS.filter((each) => !each.ofAdministrators || mayEverywhere("admin"))}>
          {(each) => <Link href={to(each.path)} class="section-link" classList={{ current: each === section() }} current={each === section()}>{each.text()}</Link>}
        </For>
      </nav>
      <Suspense fallback={<Loading />}>
        <Dynamic component={section().view} />
      </Suspense>
    </div>
  );
}
