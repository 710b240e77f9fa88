"""Third-party programs from npm and PyPI, and the marks of tests that need them.

`MCPTUI_REAL_SERVERS` names a directory with `node_modules` (current servers, the inspector, aimock,
supergateway, the conformance suite and Node 22), `old/node_modules` (servers of 2024 and 2025), and virtual
environments: `time` (mcp-server-time, -git and -fetch), `sqlite` (mcp-server-sqlite on mcp 1) and `fastmcp`
(FastMCP 4). `.ci/run` makes one. Tests whose programs are missing are skipped.
"""

import os
from pathlib import Path

import pytest

_FOLDER = Path(os.environ.get("MCPTUI_REAL_SERVERS") or "/nonexistent")
EVERYTHING = _FOLDER / "node_modules" / ".bin" / "mcp-server-everything"
FILES = _FOLDER / "node_modules" / ".bin" / "mcp-server-filesystem"
INSPECTOR = _FOLDER / "node_modules" / ".bin" / "mcp-inspector"
AIMOCK = _FOLDER / "node_modules" / ".bin" / "llmock"  # the command of the package aimock that runs fixtures
CONFORMANCE = _FOLDER / "node_modules" / ".bin" / "conformance"
NODE_22 = _FOLDER / "node_modules" / ".bin" / "node"
GATEWAY = _FOLDER / "node_modules" / ".bin" / "supergateway"
MEMORY = _FOLDER / "node_modules" / ".bin" / "mcp-server-memory"
THINKING = _FOLDER / "node_modules" / ".bin" / "mcp-server-sequential-thinking"
OLD_EVERYTHING = _FOLDER / "old" / "node_modules" / ".bin" / "mcp-server-everything"
OLD_FILES = _FOLDER / "old" / "node_modules" / ".bin" / "mcp-server-filesystem"
TIME = _FOLDER / "time" / "bin" / "mcp-server-time"
GIT = _FOLDER / "time" / "bin" / "mcp-server-git"
FETCH = _FOLDER / "time" / "bin" / "mcp-server-fetch"
FASTMCP = _FOLDER / "fastmcp" / "bin" / "python"
SQLITE = _FOLDER / "sqlite" / "bin" / "mcp-server-sqlite"


def inspector(*words: str | Path) -> list[str]:
    """Return a command line of the Inspector without its wrapper program."""
    inner = INSPECTOR.resolve().with_name("index.js")
    return [*(["node", str(inner)] if inner.exists() else [str(INSPECTOR), "--cli"]), *map(str, words)]


def needs(*programs: Path) -> list[pytest.MarkDecorator]:
    """Return the marks of tests that need third-party programs."""
    missing = ", ".join(str(program.relative_to(_FOLDER)) for program in programs if not program.exists())
    reason = f"MCPTUI_REAL_SERVERS names no directory with {missing}"
    return [pytest.mark.real, pytest.mark.skipif(bool(missing), reason=reason)]
