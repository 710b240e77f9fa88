"""Themes: a color for each of twelve roles, read from small TOML files and validated.

Knows nothing of Textual; the screens convert a `ThemeSpec`. A theme that cannot be used is one `Problem`,
never an exception. Imports nothing heavy: the first frame loads its theme with this module.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tui.core.errors import as_sentences, composed, reason_of
from tui.core.language.translate import N_, message
from tui.core.text import clean_line, quoted_name
from tui.settings.files import Unreadable, read_bounded
from tui.settings.locations import shipped_dir
from tui.settings.problems import Problem, did_you_mean

DEFAULT_THEME = "harbor"
MAX_THEME_BYTES = 64 * 1024
MIN_TEXT_CONTRAST = 4.5
"""Text with less contrast to its background is hard to read (WCAG 2.2, 1.4.3, level AA)."""

_OTHER_KEYS = ("dark", "syntax", "about")

_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", re.ASCII)
_BASIC = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
ANSI_COLOURS = frozenset(
    ["ansi_default", *(f"ansi_{name}" for name in _BASIC), *(f"ansi_bright_{name}" for name in _BASIC)]
)
"""The terminal's own colors, by Textual's names."""


@dataclass(frozen=True, slots=True)
class ThemeSpec:
    """A checked theme. Every role is "#rrggbb" in lower case, or every role is in `ANSI_COLOURS`.

    `accent` is the one warm color: focus and emphasis. `dim` is secondary text, `rule` the lines between
    regions, `surface` and `panel` are backgrounds. `ok`: done or running. `warn`: close to a limit, or
    waiting for the user. `bad`: failed. `user` is for the user's name and messages, `model` for the model's
    name, `tool` for tools and servers. `syntax` is a Pygments style, `about` a line for the theme picker;
    both may be "".
    """

    name: str
    dark: bool
    accent: str
    text: str
    dim: str
    rule: str
    surface: str
    panel: str
    ok: str
    warn: str
    bad: str
    user: str
    model: str
    tool: str
    syntax: str = ""
    about: str = ""

    @property
    def ansi(self) -> bool:
        """Whether it uses the terminal's own colors."""
        return self.surface in ANSI_COLOURS

    def colours(self) -> dict[str, str]:
        """Return the color of each role, in the order of `ROLES`."""
        return {role: getattr(self, role) for role in ROLES}


ROLES = tuple(field.name for field in fields(ThemeSpec) if field.name not in ("name", *_OTHER_KEYS))


