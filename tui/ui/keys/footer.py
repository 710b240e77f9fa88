"""The footer: the keys that are useful now, as many as fit, and at the right three that always work.

Clicking one has the same effect as its key.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from textual import events
from textual.screen import Screen

from tui.core.language.translate import N_, _
from tui.ui.keys.action_table import ACTIONS, Action, Context, action
from tui.ui.keys.bindings import KeyOverrides, first_key, overrides_of
from tui.ui.widgets.bar import Bar, key_cap
from tui.ui.widgets.rows import Row, width_of

Entry = tuple[str, str, Action | None]
"""Key, label, and action; without an action, a click does nothing."""

ALWAYS = ("app.palette", "app.help", "app.quit")
"""Actions at the right end, on every screen."""

_GAP, _NARROW_GAP = 3, 2
_FEW = 6
"""With fewer entries, the gaps between them are narrow if one more fits then."""


class Footer(Bar):
    """Shows keys and labels; the most useful ones if not all fit. An open input line shows its `LINE_KEYS`.

    Hidden while another screen is over its own. A class on the screen would do that, too, but Textual then
    computes the styles of the whole screen again, each time that a dialog opens or closes.
    """

    DEFAULT_CSS = "Footer#footer { padding: 0; background: $surface; }"

    def __init__(self, always: Sequence[str] = ALWAYS) -> None:
        super().__init__(id="footer")
        self._always, self._least = always, 0
        self._entries: tuple[Entry, ...] = ()

    def on_mount(self) -> None:
        self._hide_under(self.app.screen)
        self.app.screen_change_signal.subscribe(self, self._hide_under, immediate=True)
        self.watch(self.screen, "focused", self._look, init=False)

    def _look(self) -> None:
        self.refresh()

    def _hide_under(self, top: Screen[Any]) -> None:
        self.visible = top is self.screen

    def show(self, entries: Sequence[Entry], least: int = 0) -> None:
        """Show these keys, the most useful first; the right end gives way to the `least` first ones."""
        if (tuple(entries), least) != (self._entries, self._least):
            self._entries, self._least = tuple(entries), least
            self.refresh()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries at the left: of the input line that has the focus, or those that were given."""
        focused = self.screen.focused
        for widget in focused.ancestors_with_self if focused is not None else ():
            if keys := getattr(widget, "LINE_KEYS", ()):
                return tuple((key, _(label), None) for key, label in keys)
        return self._entries

    def _laid_out(self, width: int) -> list[tuple[int, Entry]]:
        return laid_out(self.entries, overrides_of(self.app), width, self._always, self._least)

    def row(self, width: int) -> Row:
        return row_of(self._laid_out(width))

    async def on_click(self, event: events.Click) -> None:
        for column, entry in self._laid_out(self.size.width):
            found = entry[2]
            if column <= event.x < column + _width(entry) and found is not None:
                await self.app.run_action(found.method, self.screen.focused or self.screen)
                return


def entries_of(actions: Iterable[Action], overrides: KeyOverrides, **labels: str) -> list[Entry]:
    """Return the entries of actions, the most useful first.

    `labels` replace those of actions, by the last part of their ids; "" hides one.
    """
    shown = sorted((action for action in actions if action.footer), key=lambda action: action.footer)
    named = [(labels.get(found.id.partition(".")[2], found.label), found) for found in shown]
    return [(first_key(overrides.keys_of(found)), _(label), found) for label, found in named if label]


_FAR = 40
"""Added to the rank of keys of panes without the focus."""


def in_footer(focus: Context, why_not: Callable[[Action], str], overrides: KeyOverrides) -> list[Entry]:
    """Return the entries of the chat screen, the most useful first.

    `focus` is the context of the focused pane. `why_not` returns why an action is unavailable, or "".
    """
    shown: list[tuple[int, Entry]] = []
    asks, runs = not why_not(action("question.once")), not why_not(action("chat.cancel"))
    answers = asks and focus is Context.CONVERSATION  # its keys are at the question
    for found, here in _candidates(focus):
        to_input = answers and found.id == "focus.composer"
        if not (found.footer or to_input) or (answers and found.context is Context.CONVERSATION):
            continue
        if why_not(found):
            continue
        rank, label = (found.footer if here else found.footer + _FAR), found.label
        if asks and found.id == "focus.conversation":
            rank, label = 0, N_("answer")
        elif to_input:
            rank = 3
        elif focus is Context.TRACE and found.id == "traffic.of_call":
            rank = 1  # the trace has no keys of its own
        elif runs and found.id == "composer.send":
            label = N_("queue")
        key = first_key(overrides.keys_of(found) if here else found.anywhere)
        shown.append((rank, (key, _(label), found)))
    return [entry for _, entry in sorted(shown, key=lambda one: one[0])]


@cache
def _candidates(focus: Context) -> Sequence[tuple[Action, bool]]:
    """Return the actions that this context may show, and whether their key works there."""
    leads_here = f"focus.{focus.name.lower()}"
    return [
        (found, here)
        for found in ACTIONS
        if ((here := found.context in (Context.ANYWHERE, focus)) or found.anywhere)
        and (found.footer or found.id == "focus.composer")
        and found.id != leads_here
    ]


def laid_out(
    entries: Sequence[Entry],
    overrides: KeyOverrides,
    width: int,
    right_end: Sequence[str] = ALWAYS,
    least: int = 0,
) -> list[tuple[int, Entry]]:
    """Return the entries that fit in `width` cells, each with its column; none is truncated.

    Entries of the right end are dropped, the first one first, until two entries fit at the left, and the
    first `least` if they ever do. An entry that is too long gives its place to shorter ones that are less
    useful.
    """
    needed = list(entries[:least])
    cells = sum(map(_width, needed)) + _NARROW_GAP * (len(needed) - 1)
    for first in range(len(right_end) + 1):
        always = map(action, sorted(right_end[first:], key=ALWAYS.index))
        right = [(overrides.first_of(found.id), _(found.label), found) for found in always]
        taken = sum(_width(entry) for entry in right) + _NARROW_GAP * max(0, len(right) - 1)
        room = width - taken - 2 - (_NARROW_GAP if right else 0)
        if room < cells <= width - 2:
            continue
        left, gap = _that_fit(entries, room, _GAP), _GAP
        is_needed = cells <= room and left[:least] != needed
        if is_needed or len(left) < min(_FEW, len(entries)):
            narrow = _that_fit(entries, room, _NARROW_GAP)
            left, gap = (narrow, _NARROW_GAP) if is_needed or len(narrow) > len(left) else (left, gap)
        if len(left) >= min(2, len(entries)):
            break
    return [*_placed(left, 1, gap), *_placed(right, width - taken - 1, _NARROW_GAP)]


def _that_fit(entries: Iterable[Entry], room: int, gap: int) -> list[Entry]:
    found: list[Entry] = []
    for entry in entries:
        if _width(entry) <= room:
            found.append(entry)
            room -= _width(entry) + gap
    return found


def row_of(placed: Iterable[tuple[int, Entry]]) -> Row:
    """Return the line with these entries at their columns."""
    row: list[tuple[str, str]] = []
    end = 0
    for column, entry in placed:
        row += [(" " * (column - end), ""), *key_cap(*entry[:2])]
        end = column + _width(entry)
    return tuple(row)


def _placed(entries: Sequence[Entry], column: int, gap: int) -> Iterable[tuple[int, Entry]]:
    for entry in entries:
        yield column, entry
        column += _width(entry) + gap


def _width(entry: Entry) -> int:
    return width_of(key_cap(*entry[:2]))
