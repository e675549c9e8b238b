/** What the view of a namespace's data is called: by what the key may do there. */
import { may, mayAnywhere } from "../app/session";
import { t } from "../i18n";

export function dataName(namespace?: string): string {
  if (mayAnywhere("admin")) return t("nav.data");
  return t((namespace ? may("write", namespace) : mayAnywhere("write")) ? "nav.exportAndImport" : "nav.export");
}
