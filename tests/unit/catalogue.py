"""`python -m tests.unit.catalogue` brings the .po files up to date with the texts of the program.

It adds texts as empty entries to the file of their part, keeps translations, marks texts that are gone as
obsolete, and builds the .mo files. Entries are sorted and have no line numbers, so that branches rarely
conflict. After a merge, run it again: of an entry that is in two files, one stays.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polib

from tests import sources
from tests.sources import ROOT, Nodes
from tui.core.errors import JOINTS
from tui.core.language.error_reasons import all_reasons
from tui.core.servers import ServerState, StopReason
from tui.core.traffic import CHANGE_WORDS, KIND_WORDS, OUTCOME_WORDS
from tui.locale import build_hook
from tui.ui.keys.action_table import ACTIONS, EVERY
from tui.ui.keys.slash_commands import OWN

LOCALE = ROOT / "tui" / "locale"

PARTS = (
    ("tui/ui/keys/", "keys"),
    ("tui/ui/chat/", "chat"),
    ("tui/ui/app/", "chat"),
    *(
        (f"tui/{folder}/", "traffic")
        for folder in ("ui/traffic", "traffic", "storage/exports", "addons/faults")
    ),
    ("tui/ui/workbench/", "workbench"),
    *((f"tui/ui/{folder}/", "dialogs") for folder in ("dialogs", "lists", "questions", "permission")),
    ("tui/ui/", "widgets"),
    ("tui/addons/", "addons"),
    *((f"tui/core/{part}", "dialogs") for part in ("permission/", "forms/", "hidden_text/", "questions")),
    ("tui/runtime/permission/", "dialogs"),
    ("tui/core/error", "host"),
    *((f"tui/{folder}/", "host") for folder in ("host", "settings", "storage", "runtime")),
    ("tui/model/", "model"),
    ("tui/", "core"),
)
"""The file of each module: that of the first folder that it is in."""

ORDER = ("keys", "core", "host", "model", "widgets", "dialogs", "chat", "traffic", "workbench", "addons")
"""A text of several parts is in the first of these files."""

_ARGUMENTS = {
    "_": ("text",),
    "N_": ("text",),
    "message": ("text",),
    "n_": ("text", "plural"),
    "n_message": ("text", "plural"),
    "c_": ("context", "text"),
    "c_message": ("context", "text"),
}
"""What the first arguments of each function are."""


class Text(NamedTuple):
    """A text to translate."""

    text: str
    plural: str = ""
    context: str = ""

    @classmethod
    def of(cls, entry: polib.POEntry) -> "Text":
        return cls(entry.msgid, entry.msgid_plural, entry.msgctxt or "")


def texts(nodes: Nodes) -> Iterator[Text]:
    """Yield the texts of a module that are marked for translation."""
    for call, arguments in marked(nodes):
        values = [one.value if isinstance(one, ast.Constant) else None for one in arguments]
        if None not in values:
            yield Text(**dict(zip(_ARGUMENTS[call], values, strict=True)))


def marked(nodes: Nodes) -> Iterator[tuple[str, list[ast.expr]]]:
    """Yield the name and the first arguments of each call of a function that marks a text."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ARGUMENTS:
            yield node.func.id, node.args[: len(_ARGUMENTS[node.func.id])]


def part_of(path: str) -> str:
    """Return the name of the .po file with the texts of a module."""
    return next(name for folder, name in PARTS if path.startswith(folder))


def all_texts() -> dict[Text, str]:
    """Return the texts of the program, each with its .po file."""
    found: dict[Text, str] = {}
    for path, nodes in sources.modules().items():
        part = part_of(path)
        for text in texts(nodes):
            found[text] = min(found.get(text, part), part, key=ORDER.index)
    return found | {Text(text): part for part, texts in of_tables().items() for text in texts if text}


def of_tables() -> dict[str, list[str]]:
    """Return the texts of tables and enumerations that are texts without a mark, by .po file."""
    return {
        "core": [*ServerState, *StopReason],
        "host": [*JOINTS, *all_reasons()],
        "traffic": [*OUTCOME_WORDS.values(), *CHANGE_WORDS, *KIND_WORDS.values()],
        "keys": [
            *EVERY,
            *(text for one in ACTIONS for text in (one.label, one.help)),
            *(text for one in OWN for text in (one.usage, one.help)),
        ],
    }


def entries(folder: Path) -> Iterator[tuple[str, polib.POEntry]]:
    """Yield the entries of a language, each with the name of its file."""
    for path in sorted(folder.glob("*.po")):
        for entry in polib.pofile(str(path), encoding="utf-8"):
            yield path.stem, entry


def update(folder: Path, wanted: dict[Text, str]) -> None:
    """Bring the .po files of a language up to date."""
    translated: dict[Text, polib.POEntry] = {}
    for _, entry in entries(folder):
        known = translated.get(Text.of(entry))
        if known is None or (entry.translated() and not known.translated()):
            translated[Text.of(entry)] = entry
    for part in ORDER:
        path = folder / f"{part}.po"
        file = polib.pofile(str(path), wrapwidth=0) if path.exists() else _new(folder.name)
        gone = [
            translated[Text.of(one)] for one in file if Text.of(one) not in wanted and _has_translation(one)
        ]
        file[:] = []
        for text in sorted((text for text in wanted if wanted[text] == part), key=_order):
            entry = translated.get(text) or polib.POEntry(
                msgid=text.text,
                msgid_plural=text.plural,
                msgctxt=text.context or None,
                msgstr_plural={0: ""} if text.plural else {},
            )
            entry.obsolete = False
            entry.flags = ["python-brace-format"] if "{" in text.text + text.plural else []
            file.append(entry)
        for entry in sorted(gone, key=lambda one: _order(Text.of(one))):
            entry.obsolete = True
            file.append(entry)
        file.save(str(path))


def _has_translation(entry: polib.POEntry) -> bool:
    return bool(entry.msgstr or any(entry.msgstr_plural.values()))


def _order(text: Text) -> tuple[str, Text]:
    return text.text.casefold(), text


def _new(language: str) -> polib.POFile:
    file = polib.POFile(wrapwidth=0)
    file.metadata = {
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": "nplurals=1; plural=0;",
    }
    return file


def main() -> None:
    """Bring the files of all languages up to date, and build the catalogs."""
    wanted = all_texts()
    for folder in sorted(path.parent for path in LOCALE.glob("*/keys.po")):
        update(folder, wanted)
    build_hook.build(LOCALE)


if __name__ == "__main__":
    main()
