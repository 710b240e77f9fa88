"""Converts the roles of a theme to a Textual `Theme`, with the roles as CSS variables.

Stylesheets use `$accent $foreground $text-dim $rule $surface $panel $field $ok $warn $bad $user $model
$tool`; rows use the same words with the palette. An invalid color would crash the app inside Textual, so each
one is parsed first.
"""

from collections.abc import Mapping
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

from tui.settings.themes import ThemeSpec

# Our CSS variable -> its role.
_ROLE_VARIABLES: Mapping[str, str] = {
    "text-dim": "dim",
    **{role: role for role in ("rule", "ok", "warn", "bad", "user", "model", "tool")},
}

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
    "block-cursor-blurred-background": ("accent", 25),
    "input-cursor-foreground": ("surface", 100),
    "input-cursor-background": ("accent", 100),
    "input-selection-background": ("accent", 30),
    "screen-selection-background": ("accent", 30),
    "scrollbar": ("rule", 100),
    "scrollbar-hover": ("dim", 100),
    "scrollbar-active": ("accent", 100),
    "scrollbar-background": ("surface", 100),
    "scrollbar-background-hover": ("surface", 100),
    "scrollbar-background-active": ("surface", 100),
    "scrollbar-corner-color": ("surface", 100),
    "link-color": ("accent", 100),
    "text-muted": ("dim", 100),
    "foreground-muted": ("dim", 100),
    "text-accent": ("accent", 100),
}

FIELD_SHADE = 0.08
"""How far an input's background is blended from the panel's color towards the text color."""

_DEFAULTS: Mapping[str, str] = {
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


def variable_defaults() -> dict[str, str]:
    """Return defaults of our CSS variables, for `App.get_theme_variable_defaults`.

    Without them, a stylesheet that uses one cannot be parsed while one of Textual's own themes is active.
    """
    return dict(_DEFAULTS)


def theme_of(spec: ThemeSpec) -> Theme:
    """Return the Textual theme of a spec; raises `ValueError` for a color unknown to Textual."""
    roles = spec.colours()
    for role, colour in roles.items():
        _checked(role, colour)
    base: dict[str, Any] = {name: roles[role] for name, role in _BASE_VARIABLES.items()}
    variables = {name: roles[role] for name, role in _ROLE_VARIABLES.items()}
    if spec.ansi:
        variables |= _ansi_variables(roles, spec.dark)
    else:
        panel, text = Color.parse(roles["panel"]), Color.parse(roles["text"])
        variables["field"] = panel.blend(text, FIELD_SHADE).hex6.lower()
        variables |= base
        variables |= {
            name: roles[role] if percent == 100 else f"{roles[role]} {percent}%"
            for name, (role, percent) in _WIDGET_VARIABLES.items()
        }
    return Theme(name=spec.name, **base, dark=spec.dark, variables=variables, ansi=spec.ansi)


def _ansi_variables(roles: Mapping[str, str], dark: bool) -> dict[str, str]:
    """Return variables that Textual's stylesheets use but its ANSI themes lack, and our own.

    The terminal's colors cannot be blended or dimmed, so emphasis uses a color instead.
    """
    stock = BUILTIN_THEMES["ansi-dark" if dark else "ansi-light"]
    known = stock.to_color_system().generate()
    usual = BUILTIN_THEMES["textual-dark"].to_color_system().generate()
    missing = {name: "ansi_default" for name in usual if name not in known}
    return {
        **missing,
        **stock.variables,
        "field": roles["panel"],
        "foreground-muted": roles["dim"],
        "text-muted": roles["dim"],
        "text-accent": roles["accent"],
        "border": roles["accent"],
        "border-blurred": roles["rule"],
        "block-cursor-foreground": "ansi_black",
        "block-cursor-background": roles["accent"],
        "scrollbar": roles["rule"],
        "scrollbar-hover": roles["accent"],
        "scrollbar-active": roles["accent"],
        "scrollbar-background": "ansi_default",
        "scrollbar-background-hover": "ansi_default",
        "scrollbar-background-active": "ansi_default",
    }


def _checked(role: str, colour: str) -> Color:
    try:
        return Color.parse(colour)
    except ColorParseError as error:
        raise ValueError(f"{role}: {colour!r} is not a color") from error
