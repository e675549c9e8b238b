/** Text fields of this view, and those that say which user is meant. */
import { createUniqueId } from "solid-js";
import { t } from "../i18n";

export type Person = { id: string; app: string; tenant: string };
export const NOBODY: Person = { id: "", app: "", tenant: "" };

export const userQuery = (person: { id: string; app?: string; tenant?: string }) => ({ user_id: person.id, tenant_id: person.tenant || undefined, app_id: person.app || undefined });

export function Field(props: { label: string; value: string; change: (value: string) => void; required?: boolean }) {
  const id = createUniqueId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <input id={id} maxlength="256" autocomplete="off" spellcheck={false} required={props.required} value={props.value} onInput={(event) => props.change(event.currentTarget.value)} />
    </div>
  );
}

export function PersonFields(props: { person: Person; change: (changed: Partial<Person>) => void }) {
  return (
    <>
      <div class="three">
        <Field label={t("erase.userId")} value={props.person.id} change={(id) => props.change({ id })} required />
        <Field label={t("erase.app")} value={props.person.app} change={(app) => props.change({ app })} />
        <Field label={t("erase.tenant")} value={props.person.tenant} change={(tenant) => props.change({ tenant })} />
      </div>
      <p class="hint">{t("erase.people")}</p>
    </>
  );
}
