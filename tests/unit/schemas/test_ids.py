"""Derived ids are stable across versions."""

from hypothesis import given
from hypothesis import strategies as st

from schemas import ids

GOLDEN = {
    "request": "0c29d1e7-ad04-5b84-b727-05e75c1081be",
    "candidate": "704c7722-48b3-5fe1-b120-372f2e6f407d",
    "memory": "ef4092bc-f36b-5387-af18-53b6c310b94b",
    "event": "e5dc4a0b-ddaa-51c8-ac67-6e61346062af",
    "activity": "514c9d82-317a-5285-90f8-850d77ba1900",
}


def derived():
    request = ids.request_id("conversation-1", 3, 17, 42, "message-17")
    candidate = ids.candidate_id(request, "app/user", 0)
    return {
        "request": request,
        "candidate": candidate,
        "memory": ids.memory_id(candidate),
        "event": ids.event_id("app/user", 1),
        "activity": ids.activity_id("extraction.completed", request),
    }


def test_derived_ids_equal_the_recorded_ones():
    assert derived() == GOLDEN


def test_id_parts_are_separated_unambiguously():
    assert ids.derive("kind", "a", "bc") != ids.derive("kind", "ab", "c")
    assert ids.derive("kind", "a", "") != ids.derive("kind", "", "a")
    assert ids.derive("kinda", "b") != ids.derive("kind", "ab")


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_different_causes_have_different_ids(one, other):
    assert (ids.derive("kind", *one) == ids.derive("kind", *other)) == (one == other)


def test_another_first_message_is_another_request():
    """A topic that was deleted and made anew counts its offsets from 0 again."""
    assert ids.request_id("c", 0, 0, 9, "m-1") != ids.request_id("c", 0, 0, 9, "m-2")


def test_candidate_ids_differ_between_namespaces():
    assert ids.candidate_id("r", "app/one", 0) != ids.candidate_id("r", "app/two", 0)
