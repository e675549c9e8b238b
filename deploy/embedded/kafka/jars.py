"""Kafka's jars: a locked list, fetched once through jgo, each checked against its sha256."""

import fcntl
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jgo.maven import Dependency, MavenContext, PythonResolver

from deploy.embedded.errors import EmbeddedPartFailed

LOCK_FILE = Path(__file__).with_name("kafka.lock")
KAFKA_VERSION = "4.1.1"
ROOTS = (f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}", f"org.apache.kafka:kafka-tools:{KAFKA_VERSION}")
# Kafka logs through slf4j, and the binding to log4j is no dependency of its jars. It is taken alone: resolved
# beside the roots, its parent's managed versions would replace Kafka's own (kafka-clients by 3.8.0).
ALONE = ("org.apache.logging.log4j:log4j-slf4j-impl:2.24.3",)
PARALLEL_DOWNLOADS = 4
ATTEMPTS = 3
TIMEOUT_S = 30

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Jar:
    """One line of the lock: where a jar comes from and what it must contain."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    @classmethod
    def parse(cls, line: str) -> "Jar":
        """From `group:artifact:version[:classifier] sha256`. Raises ValueError for anything else."""
        coordinate, sha256 = line.split()
        group, artifact, version, *classifier = coordinate.split(":")
        return cls(group, artifact, version, ":".join(classifier), sha256)

    @property
    def coordinate(self) -> str:
        """As Maven writes it."""
        return ":".join(filter(None, (self.group, self.artifact, self.version, self.classifier)))

    @property
    def file_name(self) -> str:
        """Its name in the cache."""
        return "-".join(filter(None, (self.artifact, self.version, self.classifier))) + ".jar"

    def __str__(self) -> str:
        return f"{self.coordinate} {self.sha256}"


Fetch = Callable[[Jar, Path], Path]


def locked(path: Path = LOCK_FILE) -> list[Jar]:
    """The jars of a lock file, in classpath order."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [Jar.parse(line) for line in lines if line]


def classpath(
    cache_dir: Path,
    progress: Progress | None = None,
    jars: Sequence[Jar] | None = None,
    fetch: Fetch | None = None,
) -> str:
    """The java class path of all locked jars; what the cache lacks is downloaded first.

    `progress` gets (done, total, name) after each jar. With a full cache nothing is read from the network.
    Processes may share a cache. Raises EmbeddedPartFailed when a download fails or a checksum differs.
    """
    wanted = locked() if jars is None else jars
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        remedy = "Choose a directory that can be written."
        raise EmbeddedPartFailed(
            "kafka jars", f"the cache {cache_dir} cannot be used ({exc.strerror})", remedy
        ) from exc
    report = progress or (lambda _done, _total, _name: None)
    if any(not present(cache_dir, jar) for jar in wanted):
        with exclusive(cache_dir / ".lock"), tempfile.TemporaryDirectory(dir=cache_dir, prefix=".fetch-") as staging:
            # Looked up again: another process may have filled the cache while we waited for the lock.
            missing = [jar for jar in wanted if not present(cache_dir, jar)]
            fetch_all(missing, cache_dir, Path(staging), fetch or download, report)
    return os.pathsep.join(str(cache_dir / jar.file_name) for jar in wanted)


def present(cache_dir: Path, jar: Jar) -> bool:
    """Whether the cache holds this jar, verified when it was stored and of the same size since."""
    stored = cache_dir / jar.file_name
    try:
        return verified_marker(stored).read_text() == f"{jar.sha256} {stored.stat().st_size}"
    except FileNotFoundError:
        return False


def fetch_all(jars: Sequence[Jar], cache_dir: Path, staging: Path, fetch: Fetch, report: Progress) -> None:
    """Downloads, verifies and stores the jars, several at a time; the first failure ends it."""
    with ThreadPoolExecutor(PARALLEL_DOWNLOADS) as pool:
        running = {pool.submit(fetch_one, jar, cache_dir, staging, fetch): jar for jar in jars}
        try:
            for done, future in enumerate(as_completed(running), start=1):
                future.result()
                report(done, len(jars), running[future].file_name)
        except EmbeddedPartFailed:
            pool.shutdown(cancel_futures=True)
            raise


