"""A whole turn in the keep dialog: the calls that are expected of a model."""

import asyncio
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

from tui.addons.tests.keep.target import Target
from tui.addons.tests.screens.keep_dialog import LONGEST_NAME, KeepDialog
from tui.addons.tests.screens.keep_list import (
    BLANK,
    SERVER,
    Layout,
    Line,
    added_to,
    heading,
    sentences,
    server_of,
    switch,
)
from tui.addons.tests.turns.turn_keeping import PASSING, RUNS, TurnKeeping
from tui.core.text import clean_line
from tui.core.units import plural
from tui.ui.widgets.rows import Row, spread
from tui.ui.widgets.symbols import symbols_for


@dataclass(slots=True)
class KeptTurn:
    """The turn that the dialog keeps, as its `Kept`."""

    keeping: TurnKeeping
    target: Target
    is_busy: bool = field(default=False, init=False)
    actions: Mapping[str, tuple[str, Callable[[KeepDialog], None]]] = field(default_factory=dict, init=False)

    @property
    def name(self) -> str:
        return self.keeping.name

    @property
    def placeholder(self) -> str:
        return clean_line(self.keeping.turn.question, LONGEST_NAME)

    @property
    def shown_path(self) -> str:
        return self.keeping.shown_path(self.target.path)

    def title(self) -> tuple[Row, Row]:
        left: Row = (("KEEP THE TURN AS A TEST  ", "dim bold"), (self.placeholder, "text bold"))
        number = plural(len(self.keeping.turn.calls), "call")
        return left, ((f"{symbols_for().done} {number}", "dim"),)

    def lines(self, layout: Layout) -> list[Line]:
        return turn_lines(self.keeping, self.target, layout.width)

    def note(self) -> tuple[str, bool]:
        if problem := self.keeping.problem(self.target):
            return problem, True
        return "new file" if self.target.is_new else added_to(self.target), False

    def preview(self) -> str:
        return self.keeping.preview(self.target)

    def rename(self, name: str) -> None:
        self.keeping = self.keeping.named(name)

    def find(self, typed: str) -> Target:
        return self.keeping.target(typed)

    def switch(self, key: Hashable, dialog: KeepDialog) -> None:
        if key == SERVER:
            self.keeping = self.keeping.for_next_server()
            dialog.propose_file()
        elif isinstance(key, tuple):
            self.keeping = self.keeping.switched(*key)

    async def keep(self) -> str:
        return await asyncio.to_thread(self.keeping.keep, self.target)


def turn_lines(keeping: TurnKeeping, target: Target, width: int) -> list[Line]:
    """Return the lines for a turn: the server, each call and argument that may be expected, and the runs."""
    server, more = server_of(target), "space: another server" if len(keeping.servers) > 1 else ""
    lines = [
        heading("SERVER"),
        Line(lambda cells: spread(((server, "text"),), ((more, "dim"),), cells), SERVER if more else None),
        BLANK,
        heading("EXPECTED CALLS"),
        *sentences("In this order, others may come between.", width),
    ]
    for at, call in enumerate(keeping.calls):
        lines.append(switch(clean_line(str(call), 400), "", (at,), is_on=call.is_on))
        for place, one in enumerate(call.arguments if call.is_on else ()):
            why, text = "" if one.is_said else "not in the question", clean_line(str(one.pattern), 400)
            lines.append(switch(text, why, (at, place), is_on=one.is_on, indent=2))
    runs = f"{RUNS} runs, of which {PASSING * 100:.0f} % must pass. The answer is not compared."
    return [*lines, BLANK, *sentences(runs, width)]
