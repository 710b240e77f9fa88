"""Writes the tables of keys in docs/tests.md and docs/mcp-toml.schema.json, both from one description.

`python -m tests.unit.addons.tests.suite_tables` writes them; tests keep them in sync. A table is between
`<!-- keys: call -->` and `<!-- end of keys -->`, with the name of its section, "file" for the file itself.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import tomli_w

from tui.addons.tests.suite.keys import DEFAULTS, SECTIONS, Key, Kind
from tui.addons.tests.suite.schema import schema_text

DOCS = Path(__file__).parents[4] / "docs"
MANUAL = DOCS / "tests.md"
SCHEMA = DOCS / "mcp-toml.schema.json"
_TABLE = re.compile(r"(<!-- keys: (\w+) -->\n).*?(<!-- end of keys -->)", re.DOTALL)


def with_tables(manual: str) -> str:
    """Return the text of docs/tests.md with its generated tables."""
    return _TABLE.sub(lambda found: f"{found[1]}{table(found[2])}{found[3]}", manual)


def sections_in(manual: str) -> set[str]:
    """Return the sections whose tables a text has."""
    return {found[2] for found in _TABLE.finditer(manual)}


def table(section: str) -> str:
    """Return the table of the keys of a section."""
    return "".join(f"{line}\n" for line in _lines("" if section == "file" else section))


def _lines(section: str) -> Iterator[str]:
    yield from ("| key | type | default | description |", "|---|---|---|---|")
    for name, key in SECTIONS[section].items():
        default = DEFAULTS.get(section, {}).get(name)
        written = "not set" if default is None else f"`{tomli_w.dumps({'k': default})[4:].strip()}`"
        cells = (f"`{name}`", _kind(key), "required" if key.required else written, key.description)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _kind(key: Key) -> str:
    """Return what a key takes in words, with its choices and bounds."""
    least = "" if key.least is None else f", at least {key.least:g}"
    most = "" if key.most is None else f", at most {key.most:g}"
    return f"{_words(key)}{least}{most}"


def _words(key: Key) -> str:
    choices = ", ".join(f"`{choice}`" for choice in key.choices)
    match key.kind:
        case Kind.TEXT if choices:
            return choices
        case Kind.TEXTS if choices:
            return f"list of {choices}"
        case Kind.ONE_OR_MORE if choices:
            return f"{choices}, or a list of those"
    return str(key.kind)


if __name__ == "__main__":
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    if MANUAL.exists():
        MANUAL.write_text(with_tables(MANUAL.read_text(encoding="utf-8")), encoding="utf-8")
