/** Does something and says what became of it. */
import { reason } from "../ui/states";
import { notify } from "../ui/toasts";
import { w } from "./words";

/** The answer; undefined where it failed, which is told. */
export async function act<T>(doing: () => Promise<T>, done: (answer: T) => string): Promise<T | undefined> {
  try {
    const answer = await doing();
    notify(done(answer));
    return answer;
  } catch (failed) {
    notify(w("common.failed", { reason: reason(failed) }), undefined, "bad");
    return undefined;
  }
}
