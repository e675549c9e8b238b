/** A link within the panel that says whether it is the current one: the router's own link goes by the whole path alone. */
import { useHref, useResolvedPath } from "@solidjs/router";
import type { JSX } from "solid-js";

type Props = { href: string; current: boolean; class?: string; classList?: Record<string, boolean | undefined>; noScroll?: boolean; children: JSX.Element };

export function Link(props: Props) {
  const href = useHref(useResolvedPath(() => props.href));
  return <a link href={href()} class={props.class} classList={props.classList} noScroll={props.noScroll} aria-current={props.current ? "page" : undefined}>{props.children}</a>;
}
