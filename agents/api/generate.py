"""Writes schemas/generated/openapi.json, and a page of it: what the API answers, for other languages and for people.

Apart from `schemas.documents.generate`, which may not know the API. `python -m agents.api.generate` writes; `--check`
writes nothing and says what is out of date.
"""

import argparse
import sys
from pathlib import Path

import orjson

from agents.api.app import document
from schemas.documents import api_page
from schemas.documents.generate import API_PAGE, OPENAPI, TARGET


def files() -> dict[str, bytes]:
    """The content of both, by name."""
    told = document()
    as_json = orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    return {OPENAPI: as_json, API_PAGE: api_page.page(told).encode()}


def main(argv: list[str], target: Path = TARGET) -> int:
    """1 when a checked file is out of date."""
    parser = argparse.ArgumentParser(prog="python -m agents.api.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when something is out of date")
    options = parser.parse_args(argv)
    wanted = files()
    wrong = [
        name for name, each in wanted.items() if not ((target / name).exists() and (target / name).read_bytes() == each)
    ]
    for name in wrong:
        if not options.check:
            (target / name).write_bytes(wanted[name])
        sys.stdout.write(f"{'out of date, run `make schemas`' if options.check else 'wrote'}: {target.name}/{name}\n")
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
