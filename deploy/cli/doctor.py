"""`memstream doctor`: checks every dependency and prints a remedy for each problem."""

from collections.abc import Awaitable, Callable
from functools import partial

from msgspec import Struct

from agents.models.auto import AutoProvider
from agents.models.local_only import check_policies
from agents.models.one_language import translation_warning
from agents.passages.chunking import VERSION
from agents.windows.projection import SPLIT_REMEDY
from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.cli.unreachable_brokers import unreachable_brokers
from deploy.embedded.errors import EmbeddedPartFailed
from deploy.settings import Settings, load
from deploy.wiring import connections, models, rerankers, schema_registry, vector_index
from deploy.wiring.policy_store import policies_in_effect, stored_policies
from deploy.wiring.start_offsets import remedy
from schemas.counts import counted
from schemas.errors import MemstreamError, Misconfigured, Retryable
from sinks.embeddings.port import Embedder
from sinks.memories.reader import Memories
from sinks.passages.store import Passages
from sinks.postgres.connection import READ_ONLY_SESSION, Pool
from sinks.postgres.migrate import pending
from sinks.vectors.qdrant import Vectors
from sinks.windows.projection import Windows
from sinks.windows.start_offsets import StartOffsets
from streams.kafka.topics import changelog_problems, partition_counts, problems, specs

OTHER_VERSION = "some passages built by another version of memstream, until `memstream reindex`"

cli = one_command()


class Finding(Struct, frozen=True):
    """The result of one check: `said` is the state, or the problem with its remedy."""

    name: str
    ok: bool
    said: str


@cli.command()
@command
async def doctor(json: Json = False) -> int:
    """Check every dependency and print remedies. Exit code 1 if a check fails."""
    findings = await run_checks(load())
    for finding in findings:
        if json:
            terminal.print_json(finding)
        else:
            terminal.print_line(f"{'ok  ' if finding.ok else 'FAIL'} {finding.name}: {finding.said}")
    return 0 if all(finding.ok for finding in findings) else 1


async def run_checks(settings: Settings) -> list[Finding]:
    """Runs all checks, dependencies first. A failed check does not stop the others."""
    checks: dict[str, Callable[[Settings], Awaitable[str]]] = {
        "broker": broker,
        "topics": topics,
        "registry": registry,
        "postgres": postgres,
        "migrations": migrations,
        "start": skipped_records,
        "windows": split_conversations,
        "qdrant": qdrant,
        "embedder": embedder,
        "reranker": rerankers.probe,
        "tokenizer": tokenizer,
        "provider": provider,
        "policies": policies,
    }
    return [await finding(name, check(settings)) for name, check in checks.items()]


async def finding(name: str, check: Awaitable[str]) -> Finding:
    try:
        return Finding(name, True, await check)
    except MemstreamError as exc:
        return Finding(name, False, unreachable_brokers.explain(exc))
    except (EmbeddedPartFailed, OSError, ValueError) as exc:
        return Finding(name, False, f"{type(exc).__name__}: {exc}")


class CheckFailed(MemstreamError):
    """A check failed. The message has the remedy."""


async def broker(settings: Settings) -> str:
    if reason := await settings.security().token_problem():
        raise CheckFailed(reason)
    await partition_counts(settings.cluster().client(), ())
    return settings.bootstrap_servers


async def topics(settings: Settings) -> str:
    wanted = specs(settings.topics())
    found = await partition_counts(settings.cluster().client(), wanted)
    wrong = problems(wanted, found)
    if not wrong:
        wrong = await changelog_problems(settings.cluster().client(), settings.topics().changelog)
    if wrong:
        raise CheckFailed("; ".join(wrong))
    return f"{len(wanted)} topics with the configured partitions"


async def registry(settings: Settings) -> str:
    try:
        return await schema_registry.probe(settings)
    except Retryable as exc:
        raise CheckFailed(f"{exc}: start the registry, or set MEMSTREAM_SCHEMA_REGISTRY_URL") from exc
    except Misconfigured as exc:
        raise CheckFailed(f"{exc}; check the settings MEMSTREAM_SCHEMA_REGISTRY_...") from exc


async def postgres(settings: Settings) -> str:
    try:
        async with connections.postgres(settings, max_size=1) as pool:
            version = str(await pool.fetchval("SELECT split_part(version(), ' on ', 1)"))
            read_only = await pool.fetchval("SHOW transaction_read_only") == "on"
    except MemstreamError as exc:
        raise CheckFailed(f"{exc}: start PostgreSQL (`memstream dev`), or set MEMSTREAM_POSTGRES_DSN") from exc
    if read_only:
        raise CheckFailed(f"{version} takes no writes, {READ_ONLY_SESSION}")
    return version


