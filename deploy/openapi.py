"""Writes schemas/generated/openapi.json: what the API answers, for other languages and for those who generate clients.

Apart from `schemas.generate`, which may not know the API. `python -m deploy.openapi` writes; `--check` writes nothing and
says whether it is out of date.
"""

import argparse
import sys
from pathlib import Path

import orjson

from agents.api.app import document
from schemas.generate import OPENAPI, TARGET


def content() -> bytes:
    return orjson.dumps(document(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def main(argv: list[str], target: Path = TARGET / OPENAPI) -> int:
    """1 when the checked file is out of date."""
    parser = argparse.ArgumentParser(prog="python -m deploy.openapi", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when it is out of date")
    options = parser.parse_args(argv)
    wanted = content()
    if target.exists() and target.read_bytes() == wanted:
        return 0
    if not options.check:
        target.write_bytes(wanted)
    sys.stdout.write(f"{'out of date, run `make schemas`' if options.check else 'wrote'}: {target.name}\n")
    return 1 if options.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
