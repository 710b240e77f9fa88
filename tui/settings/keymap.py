"""Reads and validates `[ui.keys]` against the table of actions, which the screens provide. Pure."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tui.core.addons import missing
from tui.core.language.translate import message
from tui.core.text import quoted_name
from tui.settings.problems import Problem, did_you_mean

MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
NAMED_KEYS = frozenset(
    "enter escape tab backspace delete insert space up down left right home end pageup pagedown".split()
    + [f"f{number}" for number in range(1, 25)]
)
"""Named keys that terminals send. Other keys are written as their character."""

_ALIASES = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "page_up": "pageup",
    "pgdn": "pagedown",
    "page_down": "pagedown",
    "control": "ctrl",
    "option": "alt",
    "cmd": "super",
}

_CHARACTERS = {
    "slash": "solidus",
    "backslash": "reverse solidus",
    "at": "commercial at",
    "minus": "hyphen-minus",
    "plus": "plus sign",
    "underscore": "low line",
    **{name: name for name in "comma colon semicolon tilde ampersand asterisk apostrophe".split()},
}


_BY_HABIT = frozenset(
    "enter space tab backspace delete up down left right home end pageup pagedown"
    " j k g G ctrl+h ctrl+i ctrl+j ctrl+m".split()
)
"""Keys that scroll, keys that are pressed habitually, and the keys that some terminals send instead."""


@dataclass(frozen=True, slots=True)
class ActionKeys:
    """The default keys of an action, and the contexts where they work; none is everywhere.

    Two actions clash if both can apply at once. `is_yes` is set if the action answers a question.
    """

    keys: tuple[str, ...]
    contexts: frozenset[str] = frozenset()
    is_yes: bool | None = None

    def meets(self, other: "ActionKeys") -> bool:
        """Return whether both can apply at once."""
        return not self.contexts or not other.contexts or not self.contexts.isdisjoint(other.contexts)


def flat_keys(table: object) -> dict[str, list[Any]]:
    """Return action id to keys of a `[ui.keys]` table, whatever it contains.

    An id contains a dot. TOML reads `servers.toggle = "s"` as a nested table, but the user means the same as
    with `"servers.toggle" = "s"`. Types of keys are not checked.
    """
    found: dict[str, list[Any]] = {}
    for name, value in table.items() if isinstance(table, Mapping) else ():
        if isinstance(value, Mapping):
            found |= {
                f"{name}.{inner}": keys if isinstance(keys, list) else [keys] for inner, keys in value.items()
            }
        else:
            found[str(name)] = value if isinstance(value, list) else [value]
    return found


def _character(name: str) -> str:
    """Return the character that a terminal library calls `name` ("question_mark", "slash"), or ""."""
    if "_" not in name and name not in _CHARACTERS:
        return ""
    unicode_name = _CHARACTERS.get(name, name.replace("_", " "))
    try:
        return unicodedata.lookup(unicode_name)
    except KeyError:
        return ""


def normal_key(text: str) -> str | None:
    """Return the canonical name of a key (`ctrl+shift+x`, `f5`, `?`), or None if it is not a key."""
    # A plus sign at the end is the key itself: "ctrl++", "+".
    head, plus = (text[:-1], "+") if text == "+" or text.endswith("++") else (text, "")
    parts = [part.strip().lower() if len(part) > 1 else part for part in head.split("+") if part]
    parts = [_ALIASES.get(part) or _character(part) or part for part in parts]
    if plus:
        parts.append(plus)
    if not parts:
        return None
    *modifiers, key = parts
    if any(part not in MODIFIERS for part in modifiers) or len(set(modifiers)) < len(modifiers):
        return None
    if not (key in NAMED_KEYS or (len(key) == 1 and key.isprintable() and not key.isspace())):
        return None
    return "+".join([*sorted(modifiers, key=MODIFIERS.index), key])


def check_keys(
    wanted: Mapping[str, Sequence[str]], actions: Mapping[str, ActionKeys]
) -> tuple[dict[str, tuple[str, ...]], tuple[Problem, ...]]:
    """Return the usable configured keys by action id, and the problems of the others."""
    problems: list[Problem] = []
    good: dict[str, tuple[str, ...]] = {}
    for action, keys in wanted.items():
        path = ("ui", "keys", *action.split("."))
        if action not in actions:
            hint = did_you_mean(action, actions) or message("see docs/keys.md for all actions")
            of_addon = missing("action", action)
            problems.append(
                Problem(of_addon, path) if of_addon else Problem(message("unknown action"), path, hint)
            )
            continue
        found = []
        for key in keys:
            if (normal := normal_key(key)) is None:
                hint = did_you_mean(key.rpartition("+")[2], NAMED_KEYS)
                problems.append(Problem(message("{key} is not a key", key=quoted_name(key, 30)), path, hint))
            elif fault := _answer_fault(action, normal, actions):
                problems.append(Problem(fault, path, message("use another key")))
            elif normal not in found:
                found.append(normal)
        if found:
            good[action] = tuple(found)
    return _without_clashes(good, actions, problems), tuple(problems)


def _answer_fault(action: str, key: str, actions: Mapping[str, ActionKeys]) -> str:
    """Return why a key must not answer a question with this action, or "".

    A user who knows the keys of one question must not give the opposite answer to another.
    """
    entry = actions[action]
    if entry.is_yes is None or key in entry.keys:
        return ""
    if key.removeprefix("shift+") in _BY_HABIT:
        return message("`{key}` cannot answer a question: it is used to scroll or type", key=key)
    for name, other in actions.items():
        if name != action and other.is_yes is not None and key in other.keys:
            if other.contexts == entry.contexts or other.is_yes is not entry.is_yes:
                return message(
                    "`{key}` cannot answer this: it is the default key of another answer (`{name}`)",
                    key=key,
                    name=name,
                )
    return ""


def _without_clashes(
    good: dict[str, tuple[str, ...]], actions: Mapping[str, ActionKeys], problems: list[Problem]
) -> dict[str, tuple[str, ...]]:
    """Drop keys that another action has at the same time, unless both have them by default."""
    result = dict(good)
    for action, keys in good.items():
        mine = actions[action]
        for key in keys:
            for name, other in actions.items():
                is_default = key in other.keys and key in mine.keys
                is_used = other.meets(mine) and key in (result.get(name) or other.keys)
                if name != action and is_used and not is_default:
                    fault, hint = (
                        message("`{key}` is already used by `{name}`", key=key, name=name),
                        message("change the key of `{name}` too", name=name),
                    )
                    problems.append(Problem(fault, ("ui", "keys", *action.split(".")), hint))
                    result[action] = tuple(kept for kept in result[action] if kept != key)
                    break
    return {action: keys for action, keys in result.items() if keys}
