"""Compares two entries, or two calls: a key marks one, and the same key on another one compares them."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from tui.core.background import Tasks
from tui.core.errors import McptuiError
from tui.core.language.translate import N_, _, localized, n_
from tui.core.text import clean_line
from tui.core.traffic import Kind, TrafficReader
from tui.core.units import exact
from tui.traffic.record.comparable import NotComparable, call_of, comparable_call, comparable_value
from tui.ui.dialogs.dialog import ViewScreen
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of, overrides_of
from tui.ui.platform import clipboard
from tui.ui.traffic.entry_list import EntryList
from tui.ui.widgets.page import Lines, Page
from tui.ui.widgets.rows import Row

if TYPE_CHECKING:
    from tui.core.comparison.values import Comparison


def hidden_words(found: "Comparison", key: str) -> str:
    """Return which differences are hidden, and the key that shows them, as sentences."""
    count = Counter({str(kind): number for kind, number in found.kinds.items()})
    count["id"] += count["uuid"]
    words = {
        "time": n_("{n} time", "{n} times", count["time"]),
        "id": n_("{n} ID", "{n} IDs", count["id"]),
        "duration": n_("{n} duration", "{n} durations", count["duration"]),
    }
    kinds = _(", ").join(text for kind, text in words.items() if count[kind])
    return n_(
        "{n} difference hidden that is expected between two calls ({kinds}). Press {key} to show it.",
        "{n} differences hidden that are expected between two calls ({kinds}). Press {key} to show them.",
        found.masked,
        kinds=kinds,
        key=key,
    )


class ComparisonScreen(ViewScreen[None]):
    """Compares two entries, or the calls that they belong to, if they belong to different ones."""

    CONTEXTS = (Context.COMPARISON,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.COMPARISON)

    def __init__(self, list: EntryList, seqs: Sequence[int]) -> None:
        self._page = Page()
        super().__init__(self._page)
        self._reader, self._seqs, entries = list.reader, seqs, list.entries
        first, second = self._pairs = [call_of(entries, seq) for seq in seqs]
        self._has_calls = bool(first and second and first != second)
        requests = all(entries.kind[entries.index(seq)] == Kind.REQUEST for seq in seqs)
        self._calls = self._has_calls and requests
        self._masked = True
        self._text = ""
        self._tasks = Tasks()

    async def on_unmount(self) -> None:
        await self._tasks.cancel()

    def look(self) -> None:
        """Compare again."""
        for job in self._tasks.running:
            job.cancel()
        self._page.show(Lines([((_("comparing…"), "warn"),)]))
        self._say()
        self._tasks.start(self._compare(), "compare")

    def _read(self, reader: TrafficReader) -> list[Any]:
        """Return both calls or entries as JSON values."""
        if self._calls:
            return [comparable_call(reader, pair) for pair in self._pairs]
        return [comparable_value(reader, seq) for seq in self._seqs]

    async def _compare(self) -> None:
        from tui.core.comparison.placeholders import NOTHING, RUN_TO_RUN
        from tui.core.comparison.values import Tolerance, compare, line_pairs, lines_of, text_lines
        from tui.ui.results.result_sheets import SideBySide

        kinds = RUN_TO_RUN if self._masked else NOTHING
        try:
            first, second = await self._reader.ask(self._read)
            found = await asyncio.to_thread(compare, first, second, Tolerance(kinds=kinds))
            pairs = await asyncio.to_thread(
                lambda: line_pairs(lines_of(first, kinds), lines_of(second, kinds))
            )
        except (McptuiError, NotComparable) as error:
            self._page.show(Lines([((clean_line(localized(error), 400), "warn"),)]))
            return
        self._text = "\n".join(text_lines(found))
        notes: list[str] = []
        if found.same:
            notes.append(_("Only times, IDs and durations differ.") if found.masked else _("No differences"))
        if found.masked:
            notes.append(hidden_words(found, overrides_of(self.app).first_of("comparison.all")))
        if not found.complete:
            notes.append(_("Too large to compare completely."))
        self._page.show(SideBySide(pairs, [((note, "dim"),) for note in notes]))
        self._say(found)

    def _say(self, found: "Comparison | None" = None) -> None:
        first, second = (exact(seq) for seq in self._seqs)
        what = N_("entries {first} and {second}")
        if self._calls:
            what = N_("the calls of entries {first} and {second}")
        count = n_("{n} difference", "{n} differences", len(found.differences)) if found is not None else ""
        left: Row = ((f"{_('COMPARE')}  ", "text bold"), (_(what, first=first, second=second), "text"))
        self._title.show(left, ((count, "dim"),))
        calls = N_("the two entries") if self._calls else N_("the whole calls")
        hides = N_("all differences") if self._masked else N_("hide times, IDs, durations")
        self.show_keys(calls=calls if self._has_calls else "", all=hides)

    def toggle_calls(self) -> None:
        if self._has_calls:
            self._calls = not self._calls
            self.look()

    def toggle_all(self) -> None:
        self._masked = not self._masked
        self.look()

    def copy(self) -> None:
        if self._text:
            clipboard.copy(self.app, self._text, _("the differences"))
