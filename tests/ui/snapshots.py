"""Snapshots of screens as text: the characters, then the styles of each row by theme role.

A file has one screen at one size: the dark theme and, at the larger size, the differences of the
light one. A row of styles is the background of most of its cells, and runs `STYLE:CELLS` from left to
right, where a style is `TEXT/BACKGROUND+ATTRIBUTES` without that background. `_` is blank. A colour is a
role of the theme, or a hex value if it is none of them.
"""

import asyncio
import difflib
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from rich.cells import cell_len
from rich.color import Color
from rich.style import Style
from textual._context import visible_screen_stack
from textual.app import App

from tui.settings.themes import load_theme
from tui.ui.widgets.theme_colors import theme_of

FOLDER = Path(__file__).parents[1] / "snapshots"
DARK, LIGHT = "harbor", "quay"
REWRITE_VARIABLE = "REWRITE_SNAPSHOTS"
REWRITE_COMMAND = f"{REWRITE_VARIABLE}=1 .venv/bin/pytest tests/ui/test_snapshots.py"

SETTLED_SECONDS = 0.6
"""Seconds for which a screen must be unchanged before it is written."""
MISMATCH_SECONDS = 2.0
"""Seconds after which a screen with an unchanged difference from its file fails the test."""
MOST_SECONDS = 20.0

_SHOWN_ON_BLANKS = ("underline", "strike", "reverse")
_ATTRIBUTES = ("bold", "italic", "dim", "blink", *_SHOWN_ON_BLANKS)
_STYLES = f"--- styles in {DARK}"
_LIGHT_ROWS = f"--- rows that differ in {LIGHT}"
_LIGHT_STYLES = f"--- styles that differ in {LIGHT}"


@dataclass(frozen=True, slots=True)
class Picture:
    """One screen in one theme: the characters of each row, and their styles."""

    rows: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([*self.rows, "--- styles", *_grouped(dict(enumerate(self.styles, 1)))])


def path_of(name: str, size: tuple[int, int]) -> Path:
    """Return the file of a screen."""
    return FOLDER / f"{name}-{size[0]}x{size[1]}.txt"


async def problem_of(app: App[object], name: str, size: tuple[int, int], theme: str) -> str:
    """Compare the screen with its file, or write the file. Return the differences, "" if there are none.

    The screen is read until it matches the file, since updates by timers may be pending.
    """
    path = path_of(name, size)
    known = read(path)
    rewriting = bool(os.environ.get(REWRITE_VARIABLE))
    began = since = time.monotonic()
    last = Picture()
    while True:
        await _painted(app)
        found, now = picture_of(app, theme), time.monotonic()
        if found != last:
            last, since = found, now
        if found == known.get(theme) and not rewriting:
            return ""
        if rewriting and now - since >= SETTLED_SECONDS:
            write(path, known | {theme: found})
            return ""
        if not rewriting and (now - since >= MISMATCH_SECONDS or now - began >= MOST_SECONDS):
            return _difference(known.get(theme), found, f"{path.relative_to(FOLDER.parents[1])} in {theme}")
        await asyncio.sleep(0.02)


def _difference(expected: Picture | None, found: Picture, name: str) -> str:
    if expected is None:
        return f"{name} is missing. The screen is:\n{found}"
    old, new = str(expected).splitlines(), str(found).splitlines()
    return "\n".join(difflib.unified_diff(old, new, name, "the screen now", lineterm="", n=1))


# ---- the screen ----


async def _painted(app: App[object]) -> None:
    """Wait until the pending messages are handled, and their changes are laid out and painted."""
    for _ in range(2):
        done = asyncio.Event()
        app.screen.call_after_refresh(done.set)
        await asyncio.wait_for(done.wait(), MOST_SECONDS)


def picture_of(app: App[object], theme: str) -> Picture:
    """Return the screen, including what is currently visible behind a dialog."""
    if behind := app._background_screens:
        visible_screen_stack.set(behind)
        app.screen._styles_cache.clear()
    strips = [
        [segment for segment in strip if not segment.control]
        for strip in app.screen._compositor.render_strips()
    ]
    rows = ("".join(segment.text for segment in strip).rstrip() for strip in strips)
    styles = (_row_styles([(text, style or Style()) for text, style, _ in strip], theme) for strip in strips)
    return Picture(tuple(rows), tuple(styles))


