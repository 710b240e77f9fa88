"""Turns the table of actions into Textual's bindings."""

from textual.binding import Binding, BindingType

from tui.ui.actions import ACTIONS, Context, of_context


def bindings_of(*contexts: Context) -> list[BindingType]:
    """Return the bindings that work while a pane of these contexts has the focus."""
    return [
        Binding(found.keys, found.method, found.label, show=False, id=found.id, priority=found.priority)
        for context in contexts
        for found in of_context(context)
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
