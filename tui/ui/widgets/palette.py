"""Palette: the meaning of style words in the current theme.

Panes have rows with style words ("accent bold", "dim", "text on panel"); the palette converts them to rich
styles. It is built from the CSS variables of the app's theme, so stylesheets and rows share one theme.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.color import Color as RichColor
from rich.style import Style
from textual.color import Color, ColorParseError

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
            colors["selected"] = ground.blend(colors["accent"], 0.35, alpha=1.0)
        is_true = not native and all(color.ansi is None for color in colors.values())
        return cls(colors, native, _is_true=is_true)

    def style(self, words: str) -> Style:
        """Return the rich style of `words`: a role, attributes, and `on` with a role for the background.

        `cursor` (the row that keys act on) and `selected` are special backgrounds. `#rrggbb` or `#rrggbb on
        #rrggbb` are the colors of a picture's cell. Unknown words are ignored, so a row can never break a
        screen.
        """
        if _COLOURS.fullmatch(words):
            return _colours(words)  # not cached, because a picture has thousands
        found = self._styles.get(words)
        if found is None:
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
        found = known.get(words)
        if found is None:
            found = under + self.style(words)
            if not _COLOURS.fullmatch(words):  # not cached, because a picture has thousands
                known[words] = found
        return found

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
            if word == "on":
                ground = True
                continue
            if word in _ATTRIBUTES:
                style += Style.parse(word)
            elif word in ("cursor", "selected"):
                style += self._ground(word)
            elif word in self.colors:
                style += self._ground(word) if ground else self._text(word)
            ground = False
        return style

    def _text(self, role: str) -> Style:
        if self.native and role in ("dim", "rule") and self.colors[role].ansi in (None, -1):
            return Style(dim=True)
        return Style(color=self.colors[role].rich_color)

    def _ground(self, role: str) -> Style:
        color = self.colors.get(role)
        if color is None:
            return Style(reverse=True)
        if self.native and color.a == 0:
            return Style()
        return Style(bgcolor=color.rich_color)


def _colours(words: str) -> Style:
    above, below = words[1:7], words[-6:] if len(words) > 7 else ""
    return Style.from_color(_colour(above), _colour(below) if below else None)


def _colour(digits: str) -> RichColor:
    red, green, blue = bytes.fromhex(digits)
    return RichColor.from_rgb(red, green, blue)


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