def fetch_one(jar: Jar, cache_dir: Path, staging: Path, fetch: Fetch) -> None:
    """Puts one jar into the cache. The file appears whole or not at all."""
    try:
        fetched = fetch(jar, staging)
    except (OSError, RuntimeError) as exc:
        reason = str(exc).splitlines()[0] if str(exc) else type(exc).__name__
        raise EmbeddedPartFailed(
            "kafka jars",
            f"{jar.coordinate} could not be downloaded ({reason[:200]})",
            f"Connect to the network once, or copy a filled cache to {cache_dir}.",
        ) from exc
    found = sha256_of(fetched)
    if found != jar.sha256:
        raise EmbeddedPartFailed(
            "kafka jars",
            f"{jar.coordinate} has another checksum: expected sha256 {jar.sha256}, found {found}",
            "Do not use it: the file was changed on its way. Try again, or from another network.",
        )
    stored = cache_dir / jar.file_name
    size = fetched.stat().st_size
    fetched.replace(stored)
    marker = staging / f"{jar.file_name}.verified"
    marker.write_text(f"{jar.sha256} {size}")
    marker.replace(verified_marker(stored))


def download(jar: Jar, staging: Path) -> Path:
    """Fetches a jar through jgo into `staging`; the last attempt's error is raised."""
    context = MavenContext(resolver=PythonResolver(), repo_cache=staging, timeout=TIMEOUT_S)
    component = context.project(jar.group, jar.artifact).at_version(jar.version)
    artifact = component.artifact(jar.classifier)
    for _ in range(ATTEMPTS - 1):
        try:
            return Path(artifact.resolve())
        except (OSError, RuntimeError):
            # jgo leaves a torn file behind and would take it for the whole one.
            Path(artifact.cached_path).unlink(missing_ok=True)
    return Path(artifact.resolve())


def sha256_of(path: Path) -> str:
    """The file's sha256, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def verified_marker(stored: Path) -> Path:
    """The file beside a jar that says which checksum and size it was verified with."""
    return stored.with_name(f"{stored.name}.verified")


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Holds an advisory file lock; waits for its turn."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def resolve(roots: Iterable[str], alone: Iterable[str], staging: Path) -> Iterator[Jar]:
    """The roots with all they need at run time, and what is `alone` as it is; for developers who change a version."""
    context = MavenContext(resolver=PythonResolver(), repo_cache=staging, timeout=TIMEOUT_S)
    inputs = [context.create_dependency(root) for root in roots]
    for dependency in inputs:
        dependency.scope = "compile"
    found, transitive = context.resolver.resolve(inputs)
    for dependency in (*found, *transitive, *map(context.create_dependency, alone)):
        if runs(dependency):
            artifact = dependency.artifact
            yield Jar(
                dependency.groupId,
                dependency.artifactId,
                dependency.version,
                artifact.classifier or "",
                sha256_of(Path(artifact.resolve())),
            )


def runs(dependency: Dependency) -> bool:
    """Whether a dependency belongs on the class path."""
    return dependency.scope in ("compile", "runtime", None) and not dependency.optional


def write_lock(path: Path = LOCK_FILE) -> int:
    """Resolves Kafka anew and writes the lock; returns the number of jars."""
    with tempfile.TemporaryDirectory() as staging:
        jars = sorted(set(resolve(ROOTS, ALONE, Path(staging))), key=str)
    head = f"# Apache Kafka {KAFKA_VERSION} and what it needs; `python -m deploy.embedded.kafka.jars lock` writes it.\n"
    path.write_text(head + "".join(f"{jar}\n" for jar in jars))
    return len(jars)


if __name__ == "__main__":
    if sys.argv[1:] != ["lock"]:
        sys.exit("usage: python -m deploy.embedded.kafka.jars lock")
    sys.stdout.write(f"{write_lock()} jars locked in {LOCK_FILE.name}\n")
