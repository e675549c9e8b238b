"""The built files of the web panel, loaded and compressed once per process."""

import gzip
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

BUILT: Final = Path(__file__).parent / "built"  # made by deploy/panel/build.sh
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


class File(NamedTuple):
    """A file as it is (`plain`) and compressed with gzip (`packed`)."""

    plain: bytes
    packed: bytes
    media_type: str
    tag: str


@cache
def files() -> dict[str, File]:
    """Returns the files by path, with `/` between its parts. Requests look paths up here, so no path leads outside."""
    found = (path for path in BUILT.rglob("*") if path.suffix in TYPES)
    return {path.relative_to(BUILT).as_posix(): load_file(path) for path in found}


def load_file(path: Path) -> File:
    plain = path.read_bytes()
    tag = f'"{blake2b(plain, digest_size=12).hexdigest()}"'
    return File(plain, gzip.compress(plain, mtime=0), TYPES[path.suffix], tag)
