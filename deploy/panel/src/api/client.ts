/** Requests to the API: typed by its OpenAPI document, with the key of this tab, and with problems as errors. */
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.gen";
import { key } from "../app/session";

export type Shape<Name extends keyof components["schemas"]> = components["schemas"][Name];

/** An answer that is none: what the server said is wrong, or status 0 where no server answered. */
export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    detail: string,
    readonly requestId?: string,
  ) {
    super(detail);
  }
}

/** Below the page's own address, whatever path a proxy puts it under. */
export const BASE = new URL(".", document.baseURI).href.replace(/\/$/, "");

export const api = createClient<paths>({ baseUrl: BASE });

api.use({
  onRequest({ request }) {
    const bearer = key();
    if (bearer) request.headers.set("Authorization", `Bearer ${bearer}`);
    return request;
  },
});

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The body of an answer. Throws ApiProblem. */
export async function answered<T>(asked: Promise<Answer<T>>): Promise<T> {
  const answer = await asked.catch((failed: unknown) => {
    if (failed instanceof DOMException && failed.name === "AbortError") throw failed;
    throw new ApiProblem(0, String(failed));
  });
  if (answer.response.ok) return answer.data as T;
  throw problemOf(answer.response, answer.error);
}

export function problemOf(response: Response, body: unknown): ApiProblem {
  const problem = (typeof body === "object" ? body : null) as Partial<Shape<"ProblemDetails">> | null;
  return new ApiProblem(response.status, problem?.detail ?? response.statusText, problem?.request_id ?? undefined);
}

/** What was loaded before must not be shown any longer: it is gone, or the key may not read it any more. */
export const isRefused = (error: unknown): boolean => error instanceof ApiProblem && (error.status === 403 || error.status === 404);

export const isMissing = (error: unknown): boolean => error instanceof ApiProblem && error.status === 404;

/** What may pass by itself. */
export function isTemporary(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.status === 429 || error.status === 503);
}
