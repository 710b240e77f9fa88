"""The colors of a theme: as a Textual `Theme` with CSS variables, and as a palette for rows.

The palette converts style words ("accent bold", "text on panel") to rich styles. It is built from the CSS
variables of the app's theme, so stylesheets and rows share one theme.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.strip import Strip
from textual.theme import BUILTIN_THEMES, Theme

from tui.core.text import clean
from tui.settings.themes import ThemeSpec
from tui.ui.platform.textual_internals import row_of
from tui.ui.widgets.rows import Row

# Textual's base colors -> their role. Also set as variables, because Textual rounds the colors (measured: by
# one step of red), and the seam between two backgrounds that differ by a step is visible.
_BASE_VARIABLES: Mapping[str, str] = {
    "primary": "accent",
    "secondary": "tool",
    "warning": "warn",
    "error": "bad",
    "success": "ok",
    "accent": "accent",
    "foreground": "text",
    "background": "surface",
    "surface": "surface",
    "panel": "panel",
    "boost": "panel",
}

# Variables of Textual's own widgets -> (role, opacity in percent).
_WIDGET_VARIABLES: Mapping[str, tuple[str, int]] = {
    "border": ("accent", 100),
    "border-blurred": ("rule", 100),
    "block-cursor-foreground": ("surface", 100),
    "block-cursor-background": ("accent", 100),
    "block-cursor-blurred-foreground": ("text", 100),
    "block-cursor-blurred-background": ("accent", 14),
    "input-cursor-foreground": ("surface", 100),
    "input-cursor-background": ("accent", 100),
    "input-selection-foreground": ("surface", 100),
    "input-selection-background": ("text", 100),
    "screen-selection-foreground": ("text", 100),
    "screen-selection-background": ("accent", 25),
    "scrollbar": ("rule", 100),
    "scrollbar-hover": ("dim", 100),
    "scrollbar-active": ("accent", 100),
    "scrollbar-background": ("surface", 100),
    "scrollbar-background-hover": ("surface", 100),
    "scrollbar-background-active": ("surface", 100),
    "scrollbar-corner-color": ("surface", 100),
    "link-color": ("accent", 100),
    "text-muted": ("dim", 100),
    "text-disabled": ("dim", 100),
    "foreground-muted": ("dim", 100),
    "text-accent": ("accent", 100),
}

FIELD_SHADE = 0.08
"""How far an input's background is blended from the panel's color towards the text color."""

DEFAULTS: Mapping[str, str] = {
    "field": "#233338",
    "text-dim": "#8fa6a8",
    "rule": "#274049",
    "ok": "#7fc8a9",
    "warn": "#e8c46b",
    "bad": "#ec8069",
    "user": "#8ec5d6",
    "model": "#bbd9cd",
    "tool": "#a3b8e6",
}
"""Defaults of our CSS variables, for stylesheets while one of Textual's own themes is active."""


def theme_of(spec: ThemeSpec) -> Theme:
    """Return the Textual theme of a spec; raises `ValueError` for a color unknown to Textual."""
    roles = spec.colours()
    for role, colour in roles.items():
        try:
            Color.parse(colour)
        except ColorParseError as error:
            raise ValueError(f"{role}: {colour!r} is not a color") from error
    base: dict[str, Any] = {name: roles[role] for name, role in _BASE_VARIABLES.items()}
    variables = {role: roles[role] for role in ("rule", "ok", "warn", "bad", "user", "model", "tool")}
    variables["text-dim"] = roles["dim"]
    if spec.ansi:
        variables |= _ansi_variables(roles, spec.dark)
    else:
        panel, text = Color.parse(roles["panel"]), Color.parse(roles["text"])
        variables |= {**base, "field": panel.blend(text, FIELD_SHADE).hex6.lower()}
        for name, (role, percent) in _WIDGET_VARIABLES.items():
            variables[name] = roles[role] if percent == 100 else f"{roles[role]} {percent}%"
    return Theme(name=spec.name, **base, dark=spec.dark, variables=variables, ansi=spec.ansi)


def _ansi_variables(roles: Mapping[str, str], dark: bool) -> dict[str, str]:
    """Return variables that Textual's stylesheets use but its ANSI themes lack, and our own.

    The terminal's colors cannot be blended or dimmed, so emphasis uses a color instead.
    """
    stock = BUILTIN_THEMES["ansi-dark" if dark else "ansi-light"]
    known = stock.to_color_system().generate()
    usual = BUILTIN_THEMES["textual-dark"].to_color_system().generate()
    missing = {name: "ansi_default" for name in usual if name not in known}
    emphasized = ("text-accent", "border", "block-cursor-background", "scrollbar-hover", "scrollbar-active")
    ground = ("scrollbar-background", "scrollbar-background-hover", "scrollbar-background-active")
    return {
        **missing,
        **stock.variables,
        "field": roles["panel"],
        "block-cursor-foreground": "ansi_black",
        **dict.fromkeys(("foreground-muted", "text-muted"), roles["dim"]),
        **dict.fromkeys(("border-blurred", "scrollbar"), roles["rule"]),
        **dict.fromkeys(emphasized, roles["accent"]),
        **dict.fromkeys(ground, "ansi_default"),
    }


