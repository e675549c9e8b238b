/** The views, the namespace that they show, and who is signed in. */
import { useLocation, useSearchParams } from "@solidjs/router";
import Activity from "lucide-solid/icons/activity";
import ChartColumn from "lucide-solid/icons/chart-column";
import Archive from "lucide-solid/icons/archive";
import MessagesSquare from "lucide-solid/icons/messages-square";
import Workflow from "lucide-solid/icons/workflow";
import UserRound from "lucide-solid/icons/user-round";
import NotebookText from "lucide-solid/icons/notebook-text";
import LogOut from "lucide-solid/icons/log-out";
import type { LucideIcon } from "lucide-solid";
import { createEffect, For, Show } from "solid-js";
import { Dynamic } from "solid-js/web";
import { t } from "../i18n";
import { dataName } from "../data/name";
import { Link } from "../ui/Link";
import { Logo } from "../ui/Logo";
import { followKinds } from "../memories/kinds";
import { DisplayMenu } from "./DisplayMenu";
import { NamespacePicker } from "./NamespacePicker";
import { bringIntoSight } from "../ui/sight";
import { mayEverywhere, signOut } from "./session";

type View = { path: string; text: (namespace?: string) => string; icon: LucideIcon; ofAll?: boolean };
const VIEWS: View[] = [
  { path: "/memories", text: () => t("nav.memories"), icon: NotebookText },
  { path: "/profile", text: () => t("nav.profile"), icon: UserRound },
  { path: "/conversations", text: () => t("nav.conversations"), icon: MessagesSquare },
  { path: "/insights", text: () => t("nav.insights"), icon: ChartColumn },
  { path: "/data", text: dataName, icon: Archive },
  { path: "/live", text: () => t("nav.live"), icon: Activity },
  { path: "/operations", text: () => t("nav.operations"), icon: Workflow, ofAll: true },
];

export function Navigation(props: { keyed: boolean; name: string }) {
  const [search] = useSearchParams<{ ns?: string }>();
  followKinds(() => search.ns || undefined);
  const suffix = () => (search.ns ? `?ns=${encodeURIComponent(search.ns)}` : "");
  const location = useLocation();
  const isIn = (view: View) => location.pathname === view.path || location.pathname.startsWith(`${view.path}/`);
  let views!: HTMLElement;
  createEffect(() => location.pathname && queueMicrotask(() => bringIntoSight(views)));
  return (
    <header class="navigation">
      <Logo />
      <NamespacePicker />
      <nav aria-label={t("nav.label")} ref={views}>
        <For each={VIEWS.filter((view) => !view.ofAll || mayEverywhere("read"))}>
          {(view) => (
            <Link href={view.path + suffix()} class="view" classList={{ current: isIn(view) }} current={isIn(view)}>
              <Dynamic component={view.icon} aria-hidden="true" />
              <span>{view.text(search.ns || undefined)}</span>
            </Link>
          )}
        </For>
      </nav>
      <div class="who">
        <DisplayMenu />
        <Show when={props.keyed}>
          <span class="name" title={props.name}>{props.name}</span>
          <button class="icon-button" onClick={signOut} aria-label={t("nav.signOut")} title={t("nav.signOut")}>
            <LogOut />
          </button>
        </Show>
      </div>
    </header>
  );
}
