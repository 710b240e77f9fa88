"""The keys in use: the defaults, replaced by `[ui.keys]`; and the names of keys. Pure.

The keys are those of the table, replaced by those of the configuration, validated. A key has a name for the
user, "?", and one for Textual, `question_mark`.
"""

import unicodedata
from collections.abc import Iterable, Sequence

from textual.keys import KEY_NAME_REPLACEMENTS

from tui.settings.keymap import ActionKeys, check_keys, normal_key
from tui.settings.problems import Problem
from tui.ui.keys.action_table import ACTIONS, IS_YES, Action, Context, action, of_context


def textual_key(key: str) -> str:
    """Return Textual's name of a key: `?` is `question_mark`, `ctrl+/` is `ctrl+slash`."""
    *modifiers, last = [key] if key == "+" else key.removesuffix("++").split("+") + ["+"] * key.endswith("++")
    if len(last) == 1 and not last.isalnum():
        name = unicodedata.name(last, last).lower().replace("-", "_").replace(" ", "_")
        last = KEY_NAME_REPLACEMENTS.get(name, name)
    return "+".join([*modifiers, last])


_KEY_WORDS = {
    "question_mark": "?",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


def key_words(keys: str) -> str:
    """Return keys as the user reads them: "f1,question_mark" is "f1, ?"."""
    return ", ".join(
        "+".join(_KEY_WORDS.get(part, part) for part in key.strip().split("+")) for key in keys.split(",")
    )


def first_key(keys: str) -> str:
    """Return the first of several keys as the user reads it."""
    return key_words(keys.split(",", 1)[0])


def own_keys() -> dict[str, ActionKeys]:
    """Return the default keys of every action, by action id."""
    return {
        found.id: ActionKeys(
            tuple(normal_key(key) or key for key in found.keys.split(",")),
            "" if found.context is Context.ANYWHERE else found.context,
            IS_YES.get(found.id),
        )
        for found in ACTIONS
    }


class KeyOverrides:
    """The keys in use; `problems` has one for each configured key that is ignored."""

    def __init__(self, keys: Iterable[tuple[str, str | Sequence[str]]] = ()) -> None:
        self.problems: tuple[Problem, ...] = ()
        self._keys: dict[str, str] = {}
        self.take(keys)

    def take(self, keys: Iterable[tuple[str, str | Sequence[str]]]) -> None:
        """Replace the configured keys with these."""
        wanted = {name: value.split(",") if isinstance(value, str) else list(value) for name, value in keys}
        good: dict[str, tuple[str, ...]] = {}
        self.problems = ()
        if wanted:
            good, problems = check_keys(wanted, own_keys())
            self.problems = tuple(problems)
        self._keys = {name: ",".join(map(textual_key, chosen)) for name, chosen in good.items()}

    def keys_of(self, found: Action) -> str:
        """Return the keys of an action in its context, separated by commas."""
        return self._keys.get(found.id) or found.keys

    def first_of(self, action_id: str) -> str:
        """Return the first key of an action, as the user reads it."""
        return first_key(self.keys_of(action(action_id)))

    def answers_of(self, action_id: str) -> str:
        """Return the keys that answer a question, as the user reads them.

        All keys if they are configured, otherwise the first default.
        """
        given = self._keys.get(action_id)
        return key_words(given) if given else self.first_of(action_id)

    def keymap(self) -> dict[str, str]:
        """Return the overrides as Textual's keymap."""
        return dict(self._keys)


def methods_by_key(overrides: KeyOverrides, *contexts: Context) -> dict[str, str]:
    """Return the Textual actions of these contexts by key, for a pane that handles its keys itself."""
    found = (one for context in contexts for one in of_context(context))
    return {key: one.method for one in found for key in overrides.keys_of(one).split(",")}