# role: (its CSS variable, fallbacks for themes without it)
ROLES: Mapping[str, tuple[str, ...]] = {
    "accent": ("accent", "primary"),
    "text": ("foreground",),
    "dim": ("text-dim", "foreground-muted"),
    "rule": ("rule", "panel-lighten-1", "panel"),
    "surface": ("surface",),
    "panel": ("panel",),
    "field": ("field", "panel"),
    "ok": ("ok", "success"),
    "warn": ("warn", "warning"),
    "bad": ("bad", "error"),
    "user": ("user", "accent"),
    "model": ("model", "primary"),
    "tool": ("tool", "secondary"),
}
_COLOURS = re.compile("#[0-9a-f]{6}(?: on #[0-9a-f]{6})?")
_ATTRIBUTES = frozenset({"bold", "italic", "underline", "strike", "reverse"})


@dataclass(frozen=True, slots=True)
class Palette:
    """The colors of a theme by role, and styles with these colors.

    A `native` theme uses the 16 colors of the terminal, which cannot be blended.
    """

    colors: Mapping[str, Color]
    native: bool = False
    _styles: dict[str, Style] = field(default_factory=dict, repr=False, compare=False)
    _over: dict[Style, dict[str, Style]] = field(default_factory=dict, repr=False, compare=False)
    _is_true: bool = field(default=False, repr=False, compare=False)

    @classmethod
    def of(cls, variables: Mapping[str, str], native: bool = False) -> "Palette":
        """Build the palette from the CSS variables of a theme; missing or invalid ones are replaced."""
        ground = _color(variables, ("surface", "background")) or Color.parse("black")
        plain = _color(variables, ("foreground",)) or ground.get_contrast_text(0.9)
        colors = {role: _color(variables, names) or plain for role, names in ROLES.items()}
        if not native:
            colors = {
                role: color if role in ("surface", "panel", "field") else ground + color
                for role, color in colors.items()
            }
            colors["cursor"] = ground.blend(colors["accent"], 0.16, alpha=1.0)
            colors["selected"] = ground.blend(colors["accent"], 0.3, alpha=1.0)
        is_true = not native and all(color.ansi is None for color in colors.values())
        return cls(colors, native, _is_true=is_true)

    def style(self, words: str) -> Style:
        """Return the rich style of `words`: a role, attributes, and `on` with a role for the background.

        `cursor` (the row that keys act on) and `selected` are special backgrounds. `#rrggbb` or `#rrggbb on
        #rrggbb` are the colors of a picture's cell. Unknown words are ignored, so a row can never break a
        screen.
        """
        if _COLOURS.fullmatch(words):
            rgb = (RichColor.from_rgb(*bytes.fromhex(word[1:])) for word in words.split(" on "))
            return Style.from_color(*rgb)  # not cached, because a picture has thousands
        if (found := self._styles.get(words)) is None:
            found = self._styles[words] = self._build(words)
        return found

    def known(self, under: Style) -> dict[str, Style]:
        """Return the cached styles by words for a background that was passed to `over` before."""
        return self._over.setdefault(under, {})

    def over(self, under: Style, words: str) -> Style:
        """Return the style of `words` on the background `under`.

        On a reversed background, colors are ignored: they would be reversed, too, and make the row patchy.
        """
        if under.reverse:
            return under
        known = self.known(under)
        if (found := known.get(words)) is None:
            found = under + self.style(words)
            if not _COLOURS.fullmatch(words):  # not cached, because a picture has thousands
                known[words] = found
        return found

    def painted(self, row: Row, width: int, under: Style) -> Strip:
        """Return a row in these colors on the background `under`."""
        known = self.known(under)
        segments = []
        for text, words in row:
            if not text.isprintable():  # rows are already clean; this is the last filter
                text = clean(text).replace("\n", "⏎").replace("\t", " ")
            if text:
                segments.append(Segment(text, known.get(words) or self.over(under, words)))
        return row_of(segments, width, under)

    def is_true(self, under: Style) -> bool:
        """Return whether all styles on this background have known colors, and none is dim."""
        return (
            self._is_true
            and not under.dim
            and all(color is None or color.triplet for color in (under.color, under.bgcolor))
        )

    def _build(self, words: str) -> Style:
        style = Style()
        ground = False
        for word in words.split():
            color = self.colors.get(word)
            if word in _ATTRIBUTES:
                style += Style.parse(word)
            elif word in ("cursor", "selected") and color is None:
                style += Style(reverse=True)
            elif color is not None and (ground or word in ("cursor", "selected")):
                style += Style() if self.native and color.a == 0 else Style(bgcolor=color.rich_color)
            elif color is not None:
                is_dim = self.native and word in ("dim", "rule") and color.ansi in (None, -1)
                style += Style(dim=True) if is_dim else Style(color=color.rich_color)
            ground = word == "on"
        return style


def _color(variables: Mapping[str, str], names: tuple[str, ...]) -> Color | None:
    for name in names:
        value = variables.get(name, "")
        if not value or value.startswith("auto"):
            continue
        plain, _, percent = value.partition(" ")
        try:
            color = Color.parse(plain)
            return color.multiply_alpha(float(percent.rstrip("%")) / 100) if percent else color
        except (ColorParseError, ValueError):
            continue
    return None
