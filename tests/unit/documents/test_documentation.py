"""The READMEs agree with the code about settings, commands and the sample."""

import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from textwrap import indent

import pytest
from msgspec.structs import fields

from deploy.cli.main import COMMANDS, load_command
from deploy.settings import SettingRow, tables
from schemas import codec
from schemas.conversations.window_settings import WindowSettings
from schemas.policies.block_settings import HEADING_FIELDS, LINE_FIELDS, BlockSettings
from streams.windows.context.statistics import STRATEGIES
from streams.windows.pruning.reasons import SENTENCES, STAYED

ROOT = Path(__file__).parents[3]
MARKED = re.compile(r"<!-- settings: .*? -->\n(.*?)<!-- /settings -->", re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
PAGES = subprocess.run(
    ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
).stdout.splitlines()


def settings_tables() -> str:
    return "\n".join(f"### {title}\n\n{settings_table(rows)}" for title, rows in tables().items())


def settings_table(listed: list[SettingRow]) -> str:
    rows = [(f"`{row.variable}`", f"`{row.default}`" if row.default else "", row.meaning) for row in listed]
    lines = ["| Variable | Default | Meaning |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(line.replace("|  |", "| |") for line in lines) + "\n"


def test_the_settings_tables_of_the_readme_match_the_code():
    readme = (ROOT / "deploy" / "README.md").read_text()
    assert MARKED.findall(readme) == [settings_tables()], f"deploy/README.md should say:\n{settings_tables()}"


def test_the_python_lines_of_the_readme_are_lines_of_the_quickstart_sample():
    (shown,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert indent(shown, " " * 8) in (ROOT / "deploy" / "samples" / "quickstart.py").read_text()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str):
    readme = (ROOT / "deploy" / "README.md").read_text()
    for words in [name, *(f"{name} {part}" for part in getattr(load_command(name), "commands", {}))]:
        assert re.search(rf"`(memstream )?{words}[ `]", readme), f"deploy/README.md has no row for {words}"


def rows_of_windows_page(name: str) -> list[list[str]]:
    return rows_of_page("windows.md", name)


def rows_of_page(page_name: str, name: str) -> list[list[str]]:
    """The cells of the table between the comments of that name."""
    page = (ROOT / "deploy" / "docs" / page_name).read_text()
    ((text,),) = [re.findall(rf"<!-- {name}: .*? -->\n(.*?)<!-- /{name} -->", page, re.DOTALL)]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines()[2:]]


def test_the_table_of_window_settings_lists_each_with_its_default():
    defaults = {field.name: field.default for field in fields(WindowSettings)} | {"adjustable": None}
    written = {name: "none" if value is None else f"`{value}`" for name, value in defaults.items()}
    written |= {
        name: f"`{codec.encode(value).decode()}`" for name, value in defaults.items() if isinstance(value, bool)
    }
    assert {cells[0]: cells[1] for cells in rows_of_windows_page("window settings")} == {
        f"`{name}`": default for name, default in written.items()
    }


def test_the_table_of_block_settings_lists_each_with_its_default():
    defaults = {f"`{field.name}`": field.default for field in fields(BlockSettings)}
    assert {cells[0]: cells[1] for cells in rows_of_page("context.md", "block settings")} == {
        name: "none" if value is None else f"`{value}`" for name, value in defaults.items()
    }


def test_all_fields_of_a_blocks_templates_are_documented():
    page = (ROOT / "deploy" / "docs" / "context.md").read_text()
    assert [field for field in {*LINE_FIELDS, *HEADING_FIELDS} if f"`{{{field}}}`" not in page] == []


def test_the_table_of_strategies_matches_the_statistics_texts():
    assert rows_of_windows_page("strategies") == [
        [f"`{name}`", description] for name, description in STRATEGIES.items()
    ]


def test_the_table_of_reasons_matches_the_decision_texts():
    wanted = [
        [f"`{name}`", "stays" if name in STAYED else "leaves", description] for name, description in SENTENCES.items()
    ]
    assert rows_of_windows_page("reasons") == wanted


def anchors(page: str) -> set[str]:
    """Returns the anchors of a page's headings as on GitHub: repeated headings get a number."""
    found: Counter[str] = Counter()
    names = set()
    for heading in re.findall(r"^#+ (.+)$", FENCED.sub("", page), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.strip())
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        names.add(f"{slug}-{found[slug]}" if found[slug] else slug)
        found[slug] += 1
    return names


@cache
def anchors_of(path: Path) -> set[str]:
    return anchors(path.read_text())


def test_heading_anchors_are_computed_as_on_github():
    page = "# Back up\n## `GET /v1/usage`\n```sh\n# no heading\n```\n## What now, and [why](x.md)?\n## Back up\n"
    assert anchors(page) == {"back-up", "get-v1usage", "what-now-and-why", "back-up-1"}


@pytest.mark.parametrize("name", PAGES)
def test_no_page_has_the_marks_of_a_merge_conflict(name: str):
    assert not re.search(r"^(?:<{7}|>{7}) ", (ROOT / name).read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_links_resolve_to_existing_files_and_headings(name: str):
    path = ROOT / name
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", FENCED.sub("", path.read_text())):
        page = path.parent / target if target else path
        assert page.exists(), f"{name} links to {target}"
        if anchor:
            assert anchor in anchors_of(page), f"{name} links to #{anchor} of {target or name}"


@pytest.mark.parametrize("layer", ["schemas", "streams", "sinks", "agents", "deploy"])
def test_every_package_of_a_layer_is_in_its_readme_and_in_the_architecture_page(layer: str):
    listed = subprocess.run(["git", "ls-files", layer], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rooms = {Path(name).parts[1] for name in listed.splitlines() if len(Path(name).parts) > 2} - {
        "generated",
        "published",
    }
    readme, architecture = (
        (ROOT / layer / "README.md").read_text(),
        (ROOT / "deploy" / "docs" / "ARCHITECTURE.md").read_text(),
    )
    assert rooms
    assert not [room for room in rooms if f"`{room}/" not in readme]
    assert not [room for room in rooms if f"`{room}`" not in architecture]
