"""Turns the table of actions into Textual's bindings."""

from textual.binding import Binding, BindingType

from tui.ui.actions import ACTIONS, Action, Context, of_context

CHARACTERS = frozenset({"question_mark"})
"""Keys of actions that work anywhere which are characters."""


def _goes_first(found: Action, key: str) -> bool:
    """Return whether the app takes this key before the focused pane sees it.

    So it must where the key changes what the next one means: keys that come in one burst (pasted, sent
    by a script, typed while the machine was busy) wait in the queue of the pane that had the focus. A
    character must not: it may be written.
    """
    return found.priority or (found.context is Context.ANYWHERE and key not in CHARACTERS)


def bindings_of(*contexts: Context) -> list[BindingType]:
    """Return the bindings that work while a pane of these contexts has the focus."""
    return [
        Binding(key, found.method, found.label, show=False, id=found.id, priority=_goes_first(found, key))
        for context in contexts
        for found in of_context(context)
        for key in found.keys.split(",")
    ]


def bindings_anywhere() -> list[BindingType]:
    """Return the bindings of the app: the actions that work anywhere, and the far keys of the others.

    Far keys are taken before the focused pane sees them: the composer has its own use for some.
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
