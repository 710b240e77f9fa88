"""A language whose texts are a third wider, in brackets and with wide characters: do screens fit?"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from gettext import NullTranslations

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.snapshot_tour import Visit
from tests.ui.snapshots import _painted
from tui.core.language import translate

CUT = frozenset(
    """
    bench-form bench-tools bench-traffic chat-commands confirm-call edit-request-wrong entry-copy
    palette servers-remote
    traffic-copy traffic-export-form traffic-export-which
    """.split()
)
"""Screens on which texts of this language are cut. No other may join them."""

EDGE = "▌"
"""The left edge of a dialog, which may be over a text."""

TAB = re.compile(r"\w{3}( +\d+)*\s*$")
"""A tab of the workbench, which shows the beginning of its name if not all tabs have room."""

MOST_ROWS = 5
"""Rows below on which a wrapped text may end."""

OPENS, CLOSES, WIDE = "⟦", "⟧", "字"
_ADDED = re.compile(f"[{OPENS}{CLOSES}{WIDE}]")


def pseudo(text: str) -> str:
    """Return a text of this language: each word is followed by wide characters, a third of its width."""
    words = re.sub(
        r"(?<![{\w])[^\W\d_]{3,}(?![}\w])", lambda word: word[0] + WIDE * (len(word[0]) // 6), text
    )
    missing = max(0, (len(text) // 3 - 2) // 2 - words.count(WIDE))  # the brackets take two cells
    return f"{OPENS}{words}{WIDE * missing}{CLOSES}"


class PseudoLocale(NullTranslations):
    """Translates any text."""

    def gettext(self, message: str) -> str:
        return message if OPENS in message or not message else pseudo(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)

    def pgettext(self, context: str, message: str) -> str:
        return self.gettext(message)


@contextmanager
def spoken() -> Iterator[None]:
    translate.use(PseudoLocale())
    try:
        yield
    finally:
        translate.use(None)


@dataclass
class PseudoVisit(Visit):
    """A visit that looks for texts which are cut, instead of comparing the screens with their files."""

    async def shows(self, *texts: str) -> None:
        def shown() -> bool:
            text = re.sub(r"\s+", " ", _ADDED.sub("", screen_text(self.app)))
            return all(re.sub(r"\s+", " ", part) in text for part in texts)

        await until(shown, 5)

    async def see(self, name: str, *texts: str) -> None:
        self.seen.append(name)
        await self.shows(*texts)
        await _painted(self.app)
        if (cut := [*cut_texts(screen_text(self.app))]) and name not in CUT:
            self.problems.append(f"{name}: {cut}")


def cut_texts(screen: str) -> Iterator[str]:
    """Yield the texts on a screen that do not end, although the next text on the same row begins, or the row.

    A text that continues on the next rows, and one that is partly behind a dialog, is not cut.
    """
    whole = re.compile(f"{OPENS}[^{OPENS}{CLOSES}\n]*{CLOSES}")
    while (rest := whole.sub("", screen)) != screen:  # texts within texts
        screen = rest
    rows = screen.split("\n")
    for index, row in enumerate(rows):
        after = "".join(rows[index + 1 : index + 1 + MOST_ROWS])
        texts = row.split(OPENS)[1:]
        nested = after.count(CLOSES) >= len(texts)  # a text within a text that goes on with it
        for part in texts:
            goes_on = CLOSES in after or EDGE in after
            reaches_end = row.endswith(part) or "│" in part or nested
            if (
                EDGE not in part
                and not TAB.match(part)
                and not (goes_on and reaches_end and not part.rstrip(" │").endswith("…"))
            ):
                yield part.strip()
