"""The author's page: each of its commands runs, in order, with the server that the page shows."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.protocol.command import doubtful
from tests.terminal.forking_python import forking_python
from tests.terminal.pty_app import ROOT, TerminalApp

PAGE = (ROOT / "docs" / "servers-of-your-own.md").read_text(encoding="utf-8")
ANSWERS = re.compile(r"Type `(\w)` for \w+ \w+, `(\w)` for \w+ \w+, and `(\w)` for")
VARYING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d[\d.,:]*|\s+(?:ms|s)\b|\s+")


def blocks() -> Iterator[tuple[str, str]]:
    """Yield the code blocks of the page in order, each with its language."""
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        yield found[1], found[2]


def generalized(line: str) -> str:
    """Return a line of output without what differs from run to run."""
    return VARYING.sub(" # ", line).strip(" #")


def edited(source: str, diff: str) -> str:
    """Return a file with the changed lines of a block."""
    lines = diff.splitlines()
    for old, new in zip(lines[::2], lines[1::2], strict=True):
        assert old[0] == "-" and new[0] == "+" and source.count(old[1:]) == 1, old
        source = source.replace(old[1:], new[1:])
    return source


def reviewed(words: list[str], folder: Path) -> str:
    """Run a command on a terminal, with the answers that the page names."""
    answers = ANSWERS.search(PAGE)
    assert answers is not None
    with TerminalApp([sys.executable, "-m", "tui", *words], cwd=folder) as app:
        for number, answer in enumerate(answers.groups(), 1):
            app.until(lambda number=number: app.raw.count(b"q quit:") == number)
            app.send(f"{answer}\n")
        app.ended()
        return app.text


async def run(line: str, folder: Path) -> tuple[int, str]:
    """Run a command line of the page; return the exit code and the output."""
    words = shlex.split(line)
    assert words[0] == "mcptui"
    if "--review" in words:
        return 1, reviewed(words[1:], folder)
    done = await doubtful(*words[1:])
    assert "Traceback" not in done.err
    return done.code, done.out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the folder of the page, in which `python` is the one that runs the tests."""
    found = tmp_path / "shop"
    found.mkdir()
    monkeypatch.chdir(found)
    with forking_python("mcp.server.mcpserver") as forks:
        monkeypatch.setenv("PATH", os.pathsep.join((forks.folder, os.environ["PATH"])))
        yield found


async def test_every_command_of_the_page_runs_and_prints_what_the_page_shows(folder: Path):
    server, output, codes = folder / "server.py", "", list[tuple[str, int]]()
    for kind, text in blocks():
        match kind:
            case "python":
                server.write_text(text, encoding="utf-8")
            case "diff":
                server.write_text(edited(server.read_text("utf-8"), text), encoding="utf-8")
            case "sh":
                output = ""
                for line in text.splitlines():
                    code, said = await run(line, folder)
                    codes.append((line, code))
                    output += said
            case "text":
                printed = {generalized(line) for line in output.splitlines()}
                missing = [line for line in text.splitlines() if generalized(line) not in printed | {""}]
                assert missing == [], output
    failing = [line for line, code in codes if code]
    assert failing == ["mcptui test --record run.mcptrace --report junit=report.xml", "mcptui test --review"]
    assert (folder / "report.xml").is_file() and (folder / "test_shop.py").is_file()
    kept = (folder / "shop.mcp.toml").read_text("utf-8")
    assert '"price": "14.00"' in kept and "light rain" in kept and '"state": "open"' in kept
