"""The lines around the list: whose traffic it is, the headings of the columns, and the keys."""

from collections.abc import Callable, Sequence

from textual.message import Message

from tui.ui.keys.actions import Context, first_key, of_context
from tui.ui.keys.footer import Entry, Footer
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.widgets.bar import Bar, spread
from tui.ui.widgets.rows import Row


class TrafficTitle(Bar):
    """Whose traffic, how much of it, and whether the newest is followed."""

    def __init__(self) -> None:
        super().__init__(id="traffic-title")
        self._left: Row = ()
        self._right: Row = ()

    def show(self, left: Row, right: Row) -> None:
        """Show these, if they are new."""
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def row(self, width: int) -> Row:
        """Return the line."""
        return spread(self._left, self._right, width)


class Headings(Bar):
    """The headings of the columns."""

    def __init__(self, heading: Callable[[], Row]) -> None:
        super().__init__(id="traffic-heads")
        self._heading = heading

    def row(self, width: int) -> Row:
        """Return the line."""
        return self._heading()


class Keys(Footer):
    """The keys of what has the focus, with those of the app behind them."""

    def __init__(self, overrides: KeyOverrides) -> None:
        super().__init__()
        self._overrides = overrides

    def of(self, context: Context) -> None:
        """Show the keys of a context."""
        self.show(keys_of(context, self._overrides))


def keys_of(context: Context, overrides: KeyOverrides) -> Sequence[Entry]:
    """Return the keys of a context in the order of their use, and the one that leads to all keys."""
    found = sorted((action for action in of_context(context) if action.footer), key=lambda one: one.footer)
    everywhere = [one for one in of_context(Context.ANYWHERE) if one.id == "app.help"]
    entries = [(first_key(overrides.keys_of(one)), one.label, one) for one in (*found, *everywhere)]
    return entries[:5] + entries[-1:] + entries[5:-1]


def exact(number: int) -> str:
    """Return a count to the last digit, in groups of three: "1 204"."""
    return f"{number:,}".replace(",", " ")


def counted(shown: int, all: int) -> str:
    """Return how many entries of how many are shown."""
    return (
        f"{exact(shown)} of {exact(all)}"
        if shown != all
        else "1 entry"
        if all == 1
        else f"{exact(all)} entries"
    )


class FilterLine(Bar):
    """The filter in force and the search, how far they are, and what they found; a click changes it."""

    class Clicked(Message):
        """The person wants to change the filter."""

    def __init__(self) -> None:
        super().__init__(id="filter-line")
        self._parts: tuple[Row, Row] = ((), ())

    def show(self, left: Row, right: Row) -> None:
        """Show these, if they are new; with nothing to show there is no line."""
        if (left, right) != self._parts:
            self._parts = (left, right)
            self.display = bool(left)
            self.refresh()

    def row(self, width: int) -> Row:
        """Return the line."""
        return spread(self._parts[0], self._parts[1], width)

    def on_click(self) -> None:
        """Change the filter."""
        self.post_message(self.Clicked())
