"""Measures each group of rules: plays the development half without it, and lists the scenarios that change.

`python -m tests.benchmarks.understanding.ablation`, some minutes. The table is on stdout, as Markdown.
"""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from msgspec import structs

from agents.models.offline import findings, own_statements, provider, rules, statements
from agents.models.offline.rules.engine import rule_engine
from agents.models.offline.rules.engine.rule import LanguageRules
from agents.models.offline.rules.findings import sentence_findings
from agents.models.offline.rules.tables.english_plans import PLANS
from agents.models.offline.rules.tables.english_preferences import PREFERENCES
from agents.models.offline.rules.tables.english_projects import PROJECTS
from agents.models.offline.rules.tables.english_statements import IDENTITY, STATEMENTS
from agents.profile import classification
from tests.benchmarks.understanding.run import figures_of_half, run
from tests.benchmarks.understanding.scenarios import scenarios

RULES: Final = Path(rules.__file__).parent
FIGURES: Final = ("contained", "ended", "constraints_in_block", "dated", "never_kept", "wrong_subject", "junk")


def nothing(*_: Any, **__: Any) -> Iterator[Any]:
    return iter(())


def same(text: str) -> str:
    return text


def without(code: str, *rules: Any, **fields: Any) -> Any:
    """A language without some of its rules."""
    tongue: LanguageRules = statements.LANGUAGE_RULES[code]
    left = tuple(each for each in tongue.rules if each not in rules)
    return patch.dict(statements.LANGUAGE_RULES, {code: structs.replace(tongue, rules=left, **fields)})


def silent(code: str) -> Any:
    return without(code, *statements.LANGUAGE_RULES[code].rules, changes=())


# By group: the files that it is in, and what takes it away.
GROUPS: Final[Mapping[str, tuple[tuple[str, ...], Any]]] = {
    "English: statements": (
        ("tables/english_statements.py",),
        lambda: (without("en", *IDENTITY, *STATEMENTS),),
    ),
    "English: preferences": (("tables/english_preferences.py",), lambda: (without("en", *PREFERENCES),)),
    "English: plans": (("tables/english_plans.py",), lambda: (without("en", *PLANS),)),
    "English: projects": (("tables/english_projects.py",), lambda: (without("en", *PROJECTS),)),
    "English: changes": (("tables/english_changes.py",), lambda: (without("en", changes=()),)),
    "German": (("tables/german.py",), lambda: (silent("de"),)),
    "French": (("tables/french.py",), lambda: (silent("fr"),)),
    "Spanish": (("tables/spanish.py",), lambda: (silent("es"),)),
    "limits and wishes: all": (
        ("lasting_instructions/*.py", "engine/spelling.py"),
        lambda: (
            patch.object(sentence_findings, "limit_or_wish", lambda *_: None),
            patch.object(sentence_findings, "apply_classifier", lambda *given: given[3]),
        ),
    ),
    "limits and wishes: classifier": (
        ("lasting_instructions/classifier.py",),
        lambda: (
            patch.object(sentence_findings, "apply_classifier", lambda *given: given[3]),
            patch.object(classification, "part_by_classifier", lambda _: None),
        ),
    ),
    "slips of spelling": (
        ("engine/spelling.py",),
        lambda: (patch.object(rule_engine, "without_typos", lambda text, _code: text),),
    ),
    "frames": (
        ("framing/*.py",),
        lambda: (
            patch.object(findings, "own_part", same),
            patch.object(own_statements, "opens_frame", lambda _, **__: False),
            patch.object(sentence_findings, "is_unreal", lambda _: False),
            patch.object(sentence_findings, "is_hearsay", lambda _: False),
        ),
    ),
    "all rules for statements": (
        ("tables/*.py", "engine/rule.py", "lasting_instructions/*instruction*.py"),
        lambda: (patch.object(sentence_findings, "rule_findings", nothing),),
    ),
    "corrections by a bare value": (
        ("../corrections.py",),
        lambda: (patch.object(provider, "with_corrections", lambda _, drafts: list(drafts)),),
    ),
    "what tools and assistants state": (
        ("findings/impersonal_statements.py",),
        lambda: (patch.object(provider, "impersonal_drafts", nothing),),
    ),
}


@contextmanager
def away(patches: Any) -> Iterator[None]:
    with ExitStack() as stack:
        for each in patches():
            stack.enter_context(each)
        yield


def lines(files: tuple[str, ...]) -> int:
    return sum(len(path.read_text().splitlines()) for name in files for path in sorted(RULES.glob(name)))


def figures() -> dict[str, Any]:
    chosen = scenarios(halves=["development"])
    found, _ = asyncio.run(run(chosen, "offline"))
    return figures_of_half(found, "development")


def main() -> int:
    names = [each.replace("_", " ") for each in FIGURES]
    sys.stdout.write(f"| without | lines | {' | '.join(names)} |\n|---|---{'|---' * len(names)}|\n")
    for name, (files, patches) in {"nothing": ((), tuple), **GROUPS}.items():
        with away(patches):
            row = figures()
        cells = [f"{row.get(each, 0)} of {row.get(f'{each}_of', 0)}" for each in FIGURES]
        sys.stdout.write(f"| {name} | {lines(files)} | {' | '.join(cells)} |\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
