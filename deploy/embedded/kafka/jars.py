"""Kafka's jars: a lock file, and the class path of its jars."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from jgo.maven import Dependency, MavenContext, PythonResolver

from deploy.embedded import jars
from deploy.embedded.jars import TIMEOUT_S, Jar, Progress, sha256_of

LOCK_FILE = Path(__file__).with_name("kafka.lock")
KAFKA_VERSION = "4.1.1"
ROOTS = (f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}", f"org.apache.kafka:kafka-tools:{KAFKA_VERSION}")
# Kafka logs through slf4j, and its jars do not depend on the binding to log4j. The binding is resolved without dependencies:
# with them, the managed versions of its parent would replace Kafka's own (kafka-clients by 3.8.0).
ALONE = ("org.apache.logging.log4j:log4j-slf4j-impl:2.24.3",)


def locked_jars(path: Path = LOCK_FILE) -> list[Jar]:
    """The jars of a lock file, in the order of the class path."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [Jar.parse(line) for line in lines if line]


def classpath(cache_dir: Path, progress: Progress | None = None) -> str:
    """The Java class path of all locked jars. Raises as `jars.ensure` does."""
    return os.pathsep.join(map(str, jars.ensure("kafka jars", locked_jars(), cache_dir, progress)))


def resolve(roots: Iterable[str], alone: Iterable[str], staging: Path) -> Iterator[Jar]:
    """The roots with their runtime dependencies, and the jars in `alone` without dependencies. For developers who change a
    version."""
    context = MavenContext(resolver=PythonResolver(), repo_cache=staging, timeout=TIMEOUT_S)
    inputs = [context.create_dependency(root) for root in roots]
    for dependency in inputs:
        dependency.scope = "compile"
    found, transitive = context.resolver.resolve(inputs)
    for dependency in (*found, *transitive, *map(context.create_dependency, alone)):
        if is_runtime_dependency(dependency):
            artifact = dependency.artifact
            yield Jar(
                dependency.groupId,
                dependency.artifactId,
                dependency.version,
                artifact.classifier or "",
                sha256_of(Path(artifact.resolve())),
            )


def is_runtime_dependency(dependency: Dependency) -> bool:
    """Whether a dependency belongs on the class path."""
    return dependency.scope in ("compile", "runtime", None) and not dependency.optional


def write_lock(path: Path = LOCK_FILE) -> int:
    """Resolves Kafka again and writes the lock file; returns the number of jars."""
    with tempfile.TemporaryDirectory() as staging:
        found = sorted(set(resolve(ROOTS, ALONE, Path(staging))), key=str)
    head = f"# Apache Kafka {KAFKA_VERSION} and what it needs; `python -m deploy.embedded.kafka.jars lock` writes it.\n"
    path.write_text(head + "".join(f"{jar}\n" for jar in found))
    return len(found)


if __name__ == "__main__":
    if sys.argv[1:] != ["lock"]:
        sys.exit("usage: python -m deploy.embedded.kafka.jars lock")
    sys.stdout.write(f"{write_lock()} jars locked in {LOCK_FILE.name}\n")
