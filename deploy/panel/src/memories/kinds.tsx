/** Kinds of memories: an icon and a colour each. A kind that a policy made up has the policy's own icon. */
import { useQuery } from "@tanstack/solid-query";
import CalendarDays from "lucide-solid/icons/calendar-days";
import Lightbulb from "lucide-solid/icons/lightbulb";
import Pin from "lucide-solid/icons/map-pin";
import Scale from "lucide-solid/icons/scale";
import Star from "lucide-solid/icons/star";
import Shapes from "lucide-solid/icons/shapes";
import Target from "lucide-solid/icons/target";
import type { LucideIcon } from "lucide-solid";
import { Show } from "solid-js";
import { Dynamic } from "solid-js/web";
import { answered, api } from "../api/client";
import { named } from "../i18n";

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

/** The kinds of the policy that governs a namespace, where the key may know it. */
export function usePolicyKinds(namespace: () => string | undefined) {
  const asked = useQuery(() => ({
    queryKey: ["settings", namespace()],
    queryFn: ({ signal }) => answered(api.GET("/v1/settings", { params: { query: { namespace: namespace()! } }, signal })),
    enabled: !!namespace(),
    staleTime: 300_000,
  }));
  return () => (asked.isSuccess ? (asked.data.kinds ?? []) : []).map((kind) => (typeof kind === "string" ? { name: kind } : kind));
}

export function KindIcon(props: { kind: string; icon?: string }) {
  return (
    <span class="kind-icon" style={{ "--hue": lookOf(props.kind).hue }} aria-hidden="true">
      <Show when={props.icon && !(props.kind in LOOKS)} fallback={<Dynamic component={lookOf(props.kind).icon} />}>
        {props.icon}
      </Show>
    </span>
  );
}

export const kindName = (kind: string): string => named("kind", kind);
