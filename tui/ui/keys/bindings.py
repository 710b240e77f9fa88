"""The keys in use: the defaults of the table, replaced by `[ui.keys]`; their names; and Textual's bindings.

A key has a name for the user, "?", and one for Textual, `question_mark`.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from inspect import isawaitable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from textual.actions import parse
from textual.binding import Binding, BindingType
from textual.keys import KEY_NAME_REPLACEMENTS

from tui.core.addons import load
from tui.core.language.translate import _
from tui.settings.keymap import ActionKeys, check_keys, normal_key
from tui.settings.problems import Problem
from tui.ui.keys.action_table import ACTIONS, IS_YES, Action, Context, action, of_context

if TYPE_CHECKING:
    from textual.screen import Screen


def textual_key(key: str) -> str:
    """Return Textual's name of a key: `?` is `question_mark`, `ctrl+/` is `ctrl+slash`."""
    *modifiers, last = [key] if key == "+" else key.removesuffix("++").split("+") + ["+"] * key.endswith("++")
    if len(last) == 1 and not last.isalnum():
        name = unicodedata.name(last, last).lower().replace("-", "_").replace(" ", "_")
        last = KEY_NAME_REPLACEMENTS.get(name, name)
    return "+".join([*modifiers, last])


_KEY_WORDS = {
    "question_mark": "?",
    "exclamation_mark": "!",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "slash": "/",
    "full_stop": ".",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
}


def key_words(keys: str) -> str:
    """Return keys as the user reads them: "f1,question_mark" is "f1, ?"."""
    return ", ".join(
        "+".join(_KEY_WORDS.get(part, part) for part in key.strip().split("+")) for key in keys.split(",")
    )


@lru_cache(256)
def first_key(keys: str) -> str:
    """Return the first of several keys as the user reads it."""
    return key_words(keys.split(",", 1)[0])


def own_keys() -> dict[str, ActionKeys]:
    """Return the default keys of every action, by action id."""
    contexts: dict[str, frozenset[str]] = {}
    for found in ACTIONS:
        here = frozenset({found.context} - {Context.ANYWHERE})
        contexts[found.id] = contexts.get(found.id, frozenset()) | here
    return {
        found.id: ActionKeys(
            tuple(normal_key(key) or key for key in found.keys.split(",")),
            contexts[found.id],
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
        return dict(self._keys)


def overrides_of(app: object) -> KeyOverrides:
    """Return the keys in use in an app."""
    return getattr(app, "overrides", None) or KeyOverrides()


def is_opener(key: str) -> bool:
    """Return whether this key, pressed again, closes what it opened: a function key, or with ctrl or alt."""
    return key.startswith(("ctrl+", "alt+")) or (key[:1] == "f" and key[1:].isdecimal())


def methods_by_key(overrides: KeyOverrides, *contexts: Context) -> dict[str, str]:
    """Return the Textual actions of these contexts by key, for a pane that handles its keys itself."""
    found = (one for context in contexts for one in of_context(context))
    return {key: one.method for one in found for key in overrides.keys_of(one).split(",")}


def method_at(owner: object, path: str) -> Callable[[], Any]:
    """Return the method at a path of the table, with its arguments; a function of an add-on gets `owner`."""
    if ":" in path:
        return partial(load(path), owner)
    place, name, arguments = parse(path)
    return partial(attrgetter(f"{place}.{name}" if place else name)(owner), *arguments)


async def act(screen: "Screen[Any]", action_id: str) -> None:
    """Run an action of a screen, or say why it is unavailable."""
    found = action(action_id)
    if found.when and (why := method_at(screen, found.when)()):
        screen.notify(why, timeout=4, markup=False)
        return
    result = method_at(screen, found.place)()
    if isawaitable(result):
        await result


USED_BY_TEXTS = frozenset({"question_mark", "ctrl+z"})
"""Keys that a text field uses itself, to type a character or to undo. Elsewhere, they work anywhere."""


def _has_priority(found: Action, key: str) -> bool:
    """Return whether the app handles this key before the focused pane.

    It must do so wherever keys can arrive in one burst (pasted, sent by a script, typed while the machine was
    busy). A key that waits in a pane's queue would reach the app late, when another pane or dialog may have
    the focus and the key means something else. Text must reach the composer.
    """
    match found.context:
        case Context.COMPOSER | Context.WORKBENCH | Context.BENCH_FORM:
            return found.priority
        case Context.ANYWHERE:
            return found.priority or key not in USED_BY_TEXTS
        case _:
            return True


def bindings_of(*contexts: Context, priority: bool = False) -> list[BindingType]:
    """Return the bindings that work while a pane of these contexts has the focus.

    `priority`: the app handles all of them before the focused pane.
    """
    return [
        _binding(found, key, priority=priority or _has_priority(found, key))
        for context in contexts
        for found in of_context(context)
        for key in found.keys.split(",")
    ]


def _binding(found: Action, key: str, suffix: str = "", *, priority: bool) -> Binding:
    return Binding(key, found.method, found.label, show=False, id=found.id + suffix, priority=priority)


def shown_keys(bindings: Iterable[BindingType], **labels: str) -> list[tuple[str, str]]:
    """Return the keys that a dialog shows with their labels: those of its own bindings.

    An action is shown once, by its first binding. `labels` replace the labels of bindings.
    """
    actions: dict[str, Binding] = {}
    for one in bindings:
        if isinstance(one, Binding) and one.show:
            actions.setdefault(one.action, one)
    return [
        (one.key_display or first_key(one.key), _(labels.get(one.description, one.description)))
        for one in actions.values()
    ]


def bindings_anywhere() -> list[BindingType]:
    """Return the bindings of the app: the actions that work anywhere, and `anywhere` keys of the others.

    The app handles the latter before the focused pane: the composer would use some of them itself.
    """
    others = [found for found in ACTIONS if found.anywhere]
    return [
        *bindings_of(Context.ANYWHERE),
        *(_binding(found, found.anywhere, ".anywhere", priority=True) for found in others),
    ]


def bench_list_bindings() -> list[BindingType]:
    """Return the bindings of a workbench pane without text input.

    The app handles them, and those of the whole workbench, before the pane: later keys of a burst are meant
    for what these open. Panes with text input handle keys themselves, in order.
    """
    return [*bindings_of(Context.BENCH_LIST), *bindings_of(Context.WORKBENCH, priority=True)]


NEED_RUNTIME = frozenset(
    "chat.new chat.sessions chat.models chat.system traffic.open traffic.tail traffic.of_call"
    " rules.open servers.add config.edit config.reload".split()
)
"""Actions that need what the app loads after its panes."""
