"""Which streams of events are begun: what is refused before the first frame."""

import pytest

from agents.api.live import places
from tests.api import Api

CYRILLIC = [f"app/{letter * 70}" for letter in "абвгдежзийклмнопрсту"]


async def test_namespaces_whose_places_would_be_too_long_to_come_back_with_are_refused(api: Api) -> None:
    answer = await api.client(read="app/*").get("/v1/events", params={"namespace": CYRILLIC})
    assert (answer.status_code, "several streams" in answer.json()["detail"]) == (422, True)


@pytest.mark.parametrize("names", [["app/ada"], CYRILLIC[:17], [f"app/{number}" for number in range(20)]])
async def test_any_place_in_namespaces_that_fit_is_read_again(names: list[str]) -> None:
    assert places.fits(names)
    farthest = dict.fromkeys(names, places.LARGEST)
    assert places.read(places.written(farthest)) == farthest
