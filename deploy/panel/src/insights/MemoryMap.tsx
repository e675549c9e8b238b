/** A map of what is remembered: similar memories lie near to each other. Arrow keys go from one to the next in a direction, plus and
 * minus zoom, Enter opens; what is chosen is told in words. */
import { useNavigate } from "@solidjs/router";
import { useQuery } from "@tanstack/solid-query";
import { least } from "d3-array";
import { scaleLinear } from "d3-scale";
import Minus from "lucide-solid/icons/minus";
import Plus from "lucide-solid/icons/plus";
import { createMemo, createSignal, For, Show } from "solid-js";
import { answered, api, type Shape } from "../api/client";
import { number, percent, t } from "../i18n";
import { hueOf, kindName } from "../memories/kinds";
import { MemoryLink } from "../ui/MemoryLink";
import { Card } from "./InsightsPage";

type Placed = Shape<"PlacedMemory">;
const MOST = 500;
const DEEPEST = 16;
const NEAREST = 5;
const radius = scaleLinear([0, 1], [0.012, 0.028]); // of an importance, in units of the plane, which is 2 wide
const DIRECTIONS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** The nearest one that lies rather in this direction than beside it. */
export function next(from: Placed, [dx, dy]: [number, number], all: Placed[]): Placed | undefined {
  const reach = (to: Placed) => {
    const [x, y] = [to.x - from.x, to.y - from.y];
    const along = x * dx + y * dy;
    const across = Math.abs(x * dy) + Math.abs(y * dx);
    return along > 0 && across <= along * 1.5 ? along + 2 * across : Infinity;
  };
  return least(all.filter((each) => each !== from && reach(each) < Infinity), reach);
}

export function MemoryMap(props: { namespace: string }) {
  const asked = useQuery(() => ({
    queryKey: ["map", props.namespace],
    queryFn: ({ signal }) => answered(api.GET("/v1/map", { params: { query: { namespace: props.namespace, limit: MOST } }, signal })),
    staleTime: 60_000,
  }));
  return (
    <Card title={t("map.title")} asked={asked}>
      {(map) => (
        <Show when={map().memories.length} fallback={<p class="hint">{t("map.tooFew")}</p>}>
          <Plane memories={map().memories} namespace={props.namespace} />
          <p class="hint">{t("map.explained", { count: number(map().memories.length), share: percent(map().explained) })}</p>
        </Show>
      )}
    </Card>
  );
}

function Plane(props: { memories: Placed[]; namespace: string }) {
  const navigate = useNavigate();
  const [chosen, choose] = createSignal<Placed>();
  const [zoom, setZoom] = createSignal(1);
  const nearer = (factor: number) => setZoom((now) => Math.min(DEEPEST, Math.max(1, now * factor)));
  const box = createMemo(() => {
    const size = 2.2 / zoom();
    const edge = (at: number) => Math.min(Math.max(at - size / 2, -1.1), 1.1 - size);
    return `${edge(chosen()?.x ?? 0)} ${edge(-(chosen()?.y ?? 0))} ${size} ${size}`;
  });
  const kinds = () => [...new Set(props.memories.map((each) => each.kind))];
  const near = () => [...props.memories].filter((each) => each !== chosen()).sort((a, b) => distance(a, chosen()!) - distance(b, chosen()!)).slice(0, NEAREST);
  const pressed = (event: KeyboardEvent) => {
    const direction = DIRECTIONS[event.key];
    if (direction) choose((now) => (now ? (next(now, direction, props.memories) ?? now) : props.memories[0]));
    else if (event.key === "+") nearer(2);
    else if (event.key === "-") nearer(0.5);
    else if (event.key === "Enter" && chosen()) navigate(`/memories/${encodeURIComponent(chosen()!.memory_id)}?ns=${encodeURIComponent(props.namespace)}`);
    else return;
    event.preventDefault();
  };
  return (
    <div class="map">
      <div class="map-place">
        <svg class="plane" viewBox={box()} role="application" tabindex="0" aria-label={t("map.label")} aria-describedby="map-help" onKeyDown={pressed}>
          <For each={props.memories}>
            {(each) => (
              <circle class="dot-memory" classList={{ chosen: each === chosen() }} style={{ "--hue": hueOf(each.kind) }} cx={each.x} cy={-each.y} r={radius(each.importance) / Math.sqrt(zoom())} onClick={() => choose(each)}>
                <title>{each.text}</title>
              </circle>
            )}
          </For>
        </svg>
        <div class="map-tools">
          <button class="icon-button" aria-label={t("map.nearer")} onClick={() => nearer(2)}><Plus /></button>
          <button class="icon-button" aria-label={t("map.farther")} onClick={() => nearer(0.5)}><Minus /></button>
        </div>
      </div>
      <div class="map-side">
        <p class="hint" id="map-help">{t("map.help")}</p>
        <div aria-live="polite">
          <Show when={chosen()}>{(memory) => <p class="map-chosen"><span class="badge">{kindName(memory().kind)}</span> <MemoryLink id={memory().memory_id}><span dir="auto">{memory().text}</span></MemoryLink></p>}</Show>
        </div>
        <Show when={chosen()}>
          <h3>{t("map.near")}</h3>
          <ul class="lines"><For each={near()}>{(each) => <li><button class="as-text" dir="auto" onClick={() => choose(each)}>{each.text}</button></li>}</For></ul>
        </Show>
        <ul class="legend"><For each={kinds()}>{(kind) => <li><i class="dot kind-dot" style={{ "--hue": hueOf(kind) }} aria-hidden="true" />{kindName(kind)}</li>}</For></ul>
      </div>
    </div>
  );
}

const distance = (a: Placed, b: Placed) => Math.hypot(a.x - b.x, a.y - b.y);
