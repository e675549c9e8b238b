"""No route returns data for a key of another namespace or without a key."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from agents.api.app import document
from agents.consolidation.requests import manual_run
from agents.curation.rules.ledger.outcomes import Outcome
from agents.replay.comparison import Difference
from agents.retention.sweeper import manual_sweep
from schemas import ids
from schemas.consolidation.retention import RetentionStatistics
from schemas.consolidation.runs import RunRequest
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Erasure
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from schemas.replay.generations import Generation, Plan
from sinks.erasure.erasures import ErasedNamespace
from tests.api import NOON, Api, a_memory
from tests.builders.trails import a_change, a_trail
from tests.fakes.windows import a_state

THEIRS = "other/bob"
QUERY = {"namespace": THEIRS}
SAID = QUERY | {"user_id": "bob"}
# What a request to each route says, all of it about what is theirs. A new route that takes a body is to be added here.
BODIES: dict[str, Any] = {
    "create_memory": QUERY | {"text": "User has a dog"},
    "update_memory": {"text": "User has a dog"},
    "undo_change": {},
    "erase_memory": {},
    "undo_wish": QUERY,
    "uninstall_app": QUERY,
    "search": {"namespaces": [THEIRS], "text": "dog"},
    "make_context_block": {"namespaces": [THEIRS], "text": "dog"},
    "make_context": {},
    "put_window_settings": {},
    "put_user_settings": {},
    "mark_message": {"message_id": "conversation-1", "importance": "pinned"},
    "use_tool": {"input": {"query": "dog"}},
    "speak_mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    "purge_user": {"user_id": "bob"},
    "put_policy": {"name": "search_memories"},
    "start_consolidation": QUERY,
    "start_sweep": {"dry_run": True},
    "check_policy": {"name": "search_memories"},
    "create_key": {"name": "theirs", "grants": [{"right": "read", "namespaces": THEIRS}]},
    "replay_dead_letters": {"letters": ["0:0"]},
    "discard_dead_letters": {"letters": ["0:0"]},
}
PATHS = {
    "memory_id": "theirs",
    "user_id": "bob",
    "wish_id": "theirs",
    "command_id": "c1",
    "conversation_id": "conversation",
    "name": "search_memories",
    "run_id": "r1",
    "sweep_id": "s1",
    "generation_id": "0a1b2c3d",
    "erasure_id": "theirs",
    "letter": "0:0",
    "key_id": "key1",
    "passage_id": ids.derive("passage", "1"),
}
A_GENERATION = Generation(
    generation_id="0a1b2c3d",
    plan=Plan(until=NOON, policies=Policies(), namespaces=THEIRS, overridden=("secret",)),
    status="cutover",  # so that both a cutover, which goes on, and taking it back are possible
    created_at=NOON,
    changed_at=NOON,
)
AN_ERASURE = Erasure(
    erasure_id="theirs", kind="user", at=NOON, positions={0: 7}, actor="bob", reason="secret", user_id="bob"
)
PURGED = ErasedNamespace(namespace=THEIRS, how="purge", done_at=NOON, memories=1, versions=1, vectors=1)
A_POLICY = Policy(name="search_memories", match=Match(app_id="secret"))
# They tell of no namespace: any key may ask them.
# The last two tell of the key itself, and of its own namespaces alone (test_me.py).
NOBODYS = {"live", "ready", "get_openapi", "list_presets", "get_preset", "get_me", "list_namespaces"}
OPERATIONS = [
    pytest.param(path, method, operation, id=f"{method} {path}")
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
]


@pytest.fixture
async def api() -> Api:
    """With something of theirs behind each name of PATHS."""
    api = Api()
    api.memories.put(a_memory("theirs", namespace=THEIRS, text="secret"))
    api.said.say("secret", at=NOON, namespace=THEIRS)
    api.archive.say("conversation", ("user", "secret"), ("assistant", "secret"), app_id="other", user_id="bob")
    scope = Scope(conversation_id="conversation", app_id="other", user_id="bob")
    await api.windows.project([replace(a_state("conversation", scope=scope), policy="default")])
    run = manual_run(RunRequest(namespace=THEIRS, dry_run=True), (THEIRS,), "bob", NOON)
    api.runs.put(replace(run, run_id="r1", error="secret"))
    api.owners.known_scopes = [scope]
    api.curation.outcomes[(THEIRS, "c1")] = Outcome(status="accepted", namespace=THEIRS, sequence=1, change="created")
    await put_everybodys(api)
    return api


async def put_everybodys(api: Api) -> None:
    """Stores entries that concern all namespaces, or name another key's namespace."""
    api.replays.put(A_GENERATION, other_bob=[Difference(fate="added", after=a_memory("new", text="secret"))])
    api.sweeps.by_id["s1"] = replace(
        manual_sweep(True, "bob", NOON), sweep_id="s1", policies=(RetentionStatistics(policy="secret", days=1),)
    )
    api.trails.known["conversation", "conversation-1"] = a_trail(changes=(a_change(THEIRS, text="secret"),))
    api.letter_topic.add_letter(b"secret", detail="secret")
    api.erasures.begun["theirs"] = AN_ERASURE
    api.erasures.erased["theirs"] = (PURGED,)
    await api.policy_service.put(A_POLICY, None)
    api.policy_service.presets = {A_POLICY.name: Policy(name=A_POLICY.name)}


