"""The keys of lists and results on the workbench."""

from textual.binding import Binding, BindingType

from tui.ui.keys.actions import Context, of_context
from tui.ui.keys.bindings import bindings_of


def list_bindings() -> list[BindingType]:
    """Return the bindings of a pane that is not typed into.

    The app takes them before the pane does, those of the whole workbench too: what follows in one burst
    belongs to what they open. Panes that are typed into act on keys themselves, in their order.
    """
    return [
        *bindings_of(Context.BENCH_LIST),
        *(
            Binding(key, found.method, found.label, show=False, id=found.id, priority=True)
            for found in of_context(Context.WORKBENCH)
            for key in found.keys.split(",")
        ),
    ]
