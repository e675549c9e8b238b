"""Authentication by bearer key and authorisation by namespace."""

from datetime import timedelta

import httpx
import pytest
from msgspec.structs import replace

from agents.api.access.authentication import KeyAuthentication, NoAuthentication
from agents.api.access.rate_limits import RateLimiter
from agents.api.app import create_app
from schemas.access.keys import covers
from tests.api import NOON, Api, FakeKeys
from tests.fakes.windows import a_state

LISTED = "/v1/memories?namespace=app/ada"


async def test_requests_without_a_valid_bearer_key_get_401(api: Api):
    for headers in ({}, {"Authorization": "Bearer unknown"}, {"Authorization": "Basic YTpi"}):
        answer = await api.client().get(LISTED, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_the_probes_need_no_key(api: Api):
    assert (await api.client().get("/health/live")).json() == {"status": "ok"}
    assert (await api.client().get("/health/ready")).status_code == 200
    api.memories.down = True
    assert (await api.client().get("/health/ready")).status_code == 503


async def test_a_stopping_process_is_live_but_not_ready(api: Api):
    api.change_notifier.close()
    assert (await api.client().get("/health/live")).status_code == 200
    answer = await api.client().get("/health/ready")
    assert (answer.status_code, answer.json()["detail"]) == (503, "this process is stopping")


@pytest.mark.parametrize(
    ("rights", "status"),
    [
        ({"read": "app/ada"}, 200),
        ({"write": "app/*"}, 200),
        ({"admin": "*"}, 200),
        ({"read": "app/ad"}, 403),
        ({"admin": "app/bob"}, 403),
        ({"read": "App/ada"}, 403),
    ],
)
async def test_a_key_reads_only_the_namespaces_that_it_is_granted(api: Api, rights, status):
    assert (await api.client(**rights).get(LISTED)).status_code == status


@pytest.mark.parametrize("change", [{"revoked_at": NOON}, {"expires_at": NOON + timedelta(seconds=3)}])
async def test_a_revoked_or_expired_key_is_rejected_within_five_seconds(api: Api, change):
    client = api.client(read="*")
    assert (await client.get(LISTED)).status_code == 200
    (token,) = api.keys.by_token
    api.keys.by_token[token] = replace(api.keys.by_token[token], **change)
    api.now += timedelta(seconds=5)
    api.seconds += 5
    assert (await client.get(LISTED)).status_code == 401


async def test_a_cached_key_is_not_looked_up_for_every_request(api: Api):
    client = api.client(read="*")
    for _ in range(5):
        await client.get(LISTED)
    assert api.keys.calls == 1
    assert api.authentication.take_last_used() == {"key1": NOON}
    assert api.authentication.take_last_used() == {}


async def test_an_unknown_token_is_looked_up_once_a_second_and_accepted_a_second_after_it_becomes_a_key(api: Api):
    client = api.client(read="*")
    ((token, key),) = api.keys.by_token.items()
    del api.keys.by_token[token]
    assert [(await client.get(LISTED)).status_code for _ in range(5)] == [401] * 5
    assert api.keys.calls == 1
    api.keys.by_token[token] = key
    api.seconds += 1
    assert (await client.get(LISTED)).status_code == 200
    assert api.keys.calls == 2


async def test_setting_the_clock_back_does_not_extend_how_long_keys_stay_cached(api: Api):
    client = api.client(read="*")
    assert (await client.get(LISTED)).status_code == 200
    ((token, key),) = api.keys.by_token.items()
    del api.keys.by_token[token]
    api.now -= timedelta(hours=1)
    api.seconds += 5
    assert (await client.get(LISTED)).status_code == 401
    api.keys.by_token[token] = key
    api.now -= timedelta(hours=1)
    api.seconds += 1
    assert (await client.get(LISTED)).status_code == 200


@pytest.mark.parametrize("known", [True, False])
async def test_the_authentication_cache_holds_no_more_tokens_than_its_limit(known):
    keys = FakeKeys()
    door = KeyAuthentication(keys, lambda: NOON, lambda: 0.0, max_entries=2)
    tokens = [keys.add(read="*") if known else f"made-up-{number}" for number in range(3)]
    for token in (*tokens[:2], *tokens[:2]):
        assert (await door.authenticate(token) is not None) == known
    assert keys.calls == 2
    for token in (tokens[2], tokens[0]):
        await door.authenticate(token)
    assert keys.calls == 4, "the third drove the first out"


async def test_unknown_tokens_do_not_evict_known_keys_from_the_cache():
    keys = FakeKeys()
    door = KeyAuthentication(keys, lambda: NOON, lambda: 0.0, max_entries=2)
    token = keys.add(read="*")
    for each in (token, "made-up-1", "made-up-2", "made-up-3", token):
        await door.authenticate(each)
    assert keys.calls == 4


async def test_a_key_over_its_rate_limit_gets_429_with_retry_after():
    api = Api(rate_limiter=RateLimiter(0.5, 2, lambda: 0.0))
    greedy, other = api.client(read="*"), api.client(read="*")
    assert [(await greedy.get(LISTED)).status_code for _ in range(3)] == [200, 200, 429]
    refused = await greedy.get(LISTED)
    assert refused.json()["type"] == "urn:memstream:problem:too-many-requests"
    assert (refused.headers["retry-after"], refused.json()["detail"][-13:]) == ("3", " retry in 3 s")
    assert (await other.get(LISTED)).status_code == 200


@pytest.mark.parametrize(
    ("pattern", "namespace", "covered"),
    [
        ("app/ada", "app/ada", True),
        ("app/*", "app/ada/notes", True),
        ("app/*", "app/", True),
        ("app/*", "app2/ada", False),
        ("*/ada", "app/ada", True),
        ("*", "", True),
        ("a.b", "axb", False),
        ("a[bc]", "ab", False),
        ("a?", "ab", False),
        ("app/*", "app/ada\nx", True),
        ("app/ada", "app/ada\n", False),
    ],
)
def test_only_the_star_is_a_wildcard_in_a_namespace_pattern(pattern, namespace, covered):
    assert covers(pattern, namespace) is covered


def test_an_idle_rate_limit_bucket_refills_and_is_evicted(monkeypatch: pytest.MonkeyPatch):
    seconds = [0.0]
    rates = RateLimiter(1.0, 2, lambda: seconds[0])
    assert [rates.wait_s("a") for _ in range(3)] == [0, 0, 1]
    seconds[0] = 60
    monkeypatch.setattr("agents.api.access.rate_limits.MAX_BUCKETS", 1)
    assert rates.wait_s("b") == rates.wait_s("a") == rates.wait_s("a") == 0
    assert rates.wait_s("a") == 1


def test_an_idle_key_accumulates_no_more_tokens_than_its_burst():
    seconds = [0.0]
    rates = RateLimiter(1.0, 2, lambda: seconds[0])
    assert rates.wait_s("a") == 0
    seconds[0] = 3_600
    assert [rates.wait_s("a") for _ in range(3)] == [0, 0, 1]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:28080", 200),
        ("[::1]:1", 200),
        ("localhost", 200),
        ("LocalHost:28080", 200),
        ("evil.example", 421),
        ("evil.example:99999", 421),
        ("a{b.evil.example", 421),
        ("a`b.evil.example", 421),
        ('a"b.evil.example', 421),
        ("evil.example@localhost", 421),
        ("localhost/evil.example", 421),
        ("localhost.evil.example", 421),
        ("::1", 421),
        ("[", 421),
        ("", 421),
        (None, 421),
    ],
)
async def test_without_keys_only_local_host_names_are_served(host, status):
    answer = await asked_without_keys([] if host is None else [host])
    assert answer.status_code == status
    assert answer.headers["x-request-id"]
    if status == 421:
        assert answer.headers["content-type"] == "application/problem+json"


