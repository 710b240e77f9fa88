"""The lines around the workbench: whose it is, and the keys of what has the focus."""

from tui.ui.keys.actions import Action, Context, first_key, of_context
from tui.ui.keys.footer import Footer
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.widgets.bar import Bar, spread
from tui.ui.widgets.rows import Row

ONLY_BENCH = frozenset(
    {"bench.call", "bench.raw", "bench.keep", "bench.saved", "bench.hand", "bench.diff", "bench.mark"}
)
"""Actions that do something only where things are called."""


class BenchTitle(Bar):
    """Whose workbench, and how the server is doing."""

    def __init__(self) -> None:
        super().__init__(id="bench-title")
        self._parts: tuple[Row, Row] = ((), ())

    def show(self, left: Row, right: Row) -> None:
        """Show these, if they are new."""
        if (left, right) != self._parts:
            self._parts = (left, right)
            self.refresh()

    def row(self, width: int) -> Row:
        """Return the line."""
        return spread(*self._parts, width)


class BenchKeys(Footer):
    """The keys of the workbench that do something where the focus is."""

    def __init__(self, overrides: KeyOverrides) -> None:
        super().__init__()
        self._overrides = overrides

    def of(self, context: Context | None, *, on_bench: bool = True) -> None:
        """Show the keys of a context and of the workbench; `on_bench` if something can be called."""
        near = of_context(context) if context is not None else ()
        found: list[Action] = [
            one
            for one in (*near, *of_context(Context.WORKBENCH))
            if one.footer and (on_bench or one.id not in ONLY_BENCH)
        ]
        found.sort(key=lambda one: one.footer)
        helps = [one for one in of_context(Context.ANYWHERE) if one.id == "app.help"]
        entries = [(first_key(self._overrides.keys_of(one)), one.label, one) for one in (*found, *helps)]
        self.show(entries[:6] + entries[-1:] + entries[6:-1])
