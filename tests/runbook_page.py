"""A page of the runbook as it is tried: its console blocks are run one after the other, and by wish written anew with what came.

`RUNBOOK_WRITE=1 python -m pytest tests/integration/runbook` puts the transcripts into the pages.
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
    r"|(?<!\S)-(?!\S)"  # in place of a number that is not there yet
    r"|─+|-{2,}"  # as wide as what stands in the column
)
SHAPE_CHARACTERS = 60  # of a line: what is behind may be cut, or be of a width that varies


@dataclass
class Step:
    """A command of a page, and what the page says of it."""

    command: str
    told: list[str]

    def check(self, output: str, code: int) -> None:
        """That it ended as the page says (0 where it says nothing), and printed what the page shows, up to numbers and ids."""
        codes = [int(found[1]) for line in self.told if (found := CODE.fullmatch(line))]
        assert code == (codes[0] if codes else 0), f"{self.command!r} ended with {code}:\n{output}"
        if os.environ.get("RUNBOOK_WRITE"):
            return
        printed = {shape(line) for line in output.splitlines()}
        missing = [
            line for line in self.told if line != ELLIPSIS and not CODE.fullmatch(line) and shape(line) not in printed
        ]
        assert not missing, f"{self.command!r} did not print {missing}, but:\n{output}"
        assert self.told or not output.strip(), f"{self.command!r} printed what the page does not show:\n{output}"


class Page:
    """`run` takes the next block, command by command, and returns what they said; `done` holds that none is left.

    A command that ends otherwise, or prints something else, than its page says fails the test.
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
        """Everything that the next block's commands printed. Blocking: to be called in a thread."""
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
        """What it printed, and its exit code."""
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
        """In this process: what the command loads takes seconds, and here only once."""
        changed = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in self.environment.items()
            if name.startswith(PREFIX)
        }
        done = run_here(self._deployment.settings, self._directory, *words, **changed)
        return done.stderr + done.stdout, done.returncode  # complaints and progress come first


def steps(block: str) -> list[Step]:
    """A command stands behind a prompt and goes on where its line ends with a backslash; what it printed follows."""
    found: list[Step] = []
    for line in block.replace("\\\n", "\\\0").splitlines():
        if line.startswith(PROMPT):
            found.append(Step(line.removeprefix(PROMPT).replace("\0", "\n"), []))
        elif line.strip():
            found[-1].told.append(line.rstrip())
    return found


def shape(line: str) -> str:
    """What of it is the same the next time."""
    return " ".join(VARYING.sub("#", line).split())[:SHAPE_CHARACTERS]


def with_code(output: str, code: int) -> str:
    return output if code == 0 else f"{output.rstrip()}\n(exit code {code})\n"


def shown(output: str) -> str:
    """As much of it as a page takes."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    kept = lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], ELLIPSIS]
    return "".join(f"{line}\n" for line in kept)
