/** Export and import of a namespace's memories, and export of a user's data, with how far each is. */
import { Progress } from "@kobalte/core/progress";
import { useQueryClient } from "@tanstack/solid-query";
import Download from "lucide-solid/icons/download";
import Upload from "lucide-solid/icons/upload";
import { createSignal, For, onCleanup, Show } from "solid-js";
import { createStore } from "solid-js/store";
import { ApiProblem, type Shape } from "../api/client";
import { may } from "../app/session";
import { number, t } from "../i18n";
import { useStatistics } from "../memories/Filters";
import { loaded } from "../ui/Loaded";
import { reason } from "../ui/states";
import { NOBODY, PersonFields } from "./Fields";
import { exportMemories, exportUser, fileName, importMemories, isReport, save, type Progress as Told, type Step } from "./transfer";

const MOST_PROBLEMS = 50;

/** An export to a file: how many lines it has so far while it runs, and what became of it. */
function createExport(fetched: (progress: Told, signal: AbortSignal) => Promise<Blob>, ended: (content: Blob, lines: number) => string, why = reason) {
  const [done, setDone] = createSignal<number>();
  const [told, setTold] = createSignal("");
  let running: AbortController | undefined;
  onCleanup(() => running?.abort());
  const start = async () => {
    running = new AbortController();
    setTold("");
    setDone(0);
    try {
      const content = await fetched(setDone, running.signal);
      setTold(ended(content, done()!));
    } catch (failed) {
      setTold(running.signal.aborted ? t("data.stopped") : t("data.failed", { reason: why(failed) }));
    }
    running = undefined;
    setDone(undefined);
  };
  return { done, told, start, stop: () => running?.abort() };
}

export function UserExport() {
  const [person, setPerson] = createStore({ ...NOBODY });
  const trimmed = () => ({ id: person.id.trim(), app: person.app.trim(), tenant: person.tenant.trim() });
  const ended = (content: Blob, lines: number) => {
    if (!lines) return t("data.nothingOfUser");
    save(content, fileName(person.id.trim(), "jsonl"));
    return t("data.userSaved", { count: number(lines) });
  };
  const why = (failed: unknown) => (failed instanceof ApiProblem && failed.status === 403 ? t("data.userRefused") : reason(failed));
  const { done, told, start, stop } = createExport((progress, signal) => exportUser(trimmed(), progress, signal), ended, why);
  return (
    <form class="panel-card form" aria-labelledby="export-user" onSubmit={(event) => (event.preventDefault(), trimmed().id && void start())}>
      <h2 id="export-user">{t("data.ofUser")}</h2>
      <p class="hint">{t("data.ofUserHint")}</p>
      <PersonFields person={person} change={setPerson} />
      <Show when={done() !== undefined} fallback={<div class="actions"><button class="button primary" type="submit"><Download aria-hidden="true" />{t("data.exportUser")}</button></div>}>
        <div class="with-send"><span class="facts grow">{t("data.exporting")}, {t("data.records", { count: number(done()!) })}</span><button type="button" class="button small" onClick={stop}>{t("data.stop")}</button></div>
      </Show>
      <p role="status" class="told">{told()}</p>
    </form>
  );
}

export function Export(props: { namespace: string }) {
  const statistics = useStatistics(() => props.namespace);
  const [versions, setVersions] = createSignal(false);
  const all = () => Object.values(loaded(statistics)?.statuses ?? {}).reduce((sum, each) => sum + each, 0);
  const ended = (content: Blob, lines: number) => (save(content, fileName(props.namespace, "jsonl")), t("data.exported", { count: number(lines) }));
  const { done, told, start, stop } = createExport((progress, signal) => exportMemories(props.namespace, versions(), progress, signal), ended);
  return (
    <section class="panel-card" aria-labelledby="export">
      <h2 id="export">{t("data.export")}</h2>
      <p class="hint">{t("data.exportHint")}</p>
      <label class="tick"><input type="checkbox" checked={versions()} onChange={(event) => setVersions(event.currentTarget.checked)} />{t("data.withVersions")}</label>
      <Show when={done() !== undefined} fallback={<div class="actions"><button class="button primary" onClick={() => void start()}><Download aria-hidden="true" />{t("data.exportNow")}</button></div>}>
        <Bar label={t("data.exporting")} value={done()!} most={Math.max(all(), done()!, 1)} said={t("data.of", { done: number(done()!), all: number(Math.max(all(), done()!)) })} stop={stop} />
      </Show>
      <p role="status" class="told">{told()}</p>
    </section>
  );
}

