"""A language whose texts are a third wider, in brackets and with wide characters: do screens fit?"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from gettext import NullTranslations

from textual.screen import Screen
from textual.widget import Widget

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.snapshot_tour import Visit
from tests.ui.snapshots import _painted
from tests.ui.tours.visited import VISITED
from tui.core.language import translate
from tui.ui.workbench.bars import BRIEF, BenchTabs

OPENS, CLOSES, WIDE = "⟦", "⟧", "字"
_ADDED = re.compile(f"[{OPENS}{CLOSES}{WIDE}]")
_SIGNS = re.compile(f"[{OPENS}{CLOSES}]|…(?= *[^{CLOSES}\\w]?$|  )", re.MULTILINE)


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

        try:
            await until(shown, 5)
        except AssertionError:
            raise AssertionError(f"not in time: {texts} in\n{screen_text(self.app)}") from None

    async def see(self, name: str, *texts: str) -> None:
        self.seen.append(name)
        await self.shows(*texts)
        await _painted(self.app)
        for widget, text, above, below in _texts(self.app.screen):
            if cut := [*cut_texts(text, above=above, below=below)]:
                self.problems.append(f"{name}: {type(widget).__name__}: {cut}")
        screen = self.app.screen
        there = {type(one).__name__ for one in (screen, *screen._compositor.visible_widgets)}
        missing = {kind for kind, at in VISITED.items() if at == name} - there
        self.problems += [f"{name}: no {kind}" for kind in missing]


def _texts(screen: Screen[object]) -> Iterator[tuple[Widget, str, bool, bool]]:
    """Yield each visible widget and its text as if nothing was over it, and if it goes on above or below."""
    for widget, (region, clip) in screen._compositor.visible_widgets.items():
        is_short = isinstance(widget, BenchTabs) and widget._level == BRIEF  # eight names do not fit
        if widget is not screen and not is_short and (seen := region.intersection(clip)):
            lines = widget.render_lines(seen.translate(-region.offset))
            text = "\n".join("".join([part.text for part in line if not part.control]) for line in lines)
            scrolls = any(one.max_scroll_y for one in widget.ancestors if isinstance(one, Widget))
            above = (scrolls and seen.y > region.y) or widget.scroll_y > 0
            below = (scrolls and seen.bottom < region.bottom) or widget.scroll_y < widget.max_scroll_y
            yield widget, text, above, below


def cut_texts(screen: str, *, above: bool = False, below: bool = False) -> Iterator[str]:
    """Yield the texts that do not end, or do not begin, or end with an ellipsis that is not theirs.

    `above`, `below`: there is more than what is visible, so a text may begin or end there.
    """
    begun: list[int] = []
    shortened: set[int] = set()
    for sign in _SIGNS.finditer(screen):
        if sign[0] == OPENS:
            begun.append(sign.end())
        elif sign[0] == CLOSES and begun:
            if (start := begun.pop()) in shortened:
                yield screen[start : sign.start()]
        elif sign[0] == CLOSES and not above:
            yield screen[: sign.start()].rpartition("\n")[2].strip()
        elif begun:
            shortened.add(begun[-1])
    for start in begun:
        if not below or start in shortened or OPENS in screen[start:]:
            yield screen[start:].partition("\n")[0].strip()
