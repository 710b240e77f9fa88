"""The keys in use: the table's keys, replaced by those of the configuration, validated. Pure."""

from collections.abc import Iterable, Sequence

from tui.settings.keymap import ActionKeys, check_keys, normal_key
from tui.settings.problems import Problem
from tui.ui.keys.action_table import ACTIONS, IS_YES, Action, Context, action
from tui.ui.keys.key_names import first_key, key_words, textual_key


def _own_keys(found: Action) -> ActionKeys:
    keys = (normal_key(key) or key for key in found.keys.split(","))
    context = "" if found.context is Context.ANYWHERE else found.context
    return ActionKeys(tuple(keys), context, IS_YES.get(found.id))


def own_keys() -> dict[str, ActionKeys]:
    """Return the default keys of every action, by action id."""
    return {found.id: _own_keys(found) for found in ACTIONS}


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
