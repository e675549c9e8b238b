"""Writes the API reference: schemas/generated/openapi.json and a Markdown page of it.

This is separate from `schemas.documents.generate`, which may not import the API. `python -m agents.api.generate` writes;
`--check` writes nothing and lists outdated files.
"""

import argparse
import sys
from pathlib import Path

import orjson

from agents.api.app import document
from schemas.documents import api_page
from schemas.documents.generate import API_PAGE, OPENAPI, TARGET


def files() -> dict[str, bytes]:
    """Returns the contents of the generated files by name."""
    openapi = document()
    as_json = orjson.dumps(openapi, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    return {OPENAPI: as_json, API_PAGE: api_page.page(openapi).encode()}


def main(argv: list[str], target: Path = TARGET) -> int:
    """Returns 1 if `--check` finds an outdated file, otherwise 0."""
    parser = argparse.ArgumentParser(prog="python -m agents.api.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is outdated")
    options = parser.parse_args(argv)
    expected = files()
    outdated = [
        name
        for name, each in expected.items()
        if not ((target / name).exists() and (target / name).read_bytes() == each)
    ]
    for name in outdated:
        if not options.check:
            (target / name).write_bytes(expected[name])
        sys.stdout.write(f"{'out of date, run `make schemas`' if options.check else 'wrote'}: {target.name}/{name}\n")
    return 1 if options.check and outdated else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
