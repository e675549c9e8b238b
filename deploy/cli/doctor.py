"""Checks every dependency, and says of what is wrong what to do."""

from collections.abc import Awaitable, Callable
from functools import partial

from msgspec import Struct

from agents.models.auto import AutoProvider
from agents.models.local_only import check_policies
from agents.passages.building import VERSION
from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.cli.policy_store import applying, stored
from deploy.embedded.errors import EmbeddedPartFailed
from deploy.settings import Settings, load
from deploy.wiring import connections, models, rerankers, schema_registry, vector_index
from deploy.wiring.start_offsets import remedy
from schemas.errors import MemstreamError, Misconfigured, Retryable
from sinks.embeddings.port import Embedder
from sinks.memories.reader import Memories
from sinks.passages.store import Passages
from sinks.postgres.connection import Pool
from sinks.postgres.migrate import pending
from sinks.vectors.qdrant import Vectors
from sinks.windows.start_offsets import StartOffsets
from streams.kafka.topics import changelog_problems, partition_counts, problems, specs

SECURITY = ", or what of MEMSTREAM_KAFKA_... the line on stderr above complains of"

OTHER_VERSION = "some built by another version of memstream, found as before but more slowly until `memstream reindex`"

cli = one_command()


class Finding(Struct, frozen=True):
    """One check: what was found, or what is wrong and what to do about it."""

    name: str
    ok: bool
    said: str


@cli.command()
@command
async def doctor(json: Json = False) -> int:
    """Check every dependency and name remedies; exit code 1 if a check fails."""
    findings = await examine(load())
    for finding in findings:
        if json:
            terminal.print_json(finding)
        else:
            terminal.print_line(f"{'ok  ' if finding.ok else 'FAIL'} {finding.name}: {finding.said}")
    return 0 if all(finding.ok for finding in findings) else 1


async def examine(settings: Settings) -> list[Finding]:
    """Every check in the order in which they depend on each other; one that fails does not keep the others from running."""
    checks: dict[str, Callable[[Settings], Awaitable[str]]] = {
        "broker": broker,
        "topics": topics,
        "registry": registry,
        "postgres": postgres,
        "migrations": migrations,
        "start": start,
        "qdrant": qdrant,
        "embedder": embedder,
        "reranker": rerankers.probed,
        "tokenizer": tokenizer,
        "provider": provider,
        "policies": policies,
    }
    return [await finding(name, check(settings)) for name, check in checks.items()]


async def finding(name: str, check: Awaitable[str]) -> Finding:
    try:
        return Finding(name, True, await check)
    except MemstreamError as exc:
        return Finding(name, False, str(exc))
    except (EmbeddedPartFailed, OSError, ValueError) as exc:
        return Finding(name, False, f"{type(exc).__name__}: {exc}")


class UnhealthyExit(MemstreamError):
    """A check's own verdict, with the remedy."""


async def broker(settings: Settings) -> str:
    if reason := await settings.security().token_problem():
        raise UnhealthyExit(reason)
    try:
        await partition_counts(settings.cluster().client(), ())
    except MemstreamError as exc:
        raise UnhealthyExit(
            f"no Kafka broker at {settings.bootstrap_servers} ({exc}): start one (`memstream dev`), "
            f"or set MEMSTREAM_BOOTSTRAP_SERVERS{'' if settings.kafka_security_protocol == 'PLAINTEXT' else SECURITY}"
        ) from exc
    return settings.bootstrap_servers


async def topics(settings: Settings) -> str:
    wanted = specs(settings.topics())
    found = await partition_counts(settings.cluster().client(), wanted)
    wrong = problems(wanted, found)
    if not wrong:
        wrong = await changelog_problems(settings.cluster().client(), settings.topics().changelog)
    if wrong:
        raise UnhealthyExit("; ".join(wrong))
    return f"{len(wanted)} topics, partitions as the settings say"


async def registry(settings: Settings) -> str:
    try:
        return await schema_registry.probed(settings)
    except Retryable as exc:
        raise UnhealthyExit(f"{exc}: start the registry, or set MEMSTREAM_SCHEMA_REGISTRY_URL") from exc
    except Misconfigured as exc:
        raise UnhealthyExit(f"{exc}; see the settings MEMSTREAM_SCHEMA_REGISTRY_...") from exc


