/** Kinds of memories: an icon and a colour each. One that a policy, a tool or a model made up has the icon that it was given. */
import { useQuery } from "@tanstack/solid-query";
import CalendarDays from "lucide-solid/icons/calendar-days";
import Lightbulb from "lucide-solid/icons/lightbulb";
import Pin from "lucide-solid/icons/map-pin";
import Scale from "lucide-solid/icons/scale";
import Star from "lucide-solid/icons/star";
import Shapes from "lucide-solid/icons/shapes";
import Target from "lucide-solid/icons/target";
import type { LucideIcon } from "lucide-solid";
import { createEffect, createSignal, Show } from "solid-js";
import { Dynamic } from "solid-js/web";
import { answered, api, type Shape } from "../api/client";
import { named } from "../i18n";
import { loaded } from "../ui/Loaded";

type Look = { icon: LucideIcon; hue: number };
const LOOKS: Record<string, Look> = {
  fact: { icon: Pin, hue: 255 },
  preference: { icon: Star, hue: 75 },
  decision: { icon: Scale, hue: 305 },
  plan: { icon: CalendarDays, hue: 165 },
  insight: { icon: Lightbulb, hue: 20 },
  goal: { icon: Target, hue: 130 },
};

function lookOf(kind: string): Look {
  const sum = [...kind].reduce((total, letter) => total + letter.codePointAt(0)!, 0);
  return LOOKS[kind] ?? { icon: Shapes, hue: (sum * 47) % 360 };
}

export const hueOf = (kind: string): number => lookOf(kind).hue;

type Kind = Shape<"KindView">;
const [known, setKnown] = createSignal<Record<string, Kind>>({}); // of the namespace that is looked at

/** The kinds that memories of a namespace have or may have. */
export function useKinds(namespace: () => string | undefined) {
  const asked = useQuery(() => ({
    queryKey: ["kinds", namespace()],
    queryFn: async ({ signal }) => (await answered(api.GET("/v1/kinds", { params: { query: { namespace: namespace()! } }, signal }))).kinds,
    enabled: !!namespace(),
    staleTime: 60_000,
  }));
  return () => loaded(asked) ?? [];
}

/** Has icons and descriptions at hand wherever a kind is shown. */
export function followKinds(namespace: () => string | undefined): void {
  const kinds = useKinds(namespace);
  createEffect(() => setKnown(Object.fromEntries(kinds().map((kind) => [kind.name, kind]))));
}

export const describedKind = (kind: string): string | undefined => known()[kind]?.description || undefined;

export function KindIcon(props: { kind: string }) {
  const own = () => (props.kind in LOOKS ? undefined : known()[props.kind]?.icon);
  return (
    <span class="kind-icon" style={{ "--hue": lookOf(props.kind).hue }} aria-hidden="true">
      <Show when={own()} fallback={<Dynamic component={lookOf(props.kind).icon} />}>{(icon) => <span class="own-icon">{icon()}</span>}</Show>
    </span>
  );
}

export const kindName = (kind: string): string => named("kind", kind);