async def test_without_keys_a_request_with_two_host_headers_is_rejected():
    assert (await asked_without_keys(["localhost", "evil.example"])).status_code == 421


async def asked_without_keys(hosts: list[str]) -> httpx.Response:
    """The server's own address is that of this machine, as it is where it listens."""
    transport = httpx.ASGITransport(create_app(Api(authentication=NoAuthentication()).ports, local=True))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:28080") as client:
        request = client.build_request("GET", LISTED)
        request.headers = httpx.Headers([("Host", host) for host in hosts])
        return await client.send(request)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 202),
        ("http://localhost:3000", 202),
        ("http://[::1]:28080", 202),
        ("https://evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("null", 403),
        ("http://[", 403),
    ],
)
async def test_without_keys_a_write_from_a_foreign_origin_is_rejected(origin, status):
    api = Api(authentication=NoAuthentication())
    await api.windows.project([a_state("c1")])
    transport = httpx.ASGITransport(create_app(api.ports, local=True))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:28080") as client:
        answer = await client.post("/v1/conversations/c1/clear", headers={"Origin": origin} if origin else {})
    assert answer.status_code == status
    assert len(api.published.records) == (status == 202)
    if status == 403:
        assert answer.json()["type"] == "urn:memstream:problem:foreign-origin"


async def test_with_keys_requests_from_any_origin_are_allowed(api: Api):
    answer = await api.client(read="*").get(LISTED, headers={"Origin": "https://chat.example"})
    assert answer.status_code == 200
