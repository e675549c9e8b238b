"""Message ratings of the extracting model on the running pipeline, in the API and in its counts."""

import json
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from deploy.embedded.ports import free_port
from tests.builders.chat_events import message
from tests.deployment import Event, eventually
from tests.servers.messages import KEY, MODELS, MessagesServer

RATING = {
    "name": "rating",
    "triggers": {"on_exchange": True},
    "window": {"max_messages": 20, "min_recent": 2, "rate_messages": True},
}
PLANS = "We will walk along the"
WAYS = ("slowly", "quietly", "gladly", "easily", "calmly", "warmly", "kindly", "safely", "neatly", "softly")
PLACES = ("harbour", "meadow")


def rating(body: dict[str, Any]) -> str:
    """The exchange about plans is said to matter in the harbour, and not in the meadow; others are answered without ratings."""
    _, _, transcript = json.dumps(body["messages"]).rpartition("<transcript>")
    if PLANS not in transcript:
        return "rules"
    ratings = [{"message": number, "importance": 9 if "harbour" in transcript else 0} for number in (1, 2)]
    return f"text:{json.dumps({'memories': [], 'ratings': ratings})}"


def exchange(place: str, number: int, text: str) -> list[Event]:
    # Said now: age would outweigh any rating.
    who = {"app_id": "a", "user_id": place, "at": datetime.now(UTC)}
    return [message(place, number, text, **who), message(place, number + 1, "Fine.", role="assistant", **who)]


async def test_importance_ratings_of_a_model_are_returned_and_applied_and_token_counts_are_cached(
    deploy: Any, tmp_path: Path
):
    (tmp_path / "policies.json").write_text(json.dumps([RATING]))
    async with MessagesServer() as server:
        server.choose = rating
        deployment = await deploy(
            "ratings",
            policies_file=tmp_path / "policies.json",
            provider="claude",
            claude_model=MODELS[0],
            anthropic_base_url=server.url,
            anthropic_api_key=SecretStr(KEY),
            api_metrics_port=(port := free_port()),
        )
        await deployment.worker()
        async with httpx.AsyncClient(base_url=await deployment.api(), timeout=30) as api:

            async def messages_of(place: str) -> list[dict[str, Any]]:
                found: list[dict[str, Any]] = (await api.get(f"/v1/conversations/{place}/messages")).json()["messages"]
                return found

            async def ratings(place: str) -> dict[str, int]:
                return {each["message_id"]: each["rating"] for each in await messages_of(place) if "rating" in each}

            async def kept(place: str) -> set[str]:
                return {each["message_id"] for each in await messages_of(place) if each["in_context"]}

            for number, text in ((1, "Good morning to the"), (3, PLANS)):
                for place in PLACES:
                    await deployment.publish(*exchange(place, number, f"{text} {place}."))
                await deployment.settled()

            async def both_rated() -> bool:
                return all([await ratings(place) for place in PLACES])

            await eventually(both_rated, "both plans are rated")
            assert await ratings("harbour") == {"harbour-3": 9, "harbour-4": 9}
            assert await ratings("meadow") == {"meadow-3": 0, "meadow-4": 0}

            for place in PLACES:
                talk = (exchange(place, 5 + 2 * at, f"Then we go on {way}.") for at, way in enumerate(WAYS))
                await deployment.publish(*chain.from_iterable(talk))
            await deployment.settled()

            async def whole(place: str) -> bool:
                window = (await api.get(f"/v1/conversations/{place}")).json()["statistics"]
                return bool(window["total_messages"] == len(await messages_of(place)) == 4 + 2 * len(WAYS))

            async def both_pruned() -> bool:
                return all(
                    [await whole(place) and len(await kept(place)) < len(await messages_of(place)) for place in PLACES]
                )

            await eventually(both_pruned, "both contexts are pruned, with all messages")
            assert {"harbour-3", "harbour-4"} <= await kept("harbour")
            assert not {"meadow-3", "meadow-4"} & await kept("meadow")
            assert await counted(port, cached="false") > 0
            before = await counted(port, cached="true")
            await messages_of("harbour")
            assert await counted(port, cached="true") > before


async def counted(port: int, **labels: str) -> float:
    """Requests for token counts that the API's metrics tell of."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as metrics:
        families = text_string_to_metric_families((await metrics.get("/metrics")).text)
    samples = [sample for family in families for sample in family.samples]
    return sum(each.value for each in samples if (each.name, each.labels) == ("memstream_token_counts_total", labels))