def request_of(path: str, method: str, operation: dict[str, Any]) -> dict[str, Any]:
    """A whole request about what is theirs."""
    name, takes = operation["operationId"], operation.get("requestBody", {}).get("content", {})
    request: dict[str, Any] = {"method": method.upper(), "url": path.format(**PATHS), "params": QUERY}
    if "application/json" in takes:
        assert name in BODIES, f"say in BODIES what a request to {name} is like"
        request["json"] = BODIES[name]
        request["headers"] = {"Accept": "application/json, text/event-stream"}  # both are what MCP asks of a client
    elif takes:
        request |= {"content": json.dumps({"text": "User has a dog"}), "headers": {"Content-Type": next(iter(takes))}}
    if name == "follow_message":
        request["params"] = {"message_id": "conversation-1"}
        return request
    known = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
    return request | {"params": {name: value for name, value in SAID.items() if name in known}}


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
async def test_every_route_rejects_a_key_without_rights_to_its_namespace(
    api: Api, path: str, method: str, operation: dict[str, Any]
):
    erasures, policies = dict(api.erasures.begun), list(api.policy_records.records)
    answer = await api.client(admin="app/*").request(**request_of(path, method, operation))
    if operation["operationId"] in NOBODYS:
        assert answer.status_code == 200
    else:
        assert answer.status_code in (403, 404), answer.text
    assert "secret" not in answer.text
    assert api.curation.seen == []
    assert api.audit.rows == []
    assert api.policy_records.records == policies
    assert api.erasures.begun == erasures
    assert api.replays.by_id == {A_GENERATION.generation_id: A_GENERATION}
    assert list(api.sweeps.by_id) == ["s1"]


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
@pytest.mark.parametrize("key", [None, "Bearer EXAMPLE-unknown"])
async def test_every_route_but_the_health_probes_rejects_requests_without_a_valid_key(
    api: Api, path: str, method: str, operation: dict[str, Any], key: str | None
):
    request = request_of(path, method, operation)
    request["headers"] = request.get("headers", {}) | ({"Authorization": key} if key else {})
    answer = await api.client().request(**request)
    assert answer.status_code == (200 if path.startswith("/health") else 401)
    assert "secret" not in answer.text


@pytest.mark.parametrize(("path", "method", "operation"), [each for each in OPERATIONS if each.id != "get /v1/events"])
async def test_every_route_accepts_the_same_requests_with_a_global_admin_key(
    api: Api, path: str, method: str, operation: dict[str, Any]
):
    """Else the others would show nothing: they could be refused for being wrong, or for naming what is not there. A stream of
    events would have no end."""
    answer = await api.client(admin="*").request(**request_of(path, method, operation))
    assert answer.status_code not in (401, 403, 404, 405, 406, 415, 422, 500, 501, 503), answer.text