async def migrations(settings: Settings) -> str:
    if missing := await pending(settings.postgres_dsn.get_secret_value()):
        count = counted(len(missing), "migrations")
        raise CheckFailed(f"PostgreSQL lacks {count} ({', '.join(missing)}): run `memstream migrate`")
    return "all applied"


async def skipped_records(settings: Settings) -> str:
    """Reports the records that stages skipped at their first start (`start_from`). Skipped records are not an error."""
    async with connections.postgres(settings, max_size=1) as pool:
        skipped = await StartOffsets(pool).skipped()
    return "; ".join(map(remedy, skipped)) or "no records were skipped"


async def split_conversations(settings: Settings) -> str:
    """Reports conversations with windows in several partitions. They are no error after partitions were added."""
    async with connections.postgres(settings, max_size=1) as pool:
        found = await Windows(pool).split()
    if found is None:
        return "each conversation is in one partition"
    return (
        f"{counted(found.conversations, 'conversations')} in several partitions, such as {found.conversation_id!r} in "
        f"{' and '.join(map(str, found.partitions))}: {SPLIT_REMEDY}"
    )


async def qdrant(settings: Settings) -> str:
    async with (
        vector_index.embedders(settings) as embedders,
        vector_index.qdrant(settings, await embedders.of_memories()) as memories,
        vector_index.passage_index(settings, await embedders.of_passages()) as passages,
    ):
        try:
            found = [
                await check_collection(
                    memories, "memories", partial(postgres_has, settings, lambda pool: Memories(pool).any())
                ),
                await check_collection(
                    passages, "passages", partial(postgres_has, settings, lambda pool: Passages(pool).any())
                ),
            ]
            if await postgres_has(settings, lambda pool: Passages(pool).of_other_version(VERSION)):
                found.append(OTHER_VERSION)
        except Retryable as exc:
            raise CheckFailed(f"{exc}: start Qdrant (`memstream dev`), or set MEMSTREAM_QDRANT_URL") from exc
    return ", ".join([settings.qdrant_url, *found])


async def check_collection(vectors: Vectors, what: str, is_needed: Callable[[], Awaitable[bool]]) -> str:
    """Checks a collection. Raises UnhealthyExit if it is missing although PostgreSQL has data for it."""
    if await vectors.exists():
        await vectors.verify()
        return f"{await vectors.count()} {what} in {vectors.collection}"
    if await is_needed():
        raise CheckFailed(
            f"no collection {vectors.collection} for the {what} that PostgreSQL has: run `memstream reindex`"
        )
    return f"no collection {vectors.collection} yet: a worker creates it"


async def postgres_has(settings: Settings, check: Callable[[Pool], Awaitable[bool]]) -> bool:
    """Runs a check on PostgreSQL; False if PostgreSQL is unavailable, which the check `postgres` reports."""
    try:
        async with connections.postgres(settings, max_size=1) as pool:
            return await check(pool)
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
    """Checks the provider. With `auto`, checks all providers, of which one must be available."""
    chosen = models.provider(settings)
    providers = chosen.providers if isinstance(chosen, AutoProvider) else (chosen,)
    reasons = {each.name: await each.unavailable_reason() for each in providers}
    await chosen.close()
    summary = "; ".join(f"{name}: {reason or 'available'}" for name, reason in reasons.items())
    if None not in reasons.values():
        raise CheckFailed(summary)
    return f"auto ({summary})" if isinstance(chosen, AutoProvider) else summary


async def policies(settings: Settings) -> str:
    """Checks the policies of the topic and of the file against the configured provider."""
    stored = await stored_policies(settings)
    if stored.invalid:
        remedy = "put a valid one with `memstream policies put`, or delete it with `memstream policies delete`"
        raise CheckFailed(f"{'; '.join(stored.invalid.values())}: {remedy}")
    chosen = models.provider(settings)
    await chosen.close()
    applied = policies_in_effect(settings, stored)
    check_policies(applied, chosen)
    listed = ", ".join(f"{policy.name} (version {policy.version})" for policy in applied.listed)
    warning = translation_warning(applied, models.provider_names(settings))
    return "; ".join(filter(None, (listed or "the built-in default", warning)))
