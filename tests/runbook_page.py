"""Tests a page of the runbook: runs its console blocks in order, and compares or rewrites the output.

`RUNBOOK_WRITE=1 python -m pytest tests/integration/runbook` writes the output into the pages.
"""

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from string import Template

from deploy.settings.defaults import PREFIX
from tests.command_line import run_here
from tests.deployment import Deployment

PAGES = Path(__file__).parents[1] / "deploy" / "runbook"
BLOCK = re.compile(r"(?<=```console\n)(.*?)(?=```)", re.DOTALL)
PROMPT = "$ "
SHELLS = frozenset("|;&<>$`*()")
MOST_LINES = 14
WITHIN_S = 120

CODE = re.compile(r"\(exit code (\d+)\)")
ELLIPSIS = "..."
VARYING = re.compile(
    r"[0-9a-f.,:+TZ-]*\d[0-9a-f.,:+TZ-]*"  # a number, a time, or an id
    r"|(?<!\S)-(?!\S)"  # in place of a missing number
    r"|─+|-{2,}"  # as wide as the column's content
)
SHAPE_CHARACTERS = 60  # compared part of a line; the rest may be truncated or vary in width


@dataclass
class Step:
    """A command of a page with its documented output."""

    command: str
    documented: list[str]

    def check(self, output: str, code: int) -> None:
        """Checks the exit code (0 unless documented) and the output, up to numbers and ids."""
        codes = [int(found[1]) for line in self.documented if (found := CODE.fullmatch(line))]
        assert code == (codes[0] if codes else 0), f"{self.command!r} ended with {code}:\n{output}"
        if os.environ.get("RUNBOOK_WRITE"):
            return
        printed = {shape(line) for line in output.splitlines()}
        missing = [
            line
            for line in self.documented
            if line != ELLIPSIS and not CODE.fullmatch(line) and shape(line) not in printed
        ]
        assert not missing, f"{self.command!r} did not print {missing}, but:\n{output}"
        assert self.documented or not output.strip(), f"{self.command!r} printed what the page does not show:\n{output}"


class Page:
    """`run` runs the next block, command by command, and returns the output; `done` checks that no block is left.

    A command with another exit code or output than documented fails the test.
    """

    def __init__(self, name: str, deployment: Deployment, directory: Path, environment: dict[str, str]) -> None:
        self._path = PAGES / name
        self._blocks = BLOCK.findall(self._path.read_text())
        self._next = 0
        self._written: list[str] = []
        self._deployment = deployment
        self._directory = directory
        self.environment = environment

    def run(self) -> str:
        """Runs the next block and returns its output. Blocking: call it in a thread."""
        said = [(step.command, self._held(step)) for step in steps(self._blocks[self._next])]
        self._next += 1
        self._written.append("".join(f"{PROMPT}{command}\n{shown(output)}" for command, output in said))
        return "\n".join(output for _, output in said)

    def done(self) -> None:
        assert self._next == len(self._blocks), f"{self._path.name} has blocks that nobody tries"
        if os.environ.get("RUNBOOK_WRITE"):
            written = iter(self._written)
            self._path.write_text(BLOCK.sub(lambda _: next(written), self._path.read_text()))

    def _held(self, step: Step) -> str:
        output, code = self._said(step.command)
        step.check(output, code)
        return with_code(output, code)

    def _said(self, command: str) -> tuple[str, int]:
        """The output and exit code of a command."""
        words = shlex.split(command)
        if words[0] == "export":
            given = (Template(word).substitute(self.environment).split("=", 1) for word in words[1:])
            self.environment.update((name, value) for name, value in given)
            return "", 0
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
        return done.stdout, done.returncode

    def _memstream(self, *words: str) -> tuple[str, int]:
        """Runs a memstream command in this process, where imports are loaded once."""
        changed = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in self.environment.items()
            if name.startswith(PREFIX)
        }
        done = run_here(self._deployment.settings, self._directory, *words, **changed)
        return done.stderr + done.stdout, done.returncode  # complaints and progress come first


def steps(block: str) -> list[Step]:
    """The commands of a block with their output. A command follows a prompt and continues after a trailing backslash."""
    found: list[Step] = []
    for line in block.replace("\\\n", "\\\0").splitlines():
        if line.startswith(PROMPT):
            found.append(Step(line.removeprefix(PROMPT).replace("\0", "\n"), []))
        elif line.strip():
            found[-1].documented.append(line.rstrip())
    return found


def shape(line: str) -> str:
    """The part of the output that is the same in every run."""
    return " ".join(VARYING.sub("#", line).split())[:SHAPE_CHARACTERS]


def with_code(output: str, code: int) -> str:
    return output if code == 0 else f"{output.rstrip()}\n(exit code {code})\n"


def shown(output: str) -> str:
    """The beginning of the output, as long as pages show it."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    kept = lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], ELLIPSIS]
    return "".join(f"{line}\n" for line in kept)
