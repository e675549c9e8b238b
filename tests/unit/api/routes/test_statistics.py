"""Statistics of a namespace over HTTP: contents and usage."""

from datetime import timedelta

from schemas.budgets.budgets import Amount, Level
from schemas.budgets.usage import Total
from tests.api import NOON, Api, a_memory

ADA = {"namespace": "app/ada"}
TOTAL = Total(
    operation="extract",
    lane="live",
    provider="claude",
    model="m",
    answered=2,
    failed=0,
    calls=2,
    input_tokens=100,
    output_tokens=20,
    cache_read_tokens=3,
    cache_write_tokens=4,
    cost_micros=1_500_000,
    unpriced=0,
)


async def test_statistics_need_the_right_to_read_the_namespace(api: Api):
    api.memories.put(a_memory("m1"), a_memory("m2"), a_memory("b", namespace="app/bob"))
    client = api.client(read="app/ada")
    assert (await client.get("/v1/statistics", params=ADA)).json()["live"] == 2
    assert (await client.get("/v1/statistics", params={"namespace": "app/bob"})).status_code == 403


async def test_usage_of_a_namespace_includes_its_remaining_budget(api: Api):
    api.usage.by_namespace["app/ada"] = [TOTAL, TOTAL]
    api.usage.by_scope["namespace app/ada"] = Level(day=Amount(400, 0), reserved=Amount(50, 0))
    body = (await api.client(read="app/ada").get("/v1/usage", params=ADA)).json()
    assert (body["tokens"], body["cost_usd"], len(body["totals"])) == (254, 3.0, 2)
    assert body["budget"] == [
        {"limit": "tokens_per_day", "of": 1000, "spent": 400, "reserved": 50, "remains": 550},
    ]
    assert api.usage.periods == [(NOON - timedelta(days=1), NOON)]


async def test_total_usage_needs_the_right_to_read_everything(api: Api):
    assert (await api.client(read="app/*").get("/v1/usage")).status_code == 403
    assert (await api.client(read="*").get("/v1/usage")).json()["tokens"] == 0


async def test_a_usage_interval_must_be_in_order_and_have_full_timestamps(api: Api):
    client = api.client(read="*")
    times = {"since": "2026-03-01T00:00:00Z", "until": "2026-03-02T00:00:00+01:00"}
    assert (await client.get("/v1/usage", params=times)).json()["since"] == "2026-03-01T00:00:00Z"
    swapped = {"since": times["until"], "until": times["since"]}
    assert (await client.get("/v1/usage", params=swapped)).status_code == 422
    assert (await client.get("/v1/usage", params={"since": "2026-03-01"})).status_code == 422


async def test_the_cost_of_a_memory_needs_the_right_to_read_it(api: Api) -> None:
    api.memories.put(a_memory("m1"))
    response = await api.client(read="app/*").get("/v1/memories/m1/cost")
    assert response.json() == {"memory_id": "m1", "requests": 1, "calls": 2, "tokens": 300, "cost_usd": 0.000135}
    assert (await api.client(read="other/*").get("/v1/memories/m1/cost")).status_code == 404
    assert (await api.client(read="app/*").get("/v1/memories/none/cost")).status_code == 404
