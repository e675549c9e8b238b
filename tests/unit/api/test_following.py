"""Which streams of events are begun: what is refused before the first frame."""

from contextlib import ExitStack

import pytest

from agents.api.live import positions
from agents.api.live.change_notifier import ChangeNotifier
from agents.api.routes import events
from tests.api import Api

CYRILLIC = [f"app/{letter * 70}" for letter in "абвгдежзийклмнопрсту"]


async def test_namespaces_whose_places_would_be_too_long_to_come_back_with_are_refused(api: Api) -> None:
    answer = await api.client(read="app/*").get("/v1/events", params={"namespace": CYRILLIC})
    assert (answer.status_code, "several streams" in answer.json()["detail"]) == (422, True)


@pytest.mark.parametrize("names", [["app/ada"], CYRILLIC[:17], [f"app/{number}" for number in range(20)]])
async def test_any_place_in_namespaces_that_fit_is_read_again(names: list[str]) -> None:
    assert positions.fits_in_header(names)
    farthest = dict.fromkeys(names, positions.MAX_SEQUENCE)
    assert positions.parse_positions(positions.format_positions(farthest)) == farthest


def listeners(notifier: ChangeNotifier, key_id: str, count: int) -> ExitStack:
    """So many streams of a key, until it is closed."""
    with ExitStack() as streams:
        for _ in range(count):
            streams.enter_context(notifier.subscribe(["app/ada"], key_id))
        return streams.pop_all()


async def test_a_key_with_all_its_streams_gets_no_more_until_one_ends(api: Api) -> None:
    client = api.client(read="*")
    with listeners(api.change_notifier, "key1", events.MAX_STREAMS_PER_KEY):
        answer = await client.get("/v1/events", params={"namespace": "app/ada"})
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "10")
        assert api.change_notifier.subscribers_of("key2") == 0
    assert api.change_notifier.subscribers == api.change_notifier.subscribers_of("key1") == 0


async def test_a_process_with_all_its_streams_sends_everybody_elsewhere(api: Api) -> None:
    with ExitStack() as streams:
        for number in range(events.MAX_STREAMS // events.MAX_STREAMS_PER_KEY):
            streams.enter_context(listeners(api.change_notifier, f"other{number}", events.MAX_STREAMS_PER_KEY))
        answer = await api.client(read="*").get("/v1/events", params={"namespace": "app/ada"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
