/** What a policy's form is made from: the schema in the server's own OpenAPI document, with its descriptions. */
import { answered, api } from "../../api/client";

type Schema = { type?: string; enum?: string[]; anyOf?: Schema[]; $ref?: string; items?: Schema; default?: unknown; minimum?: number; maximum?: number; maxLength?: number; format?: string; description?: string; properties?: Record<string, Schema> };
export type Kind = "boolean" | "integer" | "number" | "text" | "choice" | "list" | "group" | "json";
export type Field = { name: string; kind: Kind; default: unknown; says: string; choices: string[]; minimum?: number; maximum?: number; fields: Field[]; nullable: boolean };

const APART = new Set(["name", "version"]); // the form asks for the one, and the server counts the other

export async function policyFields(signal: AbortSignal): Promise<Field[]> {
  const document = (await answered(api.GET("/v1/openapi.json", { signal }) as never)) as { components: { schemas: Record<string, Schema> } };
  return fieldsOf("Policy", document.components.schemas, 0).filter((field) => !APART.has(field.name));
}

function fieldsOf(shape: string, schemas: Record<string, Schema>, depth: number): Field[] {
  const whole = schemas[shape] ?? {};
  return Object.entries(whole.properties ?? {}).map(([name, schema]) => {
    const nullable = schema.anyOf?.some((each) => each.type === "null") ?? false;
    const one = schema.anyOf?.filter((each) => each.type !== "null") ?? [schema];
    const of = one.length === 1 ? one[0]! : {};
    const inner = of.$ref?.split("/").at(-1);
    const kind = kindOf(of, depth);
    const fields = kind === "group" && inner ? fieldsOf(inner, schemas, depth + 1) : [];
    return { name, kind, default: schema.default, says: said(whole.description ?? "", name), choices: of.enum ?? [], minimum: of.minimum, maximum: of.maximum, fields, nullable };
  });
}

function kindOf(schema: Schema, depth: number): Kind {
  if (schema.enum) return "choice";
  if (schema.$ref) return depth === 0 ? "group" : "json";
  if (schema.type === "array") return schema.items?.type === "string" ? "list" : "json";
  if (schema.type === "boolean" || schema.type === "integer" || schema.type === "number") return schema.type;
  return schema.type === "string" ? "text" : "json";
}

/** The clauses of a description that tell of a field. */
function said(description: string, name: string): string {
  const clauses = description.replace(/\s+/g, " ").split(/(?<=[.;:])\s+/);
  return clauses.filter((clause) => clause.includes(`\`${name}\``)).join(" ").replaceAll("`", "");
}
