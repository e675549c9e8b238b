/** The panel: views in an address behind `#`, so that no server logs what is looked at. */
import { QueryCache, QueryClient, QueryClientProvider, replaceEqualDeep } from "@tanstack/solid-query";
import { HashRouter, Navigate, Route } from "@solidjs/router";
import { lazy } from "solid-js";
import { render } from "solid-js/web";
import { ApiProblem, isTemporary } from "./api/client";
import { signOut } from "./app/session";
import { Shell } from "./app/Shell";
import { MemoriesPage } from "./memories/MemoriesPage";
import "./styles/tokens.css";
import "./styles/shell.css";
import "./styles/controls.css";
import "./styles/memories.css";
import "./styles/detail.css";
import "./styles/relations.css";
import "./styles/views.css";

const MOST_TRIES = 2;

// The first view is there at once; the others are fetched when they are opened.
const ProfilePage = lazy(() => import("./profile/ProfilePage").then((view) => ({ default: view.ProfilePage })));
const LivePage = lazy(() => import("./live/LivePage").then((view) => ({ default: view.LivePage })));
const InsightsPage = lazy(() => import("./insights/InsightsPage").then((view) => ({ default: view.InsightsPage })));
const DataPage = lazy(() => import("./data/DataPage").then((view) => ({ default: view.DataPage })));
const FollowPage = lazy(() => import("./operations/trail/FollowPage").then((view) => ({ default: view.FollowPage })));
const OperationsPage = lazy(() => import("./operations/OperationsPage").then((view) => ({ default: view.OperationsPage })));
const ConversationsPage = lazy(() => import("./conversations/ConversationsPage").then((view) => ({ default: view.ConversationsPage })));

// What is the same after a fetch stays the same object, so that lists keep their rows, and forms what is typed. Queries with the name of
// an id as `reconcile` also keep the rows of items that changed: these change in place. Such a query makes new objects of what the cache has
// (`select`) where its key may change meanwhile; an effect that has to know of a fetch follows `dataUpdatedAt`.
const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (error instanceof ApiProblem && error.status === 401 && query.queryKey[0] !== "me") signOut();
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 10_000, reconcile: replaceEqualDeep, retry: (failures, error) => failures < MOST_TRIES && isTemporary(error),
      networkMode: "always", refetchOnReconnect: true, // a server on this machine answers without a network, and others fail, which is shown
    },
    mutations: { networkMode: "always" },
  },
});

render(
  () => (
    <QueryClientProvider client={queries}>
      <HashRouter root={Shell}>
        <Route path="/memories/:id?" component={MemoriesPage} />
        <Route path="/profile" component={ProfilePage} />
        <Route path="/operations/:section?/:id?" component={OperationsPage} />
        <Route path="/insights" component={InsightsPage} />
        <Route path="/data" component={DataPage} />
        <Route path="/follow" component={FollowPage} />
        <Route path="/live" component={LivePage} />
        <Route path="/conversations/:id?" component={ConversationsPage} />
        <Route path="*" component={() => <Navigate href={({ location }) => `/memories${location.search}`} />} />
      </HashRouter>
    </QueryClientProvider>
  ),
  document.getElementById("panel")!,
);
