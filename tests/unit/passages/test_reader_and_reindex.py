"""The reader shows what `memstream reindex` keeps, whatever a conversation's messages say of themselves."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents.passages.indexer import PassageIndexer
from agents.passages.passage_reader import PassageReading
from agents.passages.redacted_messages import RedactedMessages
from agents.passages.reindex import PassageReindexer
from agents.policies.audience import Audience
from schemas.conversations.messages import Message, Scope
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy, Privacy
from sinks.archive.messages import ArchivedMessage
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.passage_index import FakePassageIndex

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
ADDRESS = "Write to ada@example.org."
HIDDEN = Policy(name="hidden", match=Match(mode="hidden"), recall=False)
SCRUBBED = Policy(name="scrubbed", match=Match(mode="scrubbed"), privacy=Privacy(scrub=("email",)))
SHARED = Policy(name="shared", match=Match(app_id="kitchen"), namespaces=("{app_id}", "{app_id}/{user_id}"))
POLICIES = Policies((HIDDEN, SCRUBBED, SHARED))

apps = st.sampled_from([None, "kitchen", "pantry"])
modes = st.sampled_from([None, "hidden", "scrubbed", "open"])
users = st.sampled_from([None, "ada", "bob"])
messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant"]),
        "user_id": users,
        "app_id": apps,
        "mode": modes,
        "content": st.sampled_from(["Bring plums.", ADDRESS]),
    }
)
windows = st.none() | st.builds(Scope, conversation_id=st.just("c"), user_id=users, app_id=apps, mode=modes)
policies = st.lists(st.sampled_from(POLICIES.listed), unique=True).map(lambda listed: Policies(tuple(listed)))


def archived(conversation: Sequence[dict[str, Any]]) -> list[ArchivedMessage]:
    return [
        ArchivedMessage(
            message=Message(
                conversation_id="c", message_id=f"m{number}", timestamp=MONDAY + timedelta(minutes=number), **fields
            ),
            partition=0,
            position=number,
        )
        for number, fields in enumerate(conversation)
    ]


async def indexed(index: Any, followed: Policies) -> None:
    found = await Audience(index, followed).with_namespaces(list(index.archived.values()))
    await PassageIndexer(index, index, FakeEmbedder(), followed).index(found)


async def reindexed(index: Any, followed: Policies) -> None:
    await PassageReindexer(index, index, FakeEmbedder(), Audience(index, followed), followed).reindex(page=2)


async def shown(index: FakePassageIndex, followed: Policies) -> set[str]:
    return set(await PassageReading(index, followed, RedactedMessages()).by_ids(list(index.rows)))


def said(user_id: str | None = None, content: str = "Bring plums.", **fields: Any) -> dict[str, Any]:
    return {"role": "user" if user_id else "assistant", "user_id": user_id, "content": content} | fields


@settings(max_examples=300, deadline=None)
@given(conversation=st.lists(messages, min_size=1, max_size=5), window=windows, before=policies, now=policies)
@example([said("ada"), said(content=ADDRESS)], Scope(conversation_id="c", mode="scrubbed"), POLICIES, POLICIES)
@example([said("ada"), said("bob", mode="hidden"), said()], None, POLICIES, POLICIES)
@example([said("ada"), said("ada", mode="hidden"), said()], None, POLICIES, POLICIES)
async def test_reindex_keeps_what_the_reader_shows_and_the_reader_shows_what_reindex_keeps(
    conversation: list[dict[str, Any]], window: Scope | None, before: Policies, now: Policies
) -> None:
    # Given a conversation of which something is known, indexed under other policies
    index = FakePassageIndex(archived([*conversation, said("cleo")]), window)
    await indexed(index, before)
    shown_before = await shown(index, now)
    # When it is indexed again
    await reindexed(index, now)
    kept = dict(index.rows)
    await reindexed(index, now)
    # Then nothing that was shown is lost, everything that is kept is shown, and a second time changes nothing
    assert shown_before <= kept.keys()
    assert await shown(index, now) == kept.keys()
    assert index.rows == kept


async def test_a_namespace_that_several_policies_feed_is_indexed_under_the_first_of_them() -> None:
    first = Policy(name="first", match=Match(mode="hidden"), namespaces=("{app_id}",), recall=False)
    index = FakePassageIndex(
        archived([said("ada", app_id="kitchen", mode="hidden"), said("bob", app_id="kitchen", mode="open"), said()])
    )
    await indexed(index, Policies((first, SHARED)))
    reply = {each.namespace for each in index.rows.values() if each.archived.message.message_id == "m2"}
    assert reply == {"kitchen/bob"}
