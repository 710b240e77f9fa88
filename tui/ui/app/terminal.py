"""Runs an app on the terminal: ownership, signals, and restoring the screen. The owner is outside the app.

It creates the app with a runtime, waits for it to leave the screen, then stops the turn and the servers in
bounded time. Textual alone would die on these signals without leaving full-screen mode, and would abort the
cleanup inside the app (measured).
"""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from tui.core.text import clean_line
from tui.runtime.signals import on_signals
from tui.ui.platform.memory import SWITCH_SECONDS
from tui.ui.platform.output import screen_of_our_own

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime
    from tui.traffic.record.open_recording import Recording
    from tui.ui.app.app import McptuiApp
    from tui.ui.app.traffic_app import TrafficApp

SHUTDOWN_SECONDS = 9.0
"""More than the host needs in the worst case (7 s): only a last resort."""

PATIENCE_SECONDS = 0.5
"""A shutdown that takes longer is announced."""


def run_app(
    make_runtime: "Callable[[], Runtime]",
    *,
    theme: str,
    keys: Mapping[str, str | Sequence[str]],
    ambiguous_width: int | None = None,
) -> int:
    """Run the full-screen app on this terminal, which must be its input and output; return the exit code.

    The exit code is 0 after quitting, 128 + n after signal n, and as for a command 70 after a defect, whose
    report is in a file named on stderr. `make_runtime` is called once, in a thread, after the first frame.
    """
    from tui.ui.app.app import McptuiApp

    made: list[Runtime] = []

    def make() -> "Runtime":
        made.append(make_runtime())
        return made[0]

    return _run(McptuiApp(make, theme=theme, keys=keys), made, ambiguous_width)


def run_traffic(
    recording: "Recording",
    *,
    theme: str,
    keys: Mapping[str, str | Sequence[str]],
    save_theme: Callable[[str], Awaitable[None]],
    painted: Callable[[], None],
    ambiguous_width: int | None = None,
) -> int:
    """Show a recording on this terminal and return the exit code, like `run_app`.

    `painted` is called once the first entries are on the screen.
    """
    from tui.ui.app.traffic_app import TrafficApp

    app = TrafficApp(recording, theme=theme, keys=keys, save_theme=save_theme, painted=painted)
    return _run(app, (), ambiguous_width)


def _run(app: "McptuiApp | TrafficApp", made: "Sequence[Runtime]", ambiguous_width: int | None) -> int:
    app.ambiguous_width = ambiguous_width
    with suppress(ImportError):  # Windows, or a Textual without the private modules that it needs
        from tui.ui.platform.driver import RobustDriver

        app.driver_class = RobustDriver
    sys.setswitchinterval(SWITCH_SECONDS)
    code = 0
    with screen_of_our_own() as screen:
        try:
            code = asyncio.run(_own(app, made, screen))
        except Exception as error:  # an error of the loop, or of a task that it cancelled
            app.note_crash(error)
    if app.crash is None:
        return code
    from tui.runtime.crash_report import EXIT_CODE, report_crash

    report_crash(
        app.crash,
        during=app.crash_place,
        env=os.environ,
        stream=sys.stderr,
        redactor=made[0].redactor if made else None,
        ended="Servers were stopped." if made else "",
        servers=[line for runtime in made for line in _server_lines(runtime)],
    )
    return EXIT_CODE


def _server_lines(runtime: "Runtime") -> Iterator[str]:
    for one in runtime.host.statuses():
        where = one.spec.transport.value
        yield clean_line(f"{one.name}  {where}  {one.protocol}  {one.reason or one.state}  {one.detail}", 400)


async def _own(app: "McptuiApp | TrafficApp", made: "Sequence[Runtime]", screen: TextIO) -> int:
    codes: list[int] = []
    hurry: list[asyncio.Future[None]] = []

    def signalled(number: int) -> None:
        """End the app at the first signal. Speed up stopping the servers at the second one."""
        keyed = (signal.SIGINT, getattr(signal, "SIGQUIT", None))
        if number in keyed and getattr(app, "lends_terminal", False):
            return  # ctrl+c or ctrl+\ in the editor that uses the terminal
        codes.append(128 + number)
        if len(codes) == 1:
            app.exit(return_code=codes[0])
        elif made and not hurry:
            hurry.append(asyncio.ensure_future(made[0].shutdown()))

    with on_signals(signalled):
        try:
            await _unless_it_fails(app, app.run_async())
        finally:
            await _unless_it_fails(app, app.close())
            for runtime in made:
                await _unless_it_fails(app, _shut_down(runtime, screen))
                screen.write(_last_line(runtime))
                screen.flush()
    return codes[0] if codes else app.return_code or 0


async def _unless_it_fails(app: "McptuiApp | TrafficApp", step: Awaitable[object]) -> None:
    """Wait for a step. If it fails, the next step still runs, and the app ends with the error."""
    try:
        await step
    except Exception as error:
        app.note_crash(error)


async def _shut_down(runtime: "Runtime", screen: TextIO) -> None:
    work = asyncio.create_task(runtime.shutdown(), name="shut down")
    done, _ = await asyncio.wait({work}, timeout=PATIENCE_SECONDS)
    if not done:
        screen.write("mcptui: stopping servers…")
        screen.flush()
        done, _ = await asyncio.wait({work}, timeout=SHUTDOWN_SECONDS - PATIENCE_SECONDS)
        screen.write(" done\n" if done else " timed out\n")
        screen.flush()
    if not done:
        work.cancel()
        await asyncio.wait({work}, timeout=1.0)
    elif not work.cancelled() and (error := work.exception()) is not None:
        raise error


def _last_line(runtime: "Runtime") -> str:
    """Return a line that says what was not saved, or else how to resume this run's session, or ""."""
    if not runtime.is_ready:
        return ""
    info = runtime.conversations.info if runtime.conversations.messages else None
    told = (
        ("Some messages were not saved", runtime.unsaved if runtime.conversations.messages else ""),
        ("Traffic was not recorded", runtime.unrecorded),
        ("Some decisions were not recorded", runtime.decisions.problem),
    )
    resume = (
        f"Resume this conversation: mcptui --session {shlex.quote(info.id)}\n" if info is not None else ""
    )
    return next((f"mcptui: {clean_line(f'{what}: {why}', 400)}.\n" for what, why in told if why), resume)
