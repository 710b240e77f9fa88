"""The user's marks, notes and saved filters for a recording, changed on the traffic screen."""

import asyncio
from typing import TYPE_CHECKING

from textual.content import Content

from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.traffic.filter.query import parse

if TYPE_CHECKING:
    from tui.ui.traffic.screen import TrafficScreen

KEEP = "+"
"""Entry of the list of saved filters that saves the active one."""


def toggle_mark(screen: "TrafficScreen") -> None:
    """Mark the selected entry, or unmark it."""
    recording, index = screen.recording, screen.list.index
    if not screen.list.chosen() or index < 0:
        return
    entries = recording.entries
    marked = not entries.marked[index]
    entries.mark(index, marked)
    recording.keep_mark(entries.seq(index), marked)
    screen.list.tick()


def edit_note(screen: "TrafficScreen") -> None:
    """Ask for the note on the selected entry."""
    recording, seq = screen.recording, screen.list.chosen()
    notes = recording.notes
    if not seq:
        return

    def keep(text: str) -> None:
        text = recording.redact(text.strip())
        if text:
            notes[seq] = text
        else:
            notes.pop(seq, None)
        recording.keep_note(seq, text)
        screen.active_filter.noted(seq)
        screen.list.repaint()
        screen.entry.reload()

    empty = "leave empty to remove the note"
    screen.prompt.ask(f"note on entry {seq}", keep, value=notes.get(seq, ""), placeholder=empty)


def choose_filter(screen: "TrafficScreen") -> None:
    """Choose a saved filter and apply it, or save the active one."""
    from tui.ui.dialogs.picker import Picker, PickerChoice

    saved, text = screen.recording.filters, screen.active_filter.query.text

    def picked(name: str | None) -> None:
        if name == KEEP:
            _save_filter(screen)
        elif name is not None:
            screen.apply_filter(parse(saved[name]))

    choices = [
        PickerChoice(name, Content(f"{name}   {clean_line(saved[name], 60)}")) for name in sorted(saved)
    ]
    if text and text not in saved.values():
        choices.append(PickerChoice(KEEP, Content(f"keep: {clean_line(text, 60)}")))
    note = "No saved filters yet. Filter with /, then save the filter here."
    screen.app.push_screen(Picker("Saved filters", choices, note=note), picked)


def _save_filter(screen: "TrafficScreen", name: str = "") -> None:
    async def save(name: str, text: str) -> None:
        try:
            await asyncio.to_thread(screen.recording.keep_filter, name, text)
        except McptuiError as error:
            title = f"Filter {name} not saved"
            screen.notify(clean_line(str(error), 600), title=title, severity="error")
            if screen.is_current and not screen.prompt.display:
                _save_filter(screen, name)
        else:
            screen.recording.filters[name] = text
            screen.notify(f"Saved as {name}.", timeout=2)

    def named(name: str) -> None:
        name = clean_line(name.strip(), 60)
        if name and name != KEEP:
            screen.run_worker(save(name, screen.active_filter.query.text), name="save a filter")

    screen.prompt.ask("filter name", named, value=name)
