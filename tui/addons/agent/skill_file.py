"""`mcptui agent --skill`: print the skill that teaches an agent mcptui's commands, or install it."""

import argparse
import difflib
import os
from itertools import islice
from pathlib import Path

from tui.commands.config.host_files import agreed, backup_of, change_file, read_text, shown
from tui.core.errors import UsageError
from tui.core.text import clean_line
from tui.core.units import size

PLACES = {"claude-code": "~/.claude/skills", "codex": "~/.codex/skills", "project": "./.claude/skills"}
"""The folders of skills, by the name after `--skill install`."""

MOST_LINES = 40
_USAGE = f"mcptui agent --skill [install [{'|'.join(PLACES)}|FOLDER]]"


def skill_text() -> str:
    """Return the SKILL.md of mcptui."""
    return (Path(__file__).parent / "SKILL.md").read_text(encoding="utf-8")


def skill(args: argparse.Namespace) -> int:
    """Print the skill, or install it after a preview. Returns the exit code."""
    text, words = skill_text(), args.skill
    if not words:
        print(text, end="")
        return 0
    if words[0] != "install" or len(words) > 2:
        raise UsageError("--skill takes nothing, or `install` and a place.", next_step=f"Use {_USAGE}")
    path = _path(words[1] if len(words) > 1 else "claude-code")
    try:
        before = read_text(path)
    except FileNotFoundError:
        before = ""
    if before == text:
        print(f"the skill is installed already: {shown(path)}")
        return 0
    print(
        f"{shown(path)}{', which has other contents now' if before else ', a new file'} ({size(len(text))})"
    )
    if before:
        lines = difflib.unified_diff(before.splitlines(), text.splitlines(), "now", "new", "", "", 1, "")
        for line in islice(lines, MOST_LINES):
            print(f"  {clean_line(line, 200)}")
    if not agreed(args, path, "Replace it?" if before else "Write it?"):
        return 0
    change_file(path, lambda _: text, backup := backup_of(path), create=True)
    print(f"wrote {shown(path)}{f', backup: {shown(backup)}' if before else ''}")
    return 0


def _path(named: str) -> Path:
    folder = Path(os.path.expanduser(PLACES.get(named, named))).absolute()
    if named not in PLACES and os.sep not in named and not folder.is_dir():
        raise UsageError(f"{clean_line(named, 80)} is neither a folder nor a known place.", next_step=_USAGE)
    return (folder if folder.name == "mcptui" else folder / "mcptui") / "SKILL.md"
