"""Event streams rejected before the first frame, by position size and stream limits."""

from contextlib import ExitStack

import pytest

from agents.api.live import positions
from agents.api.live.change_notifier import ChangeNotifier
from agents.api.routes import events
from tests.api import Api

CYRILLIC = [f"app/{letter * 70}" for letter in "абвгдежзийклмнопрсту"]


async def test_an_event_stream_whose_last_event_id_would_exceed_the_header_limit_is_rejected(api: Api) -> None:
    answer = await api.client(read="app/*").get("/v1/events", params={"namespace": CYRILLIC})
    assert (answer.status_code, "several streams" in answer.json()["detail"]) == (422, True)


@pytest.mark.parametrize("names", [["app/ada"], CYRILLIC[:17], [f"app/{number}" for number in range(20)]])
async def test_positions_of_namespaces_that_fit_in_the_header_survive_formatting_and_parsing(names: list[str]) -> None:
    assert positions.fits_in_header(names)
    farthest = dict.fromkeys(names, positions.MAX_SEQUENCE)
    assert positions.parse_positions(positions.format_positions(farthest)) == farthest


def listeners(notifier: ChangeNotifier, key_id: str, count: int) -> ExitStack:
    """So many streams of a key, until it is closed."""
    with ExitStack() as streams:
        for _ in range(count):
            streams.enter_context(notifier.subscribe(["app/ada"], key_id))
        return streams.pop_all()


async def test_a_key_at_its_stream_limit_gets_429(api: Api) -> None:
    client = api.client(read="*")
    with listeners(api.change_notifier, "key1", events.MAX_STREAMS_PER_KEY):
        answer = await client.get("/v1/events", params={"namespace": "app/ada"})
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "10")
        assert api.change_notifier.subscribers_of("key2") == 0
    assert api.change_notifier.subscribers == api.change_notifier.subscribers_of("key1") == 0


async def test_a_process_at_its_stream_limit_returns_503(api: Api) -> None:
    with ExitStack() as streams:
        for number in range(events.MAX_STREAMS // events.MAX_STREAMS_PER_KEY):
            streams.enter_context(listeners(api.change_notifier, f"other{number}", events.MAX_STREAMS_PER_KEY))
        answer = await api.client(read="*").get("/v1/events", params={"namespace": "app/ada"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
