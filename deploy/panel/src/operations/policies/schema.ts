/** What a policy's form is made from: the schema in the server's own OpenAPI document, with its descriptions. */
import { answered, api } from "../../api/client";

type Schema = {
  type?: string; enum?: string[]; anyOf?: Schema[]; $ref?: string; items?: Schema; default?: unknown; minimum?: number; maximum?: number; maxItems?: number; maxLength?: number; pattern?: string; description?: string;
  properties?: Record<string, Schema>;
};
export type Kind = "boolean" | "integer" | "number" | "text" | "choice" | "choices" | "list" | "range" | "rows" | "group" | "json";
export type Field = { name: string; kind: Kind; default: unknown; says: string; choices: string[]; minimum?: number; maximum?: number; fields: Field[]; nullable: boolean; integer: boolean; long: boolean; pattern?: string };

const LONG = 300; // characters that a text may have, from which on it is written in several lines
const APART = new Set(["name", "version"]); // the form asks for the one, and the server counts the other

export async function policyFields(signal: AbortSignal): Promise<Field[]> {
  const document = (await answered(api.GET("/v1/openapi.json", { signal }) as never)) as { components: { schemas: Record<string, Schema> } };
  return fieldsOf("Policy", document.components.schemas).filter((field) => !APART.has(field.name));
}

function fieldsOf(shape: string, schemas: Record<string, Schema>): Field[] {
  const whole = schemas[shape] ?? {};
  return Object.entries(whole.properties ?? {}).map(([name, schema]) => {
    const nullable = schema.anyOf?.some((each) => each.type === "null") ?? false;
    const one = schema.anyOf?.filter((each) => each.type !== "null") ?? [schema];
    const of = one.length === 1 ? one[0]! : {};
    const kind = kindOf(of);
    const inner = (kind === "rows" ? shapeOfRows(of) : of.$ref)?.split("/").at(-1);
    const fields = inner ? fieldsOf(inner, schemas) : [];
    return { name, kind, default: schema.default, says: said(whole.description ?? "", name), choices: of.enum ?? of.items?.enum ?? [], minimum: of.minimum, maximum: of.maximum, fields, nullable, integer: (of.items ?? of).type === "integer", long: (of.maxLength ?? 0) > LONG, pattern: of.pattern };
  });
}

/** What each row of a list has: either a name alone, or a name with more. */
const shapeOfRows = (schema: Schema) => schema.items?.anyOf?.find((each) => each.$ref)?.$ref;

function kindOf(schema: Schema): Kind {
  if (schema.enum) return "choice";
  if (schema.$ref) return "group";
  if (schema.items?.enum) return "choices";
  if (shapeOfRows(schema)) return "rows";
  if (schema.type === "array" && schema.maxItems === 2) return "range";
  if (schema.type === "array") return schema.items?.type === "string" ? "list" : "json";
  if (schema.type === "boolean" || schema.type === "integer" || schema.type === "number") return schema.type;
  return schema.type === "string" ? "text" : "json";
}

const asSentence = (clause: string) => (clause.startsWith("`") ? clause : clause.charAt(0).toUpperCase() + clause.slice(1)).replace(/[;:.]?$/, ".");

/** The text of a description about a field: what follows "`name`: " in its lists and sentences, otherwise the clauses that name it. */
function said(description: string, name: string): string {
  const names = (text: string) => text.includes(`\`${name}\``);
  const text = description.replace(/\n- /g, "; ").replace(/\s+/g, " ");
  const explained = text.split(/[;.] (?=`)/).map((part) => part.split(/: (.*)/)).filter(([head, rest]) => rest && names(head!));
  const clauses = explained.length ? explained.map(([, rest]) => rest!) : text.split(/(?<=[.;:])\s+/).filter(names);
  return clauses.map(asSentence).join(" ").replaceAll("`", "");
}
