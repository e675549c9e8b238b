"""A page of the runbook as it is tried: its console blocks are run one after the other, and by wish written anew with what came.

`RUNBOOK_WRITE=1 python -m pytest tests/integration/runbook` puts the transcripts into the pages.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path
from string import Template

from deploy.settings import PREFIX
from tests.command_line import run_here
from tests.deployment import Deployment

PAGES = Path(__file__).parents[1] / "deploy" / "runbook"
BLOCK = re.compile(r"(?<=```console\n)(.*?)(?=```)", re.DOTALL)
PROMPT = "$ "
SHELLS = frozenset("|;&<>$`*()")
MOST_LINES = 14
WITHIN_S = 120


class Page:
    """`run` takes the next block, command by command, and returns what they said; `done` holds that none is left."""

    def __init__(self, name: str, deployment: Deployment, directory: Path, environment: dict[str, str]) -> None:
        self._path = PAGES / name
        self._blocks = BLOCK.findall(self._path.read_text())
        self._next = 0
        self._written: list[str] = []
        self._deployment = deployment
        self._directory = directory
        self.environment = environment

    def run(self) -> str:
        """Everything that the next block's commands printed. Blocking: to be called in a thread."""
        said = [(command, self._said(command)) for command in commands(self._blocks[self._next])]
        self._next += 1
        self._written.append("".join(f"{PROMPT}{command}\n{shown(output)}" for command, output in said))
        return "\n".join(output for _, output in said)

    def done(self) -> None:
        assert self._next == len(self._blocks), f"{self._path.name} has blocks that nobody tries"
        if os.environ.get("RUNBOOK_WRITE"):
            written = iter(self._written)
            self._path.write_text(BLOCK.sub(lambda _: next(written), self._path.read_text()))

    def _said(self, command: str) -> str:
        words = shlex.split(command)
        if words[0] == "export":
            given = (Template(word).substitute(self.environment).split("=", 1) for word in words[1:])
            self.environment.update((name, value) for name, value in given)
            return ""
        if words[0] == "memstream" and not SHELLS & set(command):
            return self._memstream(*words[1:])
        done = subprocess.run(
            ["bash", "-c", command],
            env=self.environment,
            cwd=self._directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )
        return with_code(done.stdout, done.returncode)

    def _memstream(self, *words: str) -> str:
        """In this process: what the command loads takes seconds, and here only once."""
        changed = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in self.environment.items()
            if name.startswith(PREFIX)
        }
        done = run_here(self._deployment.settings, self._directory, *words, **changed)
        return with_code(done.stderr + done.stdout, done.returncode)  # complaints and progress come first


def commands(block: str) -> list[str]:
    """The lines behind a prompt; one that ends with a backslash goes on."""
    joined = block.replace("\\\n", "\\\0")
    return [line.removeprefix(PROMPT).replace("\0", "\n") for line in joined.splitlines() if line.startswith(PROMPT)]


def with_code(output: str, code: int) -> str:
    return output if code == 0 else f"{output.rstrip()}\n(exit code {code})\n"


def shown(output: str) -> str:
    """As much of it as a page takes."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    kept = lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "..."]
    return "".join(f"{line}\n" for line in kept)
