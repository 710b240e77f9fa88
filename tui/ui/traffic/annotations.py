"""The user's marks, notes and saved filters for a recording, changed on the traffic screen."""

import asyncio
from collections.abc import Callable

from textual.content import Content

from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.traffic.filter.query import parse
from tui.traffic.record.open_recording import Recording
from tui.ui.traffic.active_filter import ActiveFilter
from tui.ui.traffic.entry_list import EntryList
from tui.ui.widgets.inputs import PromptLine

KEEP = "+"
"""Entry of the list of saved filters that saves the active one."""


class Annotations:
    """Changes them; `noted` is called after a change of a note."""

    def __init__(
        self,
        recording: Recording,
        list: EntryList,
        prompt: PromptLine,
        active_filter: ActiveFilter,
        noted: Callable[[], None],
    ) -> None:
        self._recording, self._list, self._prompt = recording, list, prompt
        self._active_filter, self._noted = active_filter, noted

    def toggle_mark(self) -> None:
        index, entries = self._list.index, self._recording.entries
        if self._list.chosen() and index >= 0:
            entries.mark(index, not entries.marked[index])
            self._recording.annotations.keep_note(entries.seq(index), bool(entries.marked[index]), None)
            self._list.tick()

    def edit_note(self) -> None:
        seq, notes = self._list.chosen(), self._recording.annotations.notes
        if not seq:
            return

        def keep(text: str) -> None:
            text = self._recording.annotations.redact(text.strip())
            notes.pop(seq, None)
            if text:
                notes[seq] = text
            self._recording.annotations.keep_note(seq, None, text)
            self._list.repaint()
            self._active_filter.noted(seq)
            self._noted()

        empty = "leave empty to remove the note"
        self._prompt.ask(f"note on entry {seq}", keep, value=notes.get(seq, ""), placeholder=empty)

    def choose_filter(self) -> None:
        """Choose a saved filter and apply it, or save the active one."""
        from tui.ui.dialogs.picker import Picker, PickerChoice

        text, saved = self._active_filter.query.text, self._recording.annotations.filters

        def picked(name: str | None) -> None:
            if name == KEEP:
                self._save_filter(text)
            elif name is not None:
                self._active_filter.apply(parse(saved[name]))

        choices = [
            PickerChoice(name, Content(f"{name}   {clean_line(saved[name], 60)}")) for name in sorted(saved)
        ]
        if text and text not in saved.values():
            choices.append(PickerChoice(KEEP, Content(f"keep: {clean_line(text, 60)}")))
        note = "No saved filters yet. Filter with /, then save the filter here."
        self._prompt.app.push_screen(Picker("Saved filters", choices, note=note), picked)

    def _save_filter(self, text: str, name: str = "") -> None:
        app, screen = self._prompt.app, self._prompt.screen

        async def save(name: str) -> None:
            try:
                await asyncio.to_thread(self._recording.annotations.keep_filter, name, text)
            except McptuiError as error:
                title = f"Filter {name} not saved"
                app.notify(clean_line(str(error), 600), title=title, severity="error")
                if screen.is_current and not self._prompt.display:
                    self._save_filter(text, name)
            else:
                self._recording.annotations.filters[name] = text
                app.notify(f"Saved as {name}.", timeout=2)

        def named(name: str) -> None:
            name = clean_line(name.strip(), 60)
            if name and name != KEEP:
                screen.run_worker(save(name), name="save a filter")

        self._prompt.ask("filter name", named, value=name)
