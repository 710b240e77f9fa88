"""Writes docs/keys.md and its translations from the table of actions; a test keeps them in sync."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

from tests.sources import ROOT
from tests.unit.keys_page_texts import ENGLISH, PAGES, PageTexts
from tui.core.language.translate import _, use
from tui.locale import build_hook
from tui.ui.keys.action_table import Action, Context, of_context
from tui.ui.keys.bindings import key_words
from tui.ui.keys.slash_commands import ELSEWHERE, OWN


def page_of(texts: PageTexts) -> Path:
    """Return the file of a page."""
    return ROOT / "docs" / texts.folder / "keys.md"


def keys_page(texts: PageTexts = ENGLISH) -> str:
    """Return the page in a language: one table per context."""
    with _language(texts.language):
        sections = [
            _table(
                f"\n## {_(context.value)}\n",
                texts.columns,
                ((_keys_of(found, texts), _(found.help), f"`{found.id}`") for found in of_context(context)),
            )
            for context in Context
            if of_context(context)
        ]
        written = [(f"/{spec.name} {spec.usage}".strip(), spec.help) for spec in OWN]
        commands = [
            (f"`{what.replace('|', chr(92) + '|')}`", _(words)) for what, words in (*written, *ELSEWHERE)
        ]
    return "".join(
        (texts.head, *sections, _table(texts.commands, texts.command_columns, commands), texts.panes)
    )


@contextmanager
def _language(language: str) -> Iterator[None]:
    """Translate with the `.po` files, whether they are built or not."""
    sources = sorted((ROOT / build_hook.FOLDER / language).glob("*.po"))
    use(GNUTranslations(BytesIO(build_hook.merged(sources).to_binary())) if language else None)
    try:
        yield
    finally:
        use(None)


def _table(head: str, columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = (columns, ["---"] * len(columns), *lines)
    return "\n".join((head, *(f"| {' | '.join(row)} |" for row in rows))) + "\n"


def _keys_of(found: Action, texts: PageTexts) -> str:
    return _code(found.keys) + (f"{texts.anywhere}{_code(found.anywhere)}" if found.anywhere else "")


def _code(keys: str) -> str:
    return " ".join(f"`{key_words(key)}`" for key in keys.split(","))


if __name__ == "__main__":
    for texts in PAGES:
        page_of(texts).write_text(keys_page(texts), encoding="utf-8")
