"""Converts the table of actions to Textual's bindings; runs the actions of screens."""

from collections.abc import Callable
from functools import partial
from inspect import isawaitable
from operator import attrgetter
from typing import Any

from textual.actions import parse
from textual.binding import Binding, BindingType
from textual.screen import Screen

from tui.ui.keys.action_table import ACTIONS, Action, Context, action, of_context


def method_at(owner: object, path: str) -> Callable[[], Any]:
    """Return the method at a path of the table, with its arguments."""
    place, name, arguments = parse(path)
    return partial(attrgetter(f"{place}.{name}" if place else name)(owner), *arguments)


async def act(screen: Screen[Any], action_id: str) -> None:
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