async def postgres(settings: Settings) -> str:
    try:
        async with connections.postgres(settings, max_size=1) as pool:
            return str(await pool.fetchval("SELECT split_part(version(), ' on ', 1)"))
    except MemstreamError as exc:
        raise UnhealthyExit(f"{exc}: start PostgreSQL (`memstream dev`), or set MEMSTREAM_POSTGRES_DSN") from exc


async def migrations(settings: Settings) -> str:
    if missing := await pending(settings.postgres_dsn.get_secret_value()):
        raise UnhealthyExit(f"{len(missing)} migrations are missing ({', '.join(missing)}): run `memstream migrate`")
    return "all applied"


async def start(settings: Settings) -> str:
    """What first starts skipped, as `start_from` asks: no fault, but not to be overlooked."""
    async with connections.postgres(settings, max_size=1) as pool:
        skipped = await StartOffsets(pool).skipped()
    return "; ".join(map(remedy, skipped)) or "nothing that was published was skipped"


async def qdrant(settings: Settings) -> str:
    async with (
        vector_index.embedders(settings) as embedders,
        vector_index.qdrant(settings, await embedders.of_memories()) as memories,
        vector_index.passage_index(settings, await embedders.of_passages()) as passages,
    ):
        try:
            found = [
                await collection(memories, "memories", partial(holds, settings, lambda pool: Memories(pool).any())),
                await collection(passages, "passages", partial(holds, settings, lambda pool: Passages(pool).any())),
            ]
            if await holds(settings, lambda pool: Passages(pool).of_other_version(VERSION)):
                found.append(OTHER_VERSION)
        except Retryable as exc:
            raise UnhealthyExit(f"{exc}: start Qdrant (`memstream dev`), or set MEMSTREAM_QDRANT_URL") from exc
    return ", ".join([settings.qdrant_url, *found])


async def collection(vectors: Vectors, what: str, wanted: Callable[[], Awaitable[bool]]) -> str:
    """What a collection has. Raises UnhealthyExit where PostgreSQL knows of more than none, and it is not there."""
    if await vectors.exists():
        await vectors.verify()
        return f"{await vectors.count()} {what} in {vectors.collection}"
    if await wanted():
        raise UnhealthyExit(
            f"no collection {vectors.collection} for the {what} that PostgreSQL has: run `memstream reindex`"
        )
    return f"no collection {vectors.collection} yet: a worker makes it"


async def holds(settings: Settings, asked: Callable[[Pool], Awaitable[bool]]) -> bool:
    """What PostgreSQL answers; what is wrong with it is told by its own checks."""
    try:
        async with connections.postgres(settings, max_size=1) as pool:
            return await asked(pool)
    except MemstreamError:
        return False


async def embedder(settings: Settings) -> str:
    async with vector_index.embedders(settings) as embedders:
        memories, passages = await embedders.of_memories(), await embedders.of_passages()
        if passages is memories:
            return await probed(memories)
        return f"{await probed(memories)}; of passages {await probed(passages)}"


async def probed(model: Embedder) -> str:
    (vector,) = await model.embed_questions(["is anybody there?"])
    return f"{model.model}, {len(vector)} dimensions"


async def tokenizer(settings: Settings) -> str:
    return f"{models.TOKENIZER}, {models.token_counter(settings)('four tokens, I guess')} tokens counted"


async def provider(settings: Settings) -> str:
    """Of `auto` every one of its providers; one that can answer is enough."""
    chosen = models.provider(settings)
    asked = chosen.providers if isinstance(chosen, AutoProvider) else (chosen,)
    troubles = {each.name: await each.trouble() for each in asked}
    await chosen.close()
    said = "; ".join(f"{name}: {trouble or 'available'}" for name, trouble in troubles.items())
    if None not in troubles.values():
        raise UnhealthyExit(said)
    return f"auto ({said})" if isinstance(chosen, AutoProvider) else said


async def policies(settings: Settings) -> str:
    """Those of the topic over those of the file, and whether they can be kept with the provider that is asked."""
    known = await stored(settings)
    if known.wrong:
        raise UnhealthyExit(f"{'; '.join(known.wrong.values())}: put a valid one with `memstream policies put`")
    chosen = models.provider(settings)
    await chosen.close()
    applied = applying(settings, known)
    check_policies(applied, chosen)
    return ", ".join(f"{policy.name} (version {policy.version})" for policy in applied.listed) or "the built-in default"
