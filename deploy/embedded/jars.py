"""Files from Maven Central: fetched once through jgo, each checked against its sha256, kept in a cache that processes share."""

import fcntl
import hashlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jgo.maven import MavenContext, PythonResolver

from deploy.embedded.errors import EmbeddedPartFailed

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


def ensure(
    part: str,
    jars: Sequence[Jar],
    cache_dir: Path,
    progress: Progress | None = None,
    fetch: Fetch | None = None,
) -> list[Path]:
    """The jars' files in the cache, in the order given; what it lacks is downloaded first.

    `part` is who needs them, for errors; `progress` gets (done, total, name) after each jar. With a full cache nothing is read
    from the network. Raises EmbeddedPartFailed when a download fails or a checksum differs.
    """
    if any(not present(cache_dir, jar) for jar in jars):
        try:
            cache_dir.mkdir(parents=True, exist_ok=True)
            with (
                exclusive(cache_dir / ".lock"),
                tempfile.TemporaryDirectory(dir=cache_dir, prefix=".fetch-") as staging,
            ):
                # Looked up again: another process may have filled the cache while we waited for the lock.
                missing = [jar for jar in jars if not present(cache_dir, jar)]
                fetch_all(part, missing, cache_dir, Path(staging), fetch or download, progress)
        except OSError as exc:
            remedy = "Choose a directory that can be written."
            raise EmbeddedPartFailed(part, f"the cache {cache_dir} cannot be used ({exc.strerror})", remedy) from exc
    return [cache_dir / jar.file_name for jar in jars]


def present(cache_dir: Path, jar: Jar) -> bool:
    """Whether the cache holds this jar, verified when it was stored and of the same size since."""
    stored = cache_dir / jar.file_name
    try:
        return verified_marker(stored).read_text() == f"{jar.sha256} {stored.stat().st_size}"
    except (FileNotFoundError, NotADirectoryError):
        return False


def fetch_all(
    part: str, jars: Sequence[Jar], cache_dir: Path, staging: Path, fetch: Fetch, progress: Progress | None
) -> None:
    """Downloads, verifies and stores the jars, several at a time; the first failure ends it."""
    with ThreadPoolExecutor(PARALLEL_DOWNLOADS) as pool:
        running = {pool.submit(fetch_one, part, jar, cache_dir, staging, fetch): jar for jar in jars}
        try:
            for done, future in enumerate(as_completed(running), start=1):
                future.result()
                if progress is not None:
                    progress(done, len(jars), running[future].file_name)
        except EmbeddedPartFailed:
            pool.shutdown(cancel_futures=True)
            raise


def fetch_one(part: str, jar: Jar, cache_dir: Path, staging: Path, fetch: Fetch) -> None:
    """Puts one jar into the cache. The file appears whole or not at all."""
    try:
        fetched = fetch(jar, staging)
    except (OSError, RuntimeError) as exc:
        reason = str(exc).splitlines()[0] if str(exc) else type(exc).__name__
        raise EmbeddedPartFailed(
            part,
            f"{jar.coordinate} could not be downloaded ({reason[:200]})",
            f"Connect to the network once, or copy a filled cache to {cache_dir}.",
        ) from exc
    found = sha256_of(fetched)
    if found != jar.sha256:
        raise EmbeddedPartFailed(
            part,
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
