"""Every text that the program can show is in one file, tests/snapshots/all-texts.txt.

They can be reviewed there, and a diff shows each change of wording. `{}` is filled at run time.

Quotes: “…” around names and values, which differ at run time (`quoted_name`, which cleans and cuts them too).
Backticks are only around what is typed as it is: commands, keys and values of a file. No text has '…', as
Python quotes.
"""

import ast
import difflib
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import sources
from tests.sources import ROOT, Nodes

FILE = ROOT / "tests" / "snapshots" / "all-texts.txt"
_NOT_FOR_PEOPLE = re.compile(
    r"^(SELECT|INSERT|CREATE|UPDATE|DELETE|PRAGMA|DROP|ALTER|BEGIN|ATTACH|EXPLAIN) "  # SQL
    r"|\(\?[:!=<P]|\[\^|\\[dsw]"  # regular expressions
    r"|^[A-Z][\w.]* \{|\$[a-z-]+;|^\s*&"  # Textual CSS
)
_WORDS = re.compile(r"[^\W\d_]{2,}[^\w]*\s+(?=.*[^\W\d_])", re.DOTALL)


_WORDS_OF_ENDPOINTS = ("tui/model/endpoints/refusals.py", "tui/model/endpoints/refusal_rows.py")
"""Modules with what others say, and with what is done about it, for those who add to it."""

_DEMO = "tui/addons/demo/vocabulary.toml"
"""Data with the sentences of the demo model."""

_WITH_REPR = {
    "tui/core/context/built_in_tools.py",  # read by the model
    "tui/host/sign_in/browser_sign_in.py",  # a `__repr__`
    "tui/settings/save.py",  # an error of the program itself
    "tui/traffic/record/column_parts.py",  # an error of the program itself
    "tui/traffic/copies/scripts.py",  # Python code to copy
    "tui/ui/widgets/theme_colors.py",  # an error of the program itself
}
"""Modules in which f-strings may have `!r`."""


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    yield
    sources.forget()


def texts(nodes: Nodes) -> Iterator[str]:
    """Yield the texts of a module in order: literals of more than one word, except docstrings."""
    skipped = set()
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)  # a docstring
        if isinstance(node, ast.JoinedStr):
            skipped.update(part for part in node.values if isinstance(part, ast.Constant))
            for part in node.values:
                if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
                    skipped.add(part.format_spec)
    found = [node for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr)]
    for node in sorted(found, key=lambda node: (node.lineno, node.col_offset)):
        if node in skipped:
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        text = "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}"
            for part in parts
            if not isinstance(part, ast.Constant) or isinstance(part.value, str)
        )
        if _WORDS.search(text) and not _NOT_FOR_PEOPLE.search(text):
            yield text


def all_texts() -> str:
    """Return the contents of the file."""
    lines = []
    for path, nodes in sources.modules().items():
        found = [] if path in _WORDS_OF_ENDPOINTS else list(texts(nodes))
        if found:
            lines.append(f"# {path}")
            lines += [*(text.replace("\n", "\\n") for text in found), ""]
    demo = tomllib.loads((ROOT / _DEMO).read_text(encoding="utf-8"))
    pairs = [*demo["examples"].values(), *demo["sentences"].values()]
    lines += [f"# {_DEMO}", *(text.replace("\n", "\\n") for pair in pairs for text in pair), ""]
    return "\n".join(lines)


def test_the_file_lists_every_text():
    if os.environ.get("REWRITE_SNAPSHOTS"):
        FILE.write_text(all_texts(), encoding="utf-8")
    recorded, current = FILE.read_text(encoding="utf-8").splitlines(), all_texts().splitlines()
    difference = "\n".join(difflib.unified_diff(recorded, current, "recorded", "current", n=0, lineterm=""))
    assert recorded == current, f"REWRITE_SNAPSHOTS=1 .venv/bin/pytest {Path(__file__).name}\n{difference}"


def test_names_are_quoted_as_people_write_them_not_as_python_does():
    found = []
    for name, nodes in sources.modules().items():
        for node in nodes if name not in _WITH_REPR else ():
            if isinstance(node, ast.FormattedValue) and node.conversion == ord("r"):
                found.append(f"{name}:{node.lineno}")
    assert found == [], "use quoted_name() instead of !r"
