"""Every screen at two sizes, and at the larger in two themes, matches its file in `tests/snapshots`.

A tour opens the app, goes from screen to screen by keys, and compares each with its file. The one in the
light theme also resizes the terminal at each kind of screen, which survives it; the one in the dark theme
makes it wide at some. A few tours are also made in Chinese.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from textual.notifications import Notification
from textual.widgets import Input
from textual.widgets._toast import Toast

from tests.clocks import FrozenTime, freeze_time
from tests.ui import bench_stage, pseudo_locale
from tests.ui.snapshot_tour import SIZES, TOURS, Tour, Visit, opened
from tests.ui.snapshots import DARK, FOLDER, LIGHT, REWRITE_COMMAND, path_of, problem_of
from tests.ui.tours import chat, lists, questions, traffic, trust, workbench
from tests.ui.tours.addons import ADDONS
from tests.ui.tours.others import OTHERS
from tests.ui.tours.visited import VISITED
from tests.unit.catalogue import LOCALE
from tui.core.language import translate
from tui.locale.build_hook import build
from tui.locale.catalogs import use_language

PLACES = (chat, lists, questions, traffic, trust, workbench)
"""Importing them registers their tours."""

WITH_COLUMNS = (traffic.__name__, workbench.__name__)
"""Places that are laid out otherwise where there is more room, so longer texts need room there, too."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FrozenTime:
    frozen = freeze_time(monkeypatch, "tui.ui", "tui.core")
    monkeypatch.setattr(bench_stage, "time", frozen)
    return frozen


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Set the same terminal and folder everywhere, no blinking cursor, and toasts that stay."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("DISPLAY", ":0")
    for name in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)
    monkeypatch.setattr(Toast, "_expire", lambda self: None)
    monkeypatch.setattr(Notification, "has_expired", False)
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    (folder / "notes.txt").write_text("milk")
    monkeypatch.chdir(folder)


WIDE = (200, 60)
WIDE_SCREENS = frozenset(
    """
    bench-calls bench-overview bench-resource bench-traffic chat-approval chat-commands chat-conversation
    chat-trace entry-pair entry-tree help models palette question-definitions question-form server-add
    sessions traffic traffic-comparison traffic-waterfall
    """.split()
)
"""The screens that are also compared on a wide terminal."""

CHINESE = "zh_CN"
CHINESE_TOURS = [one for one in TOURS if one.walk in (chat.empty_chat, questions.questions, traffic.traffic)]
"""They wait for no text of the interface between two screens that are compared."""


@dataclass
class WideVisit(Visit):
    """A visit that also compares some screens on a wide terminal."""

    async def see(self, name: str, *texts: str) -> None:
        await super().see(name, *texts)
        if name in WIDE_SCREENS:
            await self.pilot.resize_terminal(*WIDE)
            await self.shows(*texts)
            if problem := await problem_of(self.app, name, WIDE, self.theme):
                self.problems.append(problem)
            await self.pilot.resize_terminal(*self.size)
            await self.pilot.pause()
            await self.shows(*texts)


@dataclass
class ChineseVisit(Visit):
    """A visit to screens in Chinese, which are compared with files of their own."""

    async def see(self, name: str, *texts: str) -> None:
        await super().see(in_chinese(name))  # the texts are English


def in_chinese(name: str) -> str:
    return f"{name}-{CHINESE}"


@pytest.fixture
def chinese() -> Iterator[None]:
    build(LOCALE)
    assert use_language(CHINESE) == ""
    try:
        yield
    finally:
        translate.use(None)


EXTREMES = ((4, 2), (7, 30), (2, 80), (1, 1), (0, 0), (300, 1))
"""One for each screen in turn: a screen takes about 0.1 s to lay out."""


@dataclass
class ResizedVisit(Visit):
    """A visit that also resizes the terminal, once at each kind of screen and of widget with the focus."""

    resized: set[tuple[type, type]] = field(default_factory=set)

    async def see(self, name: str, *texts: str) -> None:
        await super().see(name, *texts)
        kind = type(self.app.screen), type(self.app.focused)
        if kind in self.resized:
            return
        self.resized.add(kind)
        extreme = EXTREMES[len(self.seen) % len(EXTREMES)]
        await self.pilot.resize_terminal(*extreme)
        assert self.app.crash is None, f"{name} does not survive {extreme}"
        await self.pilot.resize_terminal(*self.size)
        await self.pilot.pause()
        await self.shows(*texts)


@pytest.mark.parametrize(
    ("size", "theme", "visit"),
    [(SIZES[0], DARK, Visit), (SIZES[1], DARK, WideVisit), (SIZES[1], LIGHT, ResizedVisit)],
    ids=["80x24-dark", "120x40-dark", "120x40-light-resized"],
)
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.walk.__name__)
async def test_every_screen_matches_its_snapshot(
    tour: Tour, size: tuple[int, int], theme: str, visit: type[Visit], clock: FrozenTime
) -> None:
    async with opened(tour.runtime(), size, theme, clock, visit) as found:
        await tour.walk(found)
    assert found.seen == list(tour.screens)
    _has_no_problems(found)


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize("tour", CHINESE_TOURS, ids=lambda tour: tour.walk.__name__)
async def test_screens_in_chinese_match_their_snapshots(
    tour: Tour, size: tuple[int, int], clock: FrozenTime
) -> None:
    async with opened(tour.runtime(), size, DARK, clock, ChineseVisit) as found:
        await tour.walk(found)
    assert found.seen == [in_chinese(name) for name in tour.screens]
    _has_no_problems(found)


def _has_no_problems(visit: Visit) -> None:
    if visit.problems:
        problems = "\n\n".join(visit.problems)
        pytest.fail(f"{problems}\n\nIf it should be so: {REWRITE_COMMAND}", pytrace=False)


@pytest.mark.parametrize(
    ("tour", "size"),
    [
        *((tour, SIZES[0]) for tour in (*TOURS, *OTHERS, *ADDONS)),
        *((tour, SIZES[1]) for tour in TOURS if tour.walk.__module__ in WITH_COLUMNS),
    ],
    ids=lambda value: value.walk.__name__ if isinstance(value, Tour) else f"{value[0]}x{value[1]}",
)
async def test_every_screen_has_room_for_longer_texts(
    tour: Tour, size: tuple[int, int], clock: FrozenTime
) -> None:
    with pseudo_locale.spoken():
        async with opened(tour.runtime(), size, DARK, clock, pseudo_locale.PseudoVisit) as found:
            await tour.walk(found)
    assert found.seen == list(tour.screens)
    if found.problems:
        pytest.fail("\n".join(found.problems), pytrace=False)


def test_every_snapshot_belongs_to_a_tour() -> None:
    names = [screen for tour in TOURS for screen in tour.screens]
    assert len(names) == len(set(names))
    chinese = [in_chinese(screen) for tour in CHINESE_TOURS for screen in tour.screens]
    files = {path_of(name, size) for name in names + chinese for size in SIZES}
    files |= {path_of(name, WIDE) for name in WIDE_SCREENS}
    assert files == set(FOLDER.iterdir()) - {FOLDER / "all-texts.txt"}


def test_the_list_of_visited_screens_has_names_of_tours() -> None:
    assert set(VISITED.values()) <= {screen for tour in (*TOURS, *OTHERS, *ADDONS) for screen in tour.screens}
