/** What differs between two versions of a policy, field by field, also within groups such as `window`. */
export type Difference = { name: string; before?: unknown; after?: unknown };

const NOT_COMPARED = ["name", "version"];
const isGroup = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Fields by their paths, such as `window.max_messages`. */
function flat(policy: Record<string, unknown>, above = ""): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(policy)) {
    if (!above && NOT_COMPARED.includes(name)) continue;
    if (isGroup(value)) flat(value, `${above}${name}.`).forEach((inner, path) => fields.set(path, inner));
    else fields.set(above + name, value);
  }
  return fields;
}

export function differences(before: Record<string, unknown>, after: Record<string, unknown>): Difference[] {
  const [then, now] = [flat(before), flat(after)];
  const names = [...new Set([...then.keys(), ...now.keys()])].sort();
  return names
    .filter((name) => JSON.stringify(then.get(name)) !== JSON.stringify(now.get(name)))
    .map((name) => ({ name, before: then.get(name), after: now.get(name) }));
}
