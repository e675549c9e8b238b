"""The namespaces that a conversation feeds, and the read rights that it requires."""

import pytest

from agents.conversations.lookup import Conversation, Conversations
from agents.conversations.owners import namespaces_of, scope_of
from schemas.access.keys import Grant
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Gap
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from tests.fakes.archive import FakeArchive
from tests.fakes.windows import FakeWindows, a_state

POLICIES = Policies(
    (
        Policy(name="kitchen", match=Match(app_id="kitchen"), namespaces=("{app_id}/{user_id}", "{app_id}")),
        Policy(name="notes", match=Match(app_id="notes"), namespaces=("{app_id}/{user_id}",)),
        Policy(name="window", match=Match(app_id="window"), extract=False, namespaces=()),
    )
)


def scope(**fields: str) -> Scope:
    return Scope(conversation_id="talk", **fields)


def fed(*said: Scope, window: Scope | None = None) -> tuple[str, ...]:
    return namespaces_of(scope_of("talk", window, said), said, POLICIES)


def test_messages_without_a_user_id_belong_to_the_named_user_of_the_conversation():
    assistant, ada = scope(), scope(app_id="kitchen", user_id="ada")
    assert fed(assistant, ada, assistant) == fed(ada) == ("kitchen/ada", "kitchen")
    assert fed(assistant, window=ada) == ("kitchen/ada", "kitchen")


def test_a_conversation_with_several_speakers_feeds_the_namespaces_of_all():
    ada, bob = scope(app_id="kitchen", user_id="ada"), scope(app_id="kitchen", user_id="bob")
    assert fed(ada, bob) == ("kitchen/ada", "kitchen", "kitchen/bob")
    assert fed(bob, window=ada) == ("kitchen/ada", "kitchen", "kitchen/bob")


def test_a_conversation_id_used_by_two_apps_feeds_the_namespaces_of_both():
    assert fed(scope(app_id="kitchen", user_id="ada"), scope(app_id="notes", user_id="eve")) == (
        *("kitchen/ada", "kitchen", "notes/eve"),
    )


def test_a_conversation_that_fits_no_namespace_template_feeds_its_own_namespace():
    assert fed(scope(app_id="window", user_id="ada")) == ("conversation/talk",)


class Known:
    """A conversation of ada's, in the archive and in its window's row, or in one of them."""

    def __init__(self) -> None:
        self.archive, self.windows = FakeArchive(), FakeWindows()
        self.conversations = Conversations(self.windows, self.archive, POLICIES)

    async def find(self, *patterns: str) -> Conversation | None:
        grants = [Grant("read", pattern) for pattern in patterns]
        return await self.conversations.find("talk", lambda name: any(grant.allows("read", name) for grant in grants))


@pytest.fixture
def known() -> Known:
    return Known()


@pytest.mark.parametrize(
    ("patterns", "may"),
    [
        (("*",), True),
        (("kitchen*",), True),
        (("kitchen/ada", "kitchen"), True),
        (("kitchen/ada",), False),
        (("kitchen",), False),
        (("kitchen/*",), False),
        (("kitchen/bob", "kitchen"), False),
        (("conversation/talk",), False),
        (("notes/*",), False),
        ((), False),
    ],
)
async def test_a_conversation_is_found_only_with_read_rights_to_every_namespace_it_feeds(
    known: Known, patterns: tuple[str, ...], may: bool
):
    known.archive.say("talk", ("user", "Hi."), ("assistant", "Hello."), app_id="kitchen", user_id="ada")
    assert (await known.find(*patterns) is not None) is may
    await known.windows.project([a_state("talk", scope=scope(app_id="kitchen", user_id="ada"))])
    assert (await known.find(*patterns) is not None) is may


async def test_a_message_of_another_speaker_hides_a_conversation_from_readers_without_rights_to_that_speaker(
    known: Known,
):
    known.archive.say("talk", ("user", "Hi."), app_id="kitchen", user_id="ada")
    await known.windows.project([a_state("talk", scope=scope(app_id="kitchen", user_id="ada"))])
    assert await known.find("kitchen/ada", "kitchen")
    known.archive.say("talk", ("user", "My turn."), app_id="kitchen", user_id="bob")
    assert await known.find("kitchen/ada", "kitchen") is None
    assert await known.find("kitchen/ada", "kitchen/bob", "kitchen")


async def test_a_conversation_is_found_from_its_messages_or_its_window_alone(known: Known):
    assert await known.find("*") is None
    known.archive.say("talk", ("user", "Hi."), app_id="notes", user_id="ada")
    found = await known.find("*")
    assert found is not None and found.state is None
    assert (found.policy.name, found.namespaces, found.conversation_id) == ("notes", ("notes/ada",), "talk")
    known.archive.messages.clear()
    await known.windows.project([state := a_state("talk", scope=scope(app_id="notes", user_id="ada"))])
    found = await known.find("*")
    assert found is not None and found.state == state


async def test_gap_markers_lose_their_summaries_when_a_namespace_of_the_conversation_is_erased(known: Known):
    gaps = (Gap(2, 3, 2, 9, "She moved to Ghent.", 5), Gap(5, 5, 1, 3))
    await known.windows.project([a_state("talk", scope=scope(app_id="notes", user_id="ada"), gaps=gaps)])
    known.archive.erased_namespaces.add("notes/eve")
    found = await known.find("*")
    assert found is not None and found.state is not None and found.state.gaps == gaps
    known.archive.erased_namespaces.add("notes/ada")
    found = await known.find("*")
    assert found is not None and found.state is not None
    assert [gap.marker for gap in found.state.gaps] == [
        *("... [2 messages removed] ...", "... [1 message removed] ..."),
    ]
