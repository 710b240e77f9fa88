"""The user's marks, notes and saved filters for a recording, changed on the traffic screen."""

import asyncio
from collections.abc import Callable

from textual.content import Content

from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.traffic.filter.query import Query, parse
from tui.traffic.record.open_recording import Recording
from tui.ui.traffic.entry_list import EntryList
from tui.ui.widgets.inputs import PromptLine

KEEP = "+"
"""Entry of the list of saved filters that saves the active one."""


def toggle_mark(recording: Recording, entry_list: EntryList) -> None:
    """Mark the selected entry, or unmark it."""
    index = entry_list.index
    if not entry_list.chosen() or index < 0:
        return
    entries = recording.entries
    marked = not entries.marked[index]
    entries.mark(index, marked)
    recording.annotations.keep_note(entries.seq(index), marked, None)
    entry_list.tick()


def edit_note(
    recording: Recording, entry_list: EntryList, prompt: PromptLine, changed: Callable[[int], object]
) -> None:
    """Ask for the note on the selected entry, and call `changed` with its seq."""
    seq, notes = entry_list.chosen(), recording.annotations.notes
    if not seq:
        return

    def keep(text: str) -> None:
        text = recording.annotations.redact(text.strip())
        if text:
            notes[seq] = text
        else:
            notes.pop(seq, None)
        recording.annotations.keep_note(seq, None, text)
        entry_list.repaint()
        changed(seq)

    empty = "leave empty to remove the note"
    prompt.ask(f"note on entry {seq}", keep, value=notes.get(seq, ""), placeholder=empty)


def choose_filter(
    recording: Recording, text: str, prompt: PromptLine, apply: Callable[[Query], None]
) -> None:
    """Choose a saved filter and apply it, or save the active one, which is `text`."""
    from tui.ui.dialogs.picker import Picker, PickerChoice

    saved = recording.annotations.filters

    def picked(name: str | None) -> None:
        if name == KEEP:
            _save_filter(recording, text, prompt)
        elif name is not None:
            apply(parse(saved[name]))

    choices = [
        PickerChoice(name, Content(f"{name}   {clean_line(saved[name], 60)}")) for name in sorted(saved)
    ]
    if text and text not in saved.values():
        choices.append(PickerChoice(KEEP, Content(f"keep: {clean_line(text, 60)}")))
    note = "No saved filters yet. Filter with /, then save the filter here."
    prompt.app.push_screen(Picker("Saved filters", choices, note=note), picked)


def _save_filter(recording: Recording, text: str, prompt: PromptLine, name: str = "") -> None:
    app, screen = prompt.app, prompt.screen

    async def save(name: str) -> None:
        try:
            await asyncio.to_thread(recording.annotations.keep_filter, name, text)
        except McptuiError as error:
            title = f"Filter {name} not saved"
            app.notify(clean_line(str(error), 600), title=title, severity="error")
            if screen.is_current and not prompt.display:
                _save_filter(recording, text, prompt, name)
        else:
            recording.annotations.filters[name] = text
            app.notify(f"Saved as {name}.", timeout=2)

    def named(name: str) -> None:
        name = clean_line(name.strip(), 60)
        if name and name != KEEP:
            screen.run_worker(save(name), name="save a filter")

    prompt.ask("filter name", named, value=name)