export function Import(props: { namespace: string }) {
  const cache = useQueryClient();
  const [file, setFile] = createSignal<File>();
  const [step, setStep] = createSignal<Step>();
  const [busy, setBusy] = createSignal(false);
  const [wrong, setWrong] = createSignal("");
  let running: AbortController | undefined;
  onCleanup(() => running?.abort());
  const start = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!file()) return void setWrong(t("data.chooseFile"));
    running = new AbortController();
    setWrong("");
    setStep(undefined);
    setBusy(true);
    try {
      await importMemories(props.namespace, file()!, setStep, running.signal);
    } catch (failed) {
      setWrong(running.signal.aborted ? t("data.stoppedImport") : t("data.failed", { reason: reason(failed) }));
    }
    setBusy(false);
    await cache.invalidateQueries({ predicate: (query) => ["memories", "statistics", "namespaces"].includes(String(query.queryKey[0])) });
  };
  const going = () => (step() && !isReport(step()!) ? (step() as Shape<"ImportProgress">) : undefined);
  const report = () => (step() && isReport(step()!) ? (step() as Shape<"ImportReport">) : undefined);
  return (
    <Show when={may("write", props.namespace)}>
      <form class="panel-card" aria-labelledby="import" onSubmit={start}>
        <h2 id="import">{t("data.import")}</h2>
        <p class="hint">{t("data.importHint", { namespace: props.namespace })}</p>
        <label class="field"><span>{t("data.file")}</span><input type="file" accept=".jsonl,.ndjson,.json" onChange={(event) => setFile(event.currentTarget.files?.[0])} /></label>
        <Show when={busy()} fallback={<div class="actions"><button class="button primary" type="submit"><Upload aria-hidden="true" />{t("data.importNow")}</button></div>}>
          <Bar
            label={t("data.importing")} value={going()?.carried_out ?? 0} most={Math.max(going()?.accepted ?? 1, 1)} stop={() => running?.abort()}
            said={going() ? t("data.carriedOut", { lines: number(going()!.lines), done: number(going()!.carried_out), all: number(going()!.accepted) }) : t("data.sending")}
          />
        </Show>
        <div role="status" class="told">
          <Show when={report()}>{(found) => <Report of={found()} />}</Show>
          <Show when={wrong()}><p class="error">{wrong()}</p></Show>
        </div>
      </form>
    </Show>
  );
}

function Report(props: { of: Shape<"ImportReport"> }) {
  return (
    <>
      <p>{t("data.imported", { lines: number(props.of.lines), accepted: number(props.of.accepted), skipped: number(props.of.skipped), rejected: number(props.of.rejected) })}</p>
      <Show when={props.of.problems.length}>
        <ul class="problems">
          <For each={props.of.problems.slice(0, MOST_PROBLEMS)}>{(problem) => <li>{t("data.line", { line: number(problem.line), reason: problem.reason })}</li>}</For>
        </ul>
      </Show>
    </>
  );
}

function Bar(props: { label: string; value: number; most: number; said: string; stop: () => void }) {
  return (
    <Progress class="progress" value={props.value} minValue={0} maxValue={props.most} getValueLabel={() => props.said}>
      <div class="facts"><Progress.Label>{props.label}</Progress.Label><span>{props.said}</span></div>
      <div class="with-send">
        <Progress.Track class="meter grow"><Progress.Fill class="fill" style={{ width: "var(--kb-progress-fill-width)" }} /></Progress.Track>
        <button type="button" class="button small" onClick={props.stop}>{t("data.stop")}</button>
      </div>
    </Progress>
  );
}
