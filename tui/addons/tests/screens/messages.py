"""Opens the recording of a run at the messages of a case."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.core.errors import McptuiError
from tui.core.language.translate import N_, _, localized
from tui.runtime.recording_file import RecordingFile
from tui.traffic.filter.fields import written
from tui.ui.keys.bindings import overrides_of
from tui.ui.traffic.screen import TrafficScreen

if TYPE_CHECKING:
    from textual.app import App

    from tui.core.traffic import Cause
    from tui.runtime.runtime import Runtime

NOT_RECORDED = N_("The run was not recorded: record = false in [traffic].")


async def show_messages(
    app: "App[Any]", runtime: "Runtime", recording: str, call: str, *, turn: int = 0
) -> None:
    """Open the traffic of a recording with the messages of a call or turn, or say why that is impossible."""
    if not recording:
        app.notify(_(NOT_RECORDED), timeout=5)
        return
    try:
        file = await asyncio.to_thread(RecordingFile, Path(recording), runtime.redactor.redact)
    except McptuiError as error:
        app.notify(localized(error), severity="warning", markup=False)
        return
    file.start()
    filter = f"call:{written(call)}" if call else f"turn:{turn}" if turn else ""
    screen = TrafficScreen(file.recording, overrides_of(app), filter)

    def left(_cause: "Cause | None") -> None:
        app.run_worker(asyncio.to_thread(file.close), name="close a recording")

    app.push_screen(screen, left)
    screen.call_after_refresh(file.painted)
