"""Suites that tests write, for the server of `suite_server.py`, and the lines of their runs."""

import json
import sys
from pathlib import Path

from tests.protocol.command import Done

SERVER = Path(__file__).with_name("suite_server.py")
COMMAND = [sys.executable, "-I", str(SERVER)]
HEAD = f"[server]\ncommand = {json.dumps(COMMAND)}\n"

THREE = """
[[call]]
name = "first count"
tool = "count"
result = '{ "calls": 1 }'
tags = ["counting"]

[[call]]
name = "second count"
tool = "count"
result = '{ "calls": 2 }'
tags = ["counting"]

[[call]]
name = "adding"
tool = "add"
args = { a = 1 }
text = "5"
"""
"""Three cases, of which two depend on each other."""


def suite(folder: Path, cases: str, name: str = "all", head: str = HEAD) -> Path:
    path = folder / f"{name}.mcp.toml"
    path.write_text(head + cases)
    return path


def lines(done: Done) -> list[str]:
    """Return the lines of cases, without spaces: file::name STATE."""
    found = (line.split() for line in done.out.splitlines() if "::" in line)
    return [" ".join(words[:-2] if words[-1] in ("ms", "s") else words).rpartition("/")[2] for words in found]