def parse_colour(text: object) -> str | None:
    """Return `text` as "#rrggbb" or as one of `ANSI_COLOURS`, or None if it is not a color."""
    if not isinstance(text, str):
        return None
    colour = text.strip().lower()
    if colour in ANSI_COLOURS:
        return colour
    if not _HEX.fullmatch(colour):
        return None
    return colour if len(colour) == 7 else "#" + "".join(digit * 2 for digit in colour[1:])


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two "#rrggbb" colors, 1 to 21, as WCAG 2.2 defines it."""

    def luminance(colour: str) -> float:
        linear = []
        for start in (1, 3, 5):
            part = int(colour[start : start + 2], 16) / 255
            linear.append(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _complaints(table: Mapping[str, Any]) -> Iterator[str]:
    known = (*ROLES, *_OTHER_KEYS)
    for key in table:
        if key not in known:
            hint = did_you_mean(key, known)
            said = message("`{name}` is not a role", name=clean_line(key, 40))
            yield composed("{text}, {next_step}", text=said, next_step=hint) if hint else said
    for role in ROLES:
        if role not in table:
            yield message("`{name}` is missing", name=role)
        elif parse_colour(table[role]) is None:
            odd = N_("`{name}`: {value} is not a color (#rgb, #rrggbb, or an ANSI name like ansi_red)")
            yield message(odd, name=role, value=quoted_name(str(table[role]), 40))
    if not isinstance(table.get("dark"), bool):
        yield message("`dark` must be true or false")
    for key in ("syntax", "about"):
        if not isinstance(table.get(key, ""), str):
            yield message("`{name}` must be a string", name=key)


def theme_from(table: Mapping[str, Any], name: str) -> tuple[ThemeSpec | None, str]:
    """Return the theme, None if it is unusable, and its problems as sentences, or "".

    A usable theme that is hard to read also has a problem.
    """
    if complaints := list(_complaints(table)):
        more = [message("{n} more", n=len(complaints) - 5)] if len(complaints) > 5 else []
        return None, as_sentences([*complaints[:5], *more])
    colours = {role: parse_colour(table[role]) or "" for role in ROLES}
    if len({colour in ANSI_COLOURS for colour in colours.values()}) > 1:
        return None, message("use ANSI names for all colors, or for none")
    spec = ThemeSpec(
        name=name,
        dark=table["dark"],
        syntax=clean_line(table.get("syntax", ""), 40),
        about=clean_line(table.get("about", ""), 80),
        **colours,
    )
    if not spec.ansi:
        worst = min(contrast(spec.text, spec.surface), contrast(spec.text, spec.panel))
        if worst < MIN_TEXT_CONTRAST:
            low = N_("low contrast: text has {contrast:.1f}:1, less than {limit}:1")
            return spec, message(low, contrast=worst, limit=MIN_TEXT_CONTRAST)
    return spec, ""


def _read(path: Path) -> tuple[ThemeSpec | None, Problem | None]:
    import tomllib

    name = path.stem
    try:
        if not _NAME.fullmatch(name):
            raise Unreadable(message("a theme name can have up to 40 letters, digits, - and _"))
        spec, wrong = theme_from(tomllib.loads(read_bounded(path, MAX_THEME_BYTES)), name)
    except (OSError, Unreadable, ValueError, RecursionError) as error:
        spec, wrong = None, reason_of(error)
    if not wrong:
        return spec, None
    said = wrong if spec else message("theme ignored: {problem}", problem=wrong)
    return spec, Problem(said, file=clean_line(str(path)), warning=spec is not None)


def load_theme(
    name: str, user_dir: Path | None = None, named_by: str = "ui.theme"
) -> tuple[ThemeSpec, Problem | None]:
    """Load a theme by name: the user's own, a shipped one, or the default, in this order.

    `named_by` is the key or option that contains the name; the problem of a missing theme refers to it.
    Raises `FileNotFoundError` if the installation has no themes at all.
    """
    shipped = shipped_dir("themes")
    problem: Problem | None = None
    if _NAME.fullmatch(name):
        for folder in (user_dir, shipped):
            if folder is None or not os.path.lexists(path := folder / f"{name}.toml"):
                continue
            spec, found = _read(path)
            problem = problem or found
            if spec is not None:
                return spec, problem
    if problem is None:
        names = sorted(path.stem for folder in (shipped, user_dir) if folder for path in _files(folder))
        shown = quoted_name(name, 40)
        hint = did_you_mean(name, names) or message("available: {names}", names=", ".join(names))
        problem = Problem(message("theme {name} not found", name=shown), tuple(named_by.split(".")), hint)
    default, _ = _read(shipped / f"{DEFAULT_THEME}.toml")
    if default is None:
        raise FileNotFoundError(f"{shipped}: the default theme is damaged. Reinstall mcptui")
    return default, problem


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.glob("*.toml"))
    except OSError:  # the folder above it may not be entered
        return []


def all_themes(user_dir: Path | None = None) -> tuple[tuple[ThemeSpec, ...], tuple[Problem, ...]]:
    """Load all usable themes, the default first, and the problems of the others.

    A user's theme replaces a shipped one of the same name.
    """
    found: dict[str, ThemeSpec] = {}
    problems: list[Problem] = []
    for folder in (shipped_dir("themes"), user_dir):
        for path in _files(folder) if folder else ():
            spec, problem = _read(path)
            if spec is not None:
                found[spec.name] = spec
            if problem is not None:
                problems.append(problem)
    ordered = sorted(found.values(), key=lambda spec: (spec.name != DEFAULT_THEME, spec.name))
    return tuple(ordered), tuple(problems)
