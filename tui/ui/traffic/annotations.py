"""The user's marks, notes and saved filters for a recording."""

import asyncio
from collections.abc import Callable
from typing import Any

from textual.content import Content
from textual.screen import Screen

from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.traffic.filter.query import Query, parse
from tui.traffic.record.open_recording import Recording
from tui.ui.traffic.active_filter import ActiveFilter
from tui.ui.traffic.entry_list import EntryList
from tui.ui.widgets.inputs import PromptLine

KEEP = "+"
"""Entry of the list of saved filters that saves the active one."""


class Annotations:
    """Marks and notes; calls `changed` after a change of a note."""

    def __init__(
        self,
        recording: Recording,
        list: EntryList,
        active_filter: ActiveFilter,
        prompt: PromptLine,
        changed: Callable[[], None],
    ) -> None:
        self._recording, self._list, self._active_filter, self._prompt = (
            recording,
            list,
            active_filter,
            prompt,
        )
        self._changed = changed

    def toggle_mark(self) -> None:
        index, entries = self._list.index, self._recording.entries
        if not self._list.chosen() or index < 0:
            return
        marked = not entries.marked[index]
        entries.mark(index, marked)
        self._recording.keep_mark(entries.seq(index), marked)
        self._list.tick()

    def edit_note(self) -> None:
        seq, notes = self._list.chosen(), self._recording.notes
        if not seq:
            return

        def keep(text: str) -> None:
            text = self._recording.redact(text.strip())
            if text:
                notes[seq] = text
            else:
                notes.pop(seq, None)
            self._recording.keep_note(seq, text)
            self._active_filter.noted(seq)
            self._list.repaint()
            self._changed()

        self._prompt.ask(
            f"note on entry {seq}",
            keep,
            value=notes.get(seq, ""),
            placeholder="leave empty to remove the note",
        )


class SavedFilters:
    """Selects and applies a saved filter, or saves the active one."""

    def __init__(
        self,
        screen: Screen[Any],
        recording: Recording,
        active_filter: ActiveFilter,
        prompt: PromptLine,
        apply: Callable[[Query], None],
    ) -> None:
        self._screen, self._recording, self._active_filter, self._prompt = (
            screen,
            recording,
            active_filter,
            prompt,
        )
        self._apply = apply

    def pick(self) -> None:
        from tui.ui.dialogs.picker import Picker, PickerChoice

        saved, text = self._recording.filters, self._active_filter.query.text
        choices = [
            PickerChoice(name, Content(f"{name}   {clean_line(saved[name], 60)}")) for name in sorted(saved)
        ]
        if text and text not in saved.values():
            choices.append(PickerChoice(KEEP, Content(f"keep: {clean_line(text, 60)}")))
        note = "No saved filters yet. Filter with /, then save the filter here."
        self._screen.app.push_screen(Picker("Saved filters", choices, note=note), self._picked)

    def _picked(self, name: str | None) -> None:
        if name == KEEP:
            self._ask_name()
        elif name is not None:
            self._apply(parse(self._recording.filters[name]))

    def _ask_name(self, name: str = "") -> None:
        self._prompt.ask("filter name", self._keep, value=name)

    def _keep(self, name: str) -> None:
        name = clean_line(name.strip(), 60)
        if name and name != KEEP:
            self._screen.run_worker(self._save(name, self._active_filter.query.text), name="save a filter")

    async def _save(self, name: str, text: str) -> None:
        screen = self._screen
        try:
            await asyncio.to_thread(self._recording.keep_filter, name, text)
        except McptuiError as error:
            title = f"Filter {name} not saved"
            screen.notify(clean_line(str(error), 600), title=title, severity="error")
            if screen.is_current and not self._prompt.display:
                self._ask_name(name)
        else:
            self._recording.filters[name] = text
            screen.notify(f"Saved as {name}.", timeout=2)
