"""What the READMEs say about settings, commands and the sample is what the code says."""

import re
from pathlib import Path

import pytest

from deploy.cli import cli
from deploy.settings import table

ROOT = Path(__file__).parents[3]
MARKED = re.compile(r"<!-- settings: .*? -->\n(.*?)<!-- /settings -->", re.DOTALL)
READMES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("*/**/README.md") if ".venv" not in path.parts)


def settings_table() -> str:
    rows = [(f"`{name}`", f"`{default}`" if default else "", meaning) for name, default, meaning in table()]
    lines = ["| Variable | Default | Meaning |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(line.replace("|  |", "| |") for line in lines) + "\n"


def test_the_table_of_settings_is_that_of_the_code():
    readme = (ROOT / "deploy" / "README.md").read_text()
    assert MARKED.findall(readme) == [settings_table()], f"deploy/README.md should say:\n{settings_table()}"


def test_the_readme_shows_the_sample_chat_service_as_it_is():
    sample = (ROOT / "deploy" / "samples" / "chat_service.py").read_text()
    assert f"```python\n{sample}```" in (ROOT / "README.md").read_text()


def test_every_command_is_documented():
    readme = (ROOT / "deploy" / "README.md").read_text()
    for command in cli.registered_commands:
        assert command.callback is not None
        assert f"memstream {command.name or command.callback.__name__}" in readme


@pytest.mark.parametrize("readme", ["README.md", *READMES])
def test_links_lead_somewhere(readme):
    path = ROOT / readme
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / target).exists(), f"{readme} links to {target}"
