"""Writes the tables of docs/tests.md from the table of keys.

`python -m tests.unit.addons.tests.manual_tables` writes them; a test keeps both in sync.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from tui.addons.tests.suite.keys import DEFAULTS, SECTIONS, Key, Kind

MANUAL = Path(__file__).parents[4] / "docs" / "tests.md"

HEADINGS = {
    "Top level": ("", ""),
    "Server": ("server", "`[server]`: a `command` or a `url`."),
    "Cases": ("call", "`[[call]]`: exactly one of `tool`, `read`, `prompt` and `list`."),
    "Calls that follow": ("then", "A call in `then`. Its keys are those of a case."),
    "Items that are not text": ("content", "An item of `content`. Keys that are not set are not compared."),
    "Answers to the server": ("answers", "What `answers` can have. What is not answered is declined."),
    "Turn cases in the file": ("turn", "`[[turn]]`"),
    "Contract in the file": ("contract", "`[contract]`"),
}
"""Generated sections of the manual: the kind of table, and a sentence about it."""


def with_tables(manual: str) -> str:
    """Return the text of docs/tests.md with its generated sections."""
    for heading, (section, about) in HEADINGS.items():
        before, found, after = manual.partition(f"\n### {heading}\n")
        assert found, heading
        text = "\n".join([*([about, ""] if about else []), *_rows(section)])
        manual = f"{before}{found}\n{text}\n\n{after[after.index('### ') :]}"
    return manual


def _rows(section: str) -> Iterator[str]:
    if section == "then":
        keys = ", ".join(f"`{name}`" for name in SECTIONS[section])
        yield f"{keys}."
        return
    yield "| key | type | default | description |"
    yield "|---|---|---|---|"
    for name, key in SECTIONS[section].items():
        cells = (f"`{name}`", _kind(key), _default(section, name, key), key.description)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _kind(key: Key) -> str:
    choices = ", ".join(f"`{choice}`" for choice in key.choices)
    kind = choices if key.choices and key.kind is Kind.TEXT else str(key.kind)
    kind = f"{kind}: {choices}" if key.choices and kind not in (choices, Kind.FORMS) else kind
    bounds = [f"at least {key.least:g}" if key.least is not None else ""]
    bounds += [f"at most {key.most:g}" if key.most is not None else ""]
    return ", ".join([kind, *filter(None, bounds)])


def _default(section: str, name: str, key: Key) -> str:
    if key.required:
        return "required"
    defaults = DEFAULTS.get(section, {})
    return f"`{json.dumps(defaults[name])}`" if name in defaults else "not set"


if __name__ == "__main__":
    MANUAL.write_text(with_tables(MANUAL.read_text(encoding="utf-8")), encoding="utf-8")
