/** The title of the page: the view, and nothing of what it shows, as browsers keep titles in their history. */
import { createEffect } from "solid-js";

export function useTitle(view: () => string): void {
  createEffect(() => (document.title = `${view()} · memstream`));
}
