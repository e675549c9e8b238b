/** One memory: all that is known of it, where it comes from, what it was, what it has to do with. */
import { Tabs } from "@kobalte/core/tabs";
import { useQuery } from "@tanstack/solid-query";
import Eraser from "lucide-solid/icons/eraser";
import Pencil from "lucide-solid/icons/pencil";
import Pin from "lucide-solid/icons/pin";
import PinOff from "lucide-solid/icons/pin-off";
import Trash from "lucide-solid/icons/trash";
import Undo2 from "lucide-solid/icons/undo-2";
import { createSignal, Match, Show, Switch } from "solid-js";
import { answered, api, isMissing } from "../api/client";
import { may } from "../app/session";
import { t } from "../i18n";
import { Back } from "../ui/Back";
import { Confirm } from "../ui/Confirm";
import { Loaded, loaded } from "../ui/Loaded";
import { Empty, Failed, Loading } from "../ui/states";
import { useAddress } from "./address";
import { useChanges } from "./changes";
import { Editor } from "./Editor";
import { Facts } from "./Facts";
import { KindIcon } from "./kinds";
import type { Memory } from "./MemoryRow";
import { RelatedMemories } from "./RelatedMemories";
import { Sources } from "./Sources";
import { Timeline } from "./Timeline";
import { useVersions, Versions } from "./Versions";

export function Detail(props: { id: string; close: () => void }) {
  const asked = useQuery(() => ({
    queryKey: ["memory", props.id],
    queryFn: ({ signal }) => answered(api.GET("/v1/memories/{memory_id}", { params: { path: { memory_id: props.id } }, signal })),
  }));
  return (
    <article class="detail">
      <Back close={props.close} />
      <Show when={!isMissing(asked.error)} fallback={<Deleted id={props.id} error={asked.error} close={props.close} />}>
        <Loaded of={asked} name={t("block.memory")} rows={4}>{(memory) => <Shown memory={memory()} close={props.close} />}</Loaded>
      </Show>
    </article>
  );
}

/** What was deleted has its history alone, which the API gives until it is erased. */
function Deleted(props: { id: string; error: unknown; close: () => void }) {
  const changes = useChanges();
  const asked = useVersions(() => props.id);
  const namespace = () => loaded(asked)?.versions.at(-1)?.namespace;
  const mayWrite = () => may("write", namespace()!);
  return (
    <Switch fallback={<Failed error={props.error} />}>
      <Match when={asked.isPending}><Loading rows={3} /></Match>
      <Match when={namespace()}>
        <Empty icon={<Trash />} title={t("memory.deleted")} hint={t(mayWrite() ? "memory.restorable" : "memory.historyStays")}>
          <Show when={mayWrite()}>
            <button class="button" onClick={() => changes.undo(props.id)}><Undo2 aria-hidden="true" />{t("memory.restore")}</button>
          </Show>
          <Erase id={props.id} namespace={namespace()!} close={props.close} />
        </Empty>
        <Versions id={props.id} />
      </Match>
    </Switch>
  );
}

function Shown(props: { memory: Memory; close: () => void }) {
  const address = useAddress();
  const mayWrite = () => may("write", props.memory.namespace);
  return (
    <>
      <header class="detail-head">
        <KindIcon kind={props.memory.kind} />
        <h2 dir="auto">{props.memory.text}</h2>
      </header>
      <Show when={mayWrite()}><Actions memory={props.memory} close={props.close} /></Show>
      <Facts memory={props.memory} />
      <Tabs class="tabs" value={address.tab()} onChange={(tab) => address.set({ tab: tab === "sources" ? undefined : tab })}>
        <Tabs.List class="tab-list">
          <Tabs.Trigger class="tab" value="sources">{t("tabs.sources")}</Tabs.Trigger>
          <Tabs.Trigger class="tab" value="versions">{t("tabs.versions")}</Tabs.Trigger>
          <Tabs.Trigger class="tab" value="related">{t("tabs.related")}</Tabs.Trigger>
          <Tabs.Trigger class="tab" value="timeline">{t("tabs.timeline")}</Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="sources"><Sources memory={props.memory} /></Tabs.Content>
        <Tabs.Content value="versions"><Versions id={props.memory.memory_id} /></Tabs.Content>
        <Tabs.Content value="related"><RelatedMemories memory={props.memory} /></Tabs.Content>
        <Tabs.Content value="timeline"><Timeline memory={props.memory} /></Tabs.Content>
      </Tabs>
    </>
  );
}

function Actions(props: { memory: Memory; close: () => void }) {
  const changes = useChanges();
  const [editing, setEditing] = createSignal(false);
  const remove = async () => {
    if (await changes.remove(props.memory)) props.close();
  };
  return (
    <div class="actions" role="group" aria-label={t("edit.editTitle")}>
      <button class="button" onClick={() => setEditing(true)}><Pencil aria-hidden="true" />{t("edit.edit")}</button>
      <button class="button" onClick={() => void changes.pin(props.memory)}>
        <Show when={props.memory.pinned} fallback={<><Pin aria-hidden="true" />{t("edit.pin")}</>}>
          <PinOff aria-hidden="true" />{t("edit.unpin")}
        </Show>
      </button>
      <button class="button" onClick={() => changes.undo(props.memory.memory_id)}><Undo2 aria-hidden="true" />{t("edit.undo")}</button>
      <button class="button danger" onClick={() => void remove()}><Trash aria-hidden="true" />{t("edit.remove")}</button>
      <Erase id={props.memory.memory_id} namespace={props.memory.namespace} close={props.close} />
      <Editor namespace={props.memory.namespace} memory={props.memory} open={editing()} close={() => setEditing(false)} />
    </div>
  );
}

function Erase(props: { id: string; namespace: string; close: () => void }) {
  const changes = useChanges();
  const erase = async () => {
    if (await changes.erase(props.id)) props.close();
  };
  return (
    <Show when={may("admin", props.namespace)}>
      <Confirm large danger icon={<Eraser aria-hidden="true" />} text={t("edit.erase")} title={t("edit.eraseTitle")} hint={t("edit.eraseHint")} act={() => void erase()} />
    </Show>
  );
}
