"""Files from Maven Central: downloaded once by jgo, verified by sha256, and kept in a cache that processes share."""

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
    """A line of the lock file: the coordinates of a jar and its checksum."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    @classmethod
    def parse(cls, line: str) -> "Jar":
        """Parses `group:artifact:version[:classifier] sha256`. Raises ValueError for anything else."""
        coordinate, sha256 = line.split()
        group, artifact, version, *classifier = coordinate.split(":")
        return cls(group, artifact, version, ":".join(classifier), sha256)

    @property
    def coordinate(self) -> str:
        """The Maven coordinate."""
        return ":".join(filter(None, (self.group, self.artifact, self.version, self.classifier)))

    @property
    def file_name(self) -> str:
        """The file name in the cache."""
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
    """The cached files of the jars, in order; downloads missing ones.

    `part` is the part of the stack that needs them, for errors. `progress` gets (done, total, name) after each jar. With a
    complete cache it uses no network. Raises EmbeddedPartFailed if a download fails or a checksum differs.
    """
    if any(not is_cached(cache_dir, jar) for jar in jars):
        try:
            cache_dir.mkdir(parents=True, exist_ok=True)
            with (
                exclusive(cache_dir / ".lock"),
                tempfile.TemporaryDirectory(dir=cache_dir, prefix=".fetch-") as staging,
            ):
                # Checked again: another process may have filled the cache during the wait for the lock.
                missing = [jar for jar in jars if not is_cached(cache_dir, jar)]
                fetch_all(part, missing, cache_dir, Path(staging), fetch or download, progress)
        except OSError as exc:
            remedy = "Choose a directory that can be written."
            raise EmbeddedPartFailed(part, f"the cache {cache_dir} cannot be used ({exc.strerror})", remedy) from exc
    return [cache_dir / jar.file_name for jar in jars]


def is_cached(cache_dir: Path, jar: Jar) -> bool:
    """Whether the cache has the jar, verified when it was stored, with an unchanged size."""
    stored = cache_dir / jar.file_name
    try:
        return verified_marker(stored).read_text() == f"{jar.sha256} {stored.stat().st_size}"
    except (FileNotFoundError, NotADirectoryError):
        return False


def fetch_all(
    part: str, jars: Sequence[Jar], cache_dir: Path, staging: Path, fetch: Fetch, progress: Progress | None
) -> None:
    """Downloads, verifies and stores jars concurrently; the first failure ends all."""
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
    """Downloads a jar into the cache. An incomplete file never appears under its name."""
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
            "Do not use the file: it was changed during the download. Try again, or from another network.",
        )
    stored = cache_dir / jar.file_name
    size = fetched.stat().st_size
    fetched.replace(stored)
    marker = staging / f"{jar.file_name}.verified"
    marker.write_text(f"{jar.sha256} {size}")
    marker.replace(verified_marker(stored))


def download(jar: Jar, staging: Path) -> Path:
    """Downloads a jar by jgo into `staging`. Raises the error of the last attempt."""
    context = MavenContext(resolver=PythonResolver(), repo_cache=staging, timeout=TIMEOUT_S)
    component = context.project(jar.group, jar.artifact).at_version(jar.version)
    artifact = component.artifact(jar.classifier)
    for _ in range(ATTEMPTS - 1):
        try:
            return Path(artifact.resolve())
        except (OSError, RuntimeError):
            # jgo leaves an incomplete file and would use it as the complete one.
            Path(artifact.cached_path).unlink(missing_ok=True)
    return Path(artifact.resolve())


def sha256_of(path: Path) -> str:
    """The sha256 of a file, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def verified_marker(stored: Path) -> Path:
    """The file that records the verified checksum and size of a jar."""
    return stored.with_name(f"{stored.name}.verified")


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Holds an advisory file lock; waits until it is free."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
