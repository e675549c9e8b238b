/** A link to what became of a message. */
import { A, useSearchParams } from "@solidjs/router";
import { t } from "../i18n";

export function FollowLink(props: { conversation: string; message: string }) {
  const [search] = useSearchParams<{ ns?: string }>();
  const to = () => new URLSearchParams({ ns: search.ns ?? "", conversation: props.conversation, message: props.message });
  return <A class="memory-link" href={`/follow?${to()}`}>{t("conversation.follow")}</A>;
}