def _row_styles(segments: Sequence[tuple[str, Style]], theme: str) -> str:
    grounds: Counter[str] = Counter()
    for text, style in segments:
        grounds[_role(style.bgcolor, theme)] += cell_len(text)
    ground = grounds.most_common(1)[0][0]
    names = [
        name
        for text, style in segments
        for blank, letters in groupby(text, key=lambda letter: letter == " ")
        for name in [_name(style, theme, ground, blank)] * cell_len("".join(letters))
    ]
    return f"{ground}  " + " ".join(f"{name}:{cells}" for name, cells in _runs(names))


def _runs(names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield each style and the number of its cells. A blank between words of one style has that style."""
    runs = [(name, len(list(run))) for name, run in groupby(names)]
    for at in range(1, len(runs) - 1):
        if runs[at] == ("_", 1) and runs[at - 1][0] == runs[at + 1][0]:
            runs[at] = (runs[at - 1][0], 1)
    for name, group in groupby(runs, key=lambda run: run[0]):
        yield name, sum(cells for _, cells in group)


@cache
def _name(style: Style, theme: str, ground: str, blank: bool) -> str:
    shown = _SHOWN_ON_BLANKS if blank else _ATTRIBUTES
    attributes = "".join(f"+{name}" for name in shown if getattr(style, name))
    text = "_" if blank and not attributes else _role(style.color, theme)
    own_ground = _role(style.bgcolor, theme)
    return text + (f"/{own_ground}" if own_ground != ground else "") + attributes


@cache
def _role(colour: Color | None, theme: str) -> str:
    if colour is None or colour.is_default:
        return "default"
    value = colour.get_truecolor().hex
    spec = load_theme(theme)[0]
    roles = {**spec.colours(), "field": theme_of(spec).variables["field"]}
    return next((role for role, known in roles.items() if known == value), value)


# ---- the file ----


def read(path: Path) -> dict[str, Picture]:
    """Return the screen of a file, by theme; empty if there is no file."""
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8").rstrip("\n")
    dark, _, light = text.partition(f"\n{_LIGHT_ROWS}")
    rows, _, styles = dark.partition(f"\n{_STYLES}\n")
    found = {DARK: Picture(tuple(rows.split("\n")), tuple(_numbered(styles).values()))}
    if light:
        light_rows, _, light_styles = light.partition(f"\n{_LIGHT_STYLES}")
        found[LIGHT] = Picture(
            _changed(found[DARK].rows, _numbered(light_rows)),
            _changed(found[DARK].styles, _numbered(light_styles)),
        )
    return found


def write(path: Path, pictures: dict[str, Picture]) -> None:
    """Write a screen. The dark theme is required."""
    dark = pictures[DARK]
    lines = [*dark.rows, _STYLES, *_grouped(dict(enumerate(dark.styles, 1)))]
    if light := pictures.get(LIGHT):
        lines += [_LIGHT_ROWS, *_grouped(_changes(dark.rows, light.rows))]
        lines += [_LIGHT_STYLES, *_grouped(_changes(dark.styles, light.styles))]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _changes(dark: Sequence[str], light: Sequence[str]) -> dict[int, str]:
    pairs = zip(dark, light, strict=True)
    return {number: own for number, (other, own) in enumerate(pairs, 1) if own != other}


def _changed(dark: Sequence[str], changes: dict[int, str]) -> tuple[str, ...]:
    return tuple(changes.get(number, line) for number, line in enumerate(dark, 1))


def _grouped(lines: dict[int, str]) -> Iterator[str]:
    """Write consecutive equal lines once, after their numbers: `4-9|…`."""
    numbers = list(lines)
    while numbers:
        first = last = numbers.pop(0)
        while numbers and numbers[0] == last + 1 and lines[numbers[0]] == lines[first]:
            last = numbers.pop(0)
        yield f"{first}-{last}|{lines[first]}" if last > first else f"{first}|{lines[first]}"


def _numbered(text: str) -> dict[int, str]:
    """Parse the output of `_grouped`."""
    found = {}
    for line in text.strip("\n").split("\n"):
        numbers, bar, content = line.partition("|")
        if bar:
            first, _, last = numbers.partition("-")
            found |= dict.fromkeys(range(int(first), int(last or first) + 1), content)
    return found
