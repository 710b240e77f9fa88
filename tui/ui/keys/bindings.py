"""Turns the table of actions into Textual's bindings."""

from textual.binding import Binding, BindingType

from tui.ui.keys.action_table import ACTIONS, Action, Context, of_context

CHARACTERS = frozenset({"question_mark"})
"""Keys that work anywhere and are characters."""


def _goes_first(found: Action, key: str) -> bool:
    """Return whether the app takes this key before the focused pane sees it.

    It must wherever keys can come in one burst (pasted, sent by a script, typed while the machine was busy):
    a key that waits in the queue of a pane returns to the app when another pane or a dialog may have the
    focus, and would mean something else there. Text must reach the composer.
    """
    match found.context:
        case Context.COMPOSER | Context.WORKBENCH | Context.BENCH_FORM:
            return found.priority
        case Context.ANYWHERE:
            return found.priority or key not in CHARACTERS
        case _:
            return True


def bindings_of(*contexts: Context) -> list[BindingType]:
    """Return the bindings that work while a pane of these contexts has the focus."""
    return [
        Binding(key, found.method, found.label, show=False, id=found.id, priority=_goes_first(found, key))
        for context in contexts
        for found in of_context(context)
        for key in found.keys.split(",")
    ]


def bindings_anywhere() -> list[BindingType]:
    """Return the bindings of the app: the actions that work anywhere, and `anywhere` keys of the others.

    The latter are taken before the focused pane sees them: the composer would use some itself.
    """
    return [
        *bindings_of(Context.ANYWHERE),
        *(
            Binding(
                found.anywhere,
                found.method,
                found.label,
                show=False,
                id=f"{found.id}.anywhere",
                priority=True,
            )
            for found in ACTIONS
            if found.anywhere
        ),
    ]


def bench_list_bindings() -> list[BindingType]:
    """Return the bindings of a pane of the workbench that is not typed into.

    The app takes them before the pane does, those of the whole workbench included: keys that follow in one
    burst are for what they open. Panes that are typed into act on keys themselves, in order.
    """
    return [
        *bindings_of(Context.BENCH_LIST),
        *(
            Binding(key, found.method, found.label, show=False, id=found.id, priority=True)
            for found in of_context(Context.WORKBENCH)
            for key in found.keys.split(",")
        ),
    ]
