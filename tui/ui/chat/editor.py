"""Edits the message, or a file, in the user's editor, which gets the terminal meanwhile."""

import asyncio
import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from textual.app import SuspendNotSupported

from tui.core.errors import McptuiError, reason_of
from tui.core.language.translate import message
from tui.core.programs import find_program
from tui.settings.files import Unreadable, read_bytes
from tui.ui.chat.regions import Regions
from tui.ui.keys.action_table import Context

MOST_BYTES = 8 * 1024 * 1024
STOP_SECONDS = 0.3
"""Seconds that an editor has to exit when mcptui quits."""

_USUAL = ("nano", "vi", "notepad")


def editor_of(env: Mapping[str, str]) -> list[str]:
    """Return the command in `$VISUAL` or `$EDITOR`, or a common editor; raises `McptuiError` without one."""
    written = env.get("VISUAL", "").strip() or env.get("EDITOR", "").strip()
    try:
        command = shlex.split(written) if os.name == "posix" else written.split()
    except ValueError as error:
        problem = message("invalid command: {reason}", reason=reason_of(error))
        raise McptuiError(problem, where="$EDITOR") from error
    if not command:
        command = [found for found in _USUAL if find_program(found)][:1]
    if not command or not find_program(command[0]):
        what = message("no editor found")
        if command:
            what = message("program {program} not found", program=command[0])
        raise McptuiError(what, next_step=message("Set EDITOR."))
    return command


async def edited(text: str, env: Mapping[str, str]) -> str:
    """Open `text` in the user's editor, which takes over the terminal; return the text that was saved.

    The file is readable by its owner only, and is deleted afterwards with all files that the editor created
    next to it. Cancelling stops the editor. Raises `McptuiError` if it did not start, failed, or left no
    text.
    """
    command = editor_of(env)
    folder, path = await asyncio.to_thread(_file_with, text)
    with folder:
        await edit_file(path, command, unchanged := message("The message is unchanged."))
        try:
            raw = await asyncio.to_thread(read_bytes, path, MOST_BYTES)
        except (OSError, Unreadable) as error:
            words = message("cannot read the edited message: {reason}", reason=reason_of(error))
            raise McptuiError(words, where=command[0], next_step=unchanged) from error
    return raw.decode("utf-8", "replace").replace("\r\n", "\n").replace("\0", "").rstrip("\n")


async def edit_file(path: Path, command: list[str], otherwise: str) -> None:
    """Run the editor on a file. It needs the terminal. Cancelling stops the editor.

    Raises `McptuiError`, with `otherwise` as its next step, if it did not start or failed.
    """
    with _terminal_kept():
        try:
            # Descriptor 2 is /dev/null while the app draws; the editor's errors must reach the terminal.
            program = find_program(command[0]) or command[0]
            process = await asyncio.create_subprocess_exec(program, *command[1:], str(path), stderr=1)
        except OSError as error:
            problem = message("cannot start: {reason}", reason=reason_of(error))
            raise McptuiError(problem, where=command[0]) from error
        try:
            code = await process.wait()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.terminate()
                    try:
                        await asyncio.wait_for(process.wait(), STOP_SECONDS)
                    except TimeoutError:
                        process.kill()
                        await process.wait()
    if code:
        problem = message("exited with code {code}.", code=code)
        raise McptuiError(problem, where=os.path.basename(command[0]), next_step=otherwise)


def _file_with(text: str) -> tuple[TemporaryDirectory[str], Path]:
    """Return a private directory (0700) and a file in it (0600) with the text."""
    try:
        folder = TemporaryDirectory(prefix="mcptui-", ignore_cleanup_errors=True)
        path = Path(folder.name, "message.md")
        path.touch(0o600, exist_ok=False)
        path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        problem = message("cannot write the message to a file: {reason}", reason=reason_of(error))
        raise McptuiError(problem) from error
    return folder, path


@contextlib.contextmanager
def _terminal_kept() -> Iterator[None]:
    if sys.platform == "win32" or not os.isatty(0):
        yield
        return
    import termios

    before = termios.tcgetattr(0)
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(0, termios.TCSANOW, before)


class EditorSession:
    """Lends the terminal to the user's editor, one at a time; `has_terminal` while the editor uses it."""

    def __init__(self, regions: Regions) -> None:
        self._regions = regions
        self._task: asyncio.Task[None] | None = None
        self.has_terminal = False

    def open(self) -> None:
        self.begin(self._edit)

    def begin(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start work that uses `lent`, unless an editor is open; its errors are shown."""
        if self._task is None or self._task.done():
            self._task = self._regions.start(work(), "editor")

    def stop(self, then: Callable[[], object]) -> bool:
        """Stop the editor and call `then` once it has ended; return False if none is open."""
        if self._task is None or not self._task.cancel():
            return False
        self._task.add_done_callback(lambda _: then())
        return True

    async def _edit(self) -> None:
        composer = self._regions.composer
        before = composer.text
        text = written = composer.pastes.expand(before, attached=False)
        with self.lent():
            text = await edited(written, os.environ)
        if text != written:
            typed_ahead = composer.text.removeprefix(before)
            composer.show("")
            composer.put_back(text)
            composer.insert(typed_ahead)
        self._regions.go_to(Context.COMPOSER)

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Lend the terminal in this context. Its errors are raised once the terminal is back."""
        app = self._regions.screen.app
        self.has_terminal = True
        failure: BaseException | None = None
        try:
            # Without the batch, a repaint would wait for the terminal forever (measured).
            with app.suspend(), app.batch_update():
                try:
                    yield
                except (Exception, asyncio.CancelledError) as error:
                    # Raised only now that the terminal is ours again: Textual's `suspend` has no finally.
                    failure = error
        except SuspendNotSupported:
            failure = McptuiError(message("this terminal does not support an editor"))
        finally:
            self.has_terminal = False
        app.refresh(layout=True)
        if failure is not None:
            raise failure
