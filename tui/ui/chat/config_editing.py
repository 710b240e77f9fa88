"""Edits the configuration file in the user's editor, and applies it when saved."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tui.core.text import clean_line
from tui.core.units import plural
from tui.ui.chat.composer.editor import EditorSession, edit_file, editor_of
from tui.ui.chat.regions import Regions

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime
    from tui.settings.problems import Problem
    from tui.ui.chat.current_conversation import OpenDialog

MOST_ERRORS = 5

ApplyUi = Callable[[str, Mapping[str, Sequence[str]]], Sequence["Problem"]]
"""Takes theme and keys; returns their problems."""


class ConfigEditing:
    """Opens the configuration file in the user's editor, and applies it once the editor has ended.

    If it has errors, they are shown with their lines, and the previous configuration stays in use.
    """

    def __init__(
        self,
        runtime: "Runtime",
        regions: Regions,
        editor: EditorSession,
        open_dialog: "OpenDialog",
        apply_ui: ApplyUi,
    ) -> None:
        self._runtime = runtime
        self._regions = regions
        self._editor = editor
        self._open_dialog = open_dialog
        self._apply_ui = apply_ui

    def open(self) -> None:
        if self._runtime.is_ready:
            self._editor.begin(self._edit)

    def reload(self) -> None:
        """Apply the file on disk."""
        if self._runtime.is_ready:
            self._regions.screen.run_worker(self._apply(), name="reload the configuration")

    async def _edit(self) -> None:
        config, command = self._runtime.configuration.file, editor_of(os.environ)
        path = config.path
        is_new = await asyncio.to_thread(config.begin)
        before = config.stamp()
        try:
            await self._editor.lend(lambda: edit_file(path, command, "The configuration was not reloaded."))
        finally:
            unchanged = config.stamp() == before
            if is_new and unchanged:
                path.unlink(missing_ok=True)
        if unchanged:
            self._regions.notify("Configuration unchanged.", timeout=3)
        else:
            await self._apply()

    async def _apply(self) -> None:
        found = await self._runtime.configuration.reload()
        if found.errors:
            self._say_errors(found.errors)
            return
        problems = self._apply_ui(found.ui.theme, found.ui.keys)
        notes = [*found.notes, *self._runtime.configuration.located(problems)]
        text = " ".join(("Configuration reloaded.", *notes))
        self._regions.notify(clean_line(text, 800), timeout=8 if notes else 3)

    def _say_errors(self, errors: Sequence[str]) -> None:
        from tui.ui.dialogs.confirm import Confirm

        shown = [clean_line(error, 400) for error in errors[:MOST_ERRORS]]
        if len(errors) > MOST_ERRORS:
            shown.append(f"and {plural(len(errors) - MOST_ERRORS, 'more error')}")
        dialog = Confirm(
            "The configuration has errors. The previous one is still in use.",
            yes="edit again",
            no="close",
            about="\n".join(shown),
        )
        self._open_dialog(dialog, lambda again: self.open() if again else None)
