/** Reads a conversation again once its window has carried out what was asked for. */
import { useQueryClient } from "@tanstack/solid-query";

const CARRIED_OUT_MS = 1_500;

/** Resolves once it is read; never where it is asked for again before. */
export function useReadAgain(id: () => string): () => Promise<void> {
  const cache = useQueryClient();
  let timer: number | undefined;
  return () => {
    const conversation = id();
    clearTimeout(timer);
    return new Promise((done) => {
      timer = window.setTimeout(() => done(cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === conversation })), CARRIED_OUT_MS);
    });
  };
}
