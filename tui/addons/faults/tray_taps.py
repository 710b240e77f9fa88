"""The held messages of taps in other processes (`mcptui tap --hold`), and how they are told what to do."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tui.addons.faults.breakpoints import HeldMessage, Patience
from tui.addons.faults.breakpoints_tap import USUAL, as_bytes, as_text
from tui.core.jsonrpc.classification import classify
from tui.core.text import text_in
from tui.core.traffic import Direction
from tui.core.units import whole
from tui.runtime.local_socket import line_of, object_of, socket_files, streams_to

FIND_SECONDS = 0.5

Do = Callable[..., None]


@dataclass(slots=True)
class TapHeld(HeldMessage):
    """A message that a tap holds."""

    deadline_ns: int
    do: Do
    is_given_up: bool = False
    is_gone: bool = False
    is_over: bool = False
    patience: Patience = USUAL

    def act(self, word: str, **what: Any) -> None:
        if word == "edit":
            self.will_send(what["sent"])
            what = {"sent": as_text(self.sent)}
        self.do(word, self.number, **what)


class Taps:
    """The taps in a folder: connected to while there is a breakpoint, or they hold something.

    `changed` is called after each change.
    """

    def __init__(self, folder: Path, changed: Callable[[], object]) -> None:
        self._folder, self._changed = folder, changed
        self._text = ""
        self._held: dict[tuple[str, int], TapHeld] = {}
        self._writers: dict[str, asyncio.StreamWriter] = {}
        self._texts: dict[str, str] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._finding: asyncio.Task[None] | None = None

    @property
    def messages(self) -> list[TapHeld]:
        return list(self._held.values())

    @property
    def is_set(self) -> bool:
        """Whether there is a tap, and all have the breakpoint."""
        return bool(self._writers) and all(self._texts.get(name) == self._text for name in self._writers)

    async def close(self) -> None:
        """Disconnect from all taps, which then pass everything."""
        tasks = [*self._tasks.values(), *([self._finding] if self._finding is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def set(self, text: str) -> None:
        """Set the breakpoint of all taps, also of those that start later."""
        self._text = text
        for name in self._writers:
            self._send(name, "set", text=text)
        if text and (self._finding is None or self._finding.done()):
            self._finding = asyncio.get_running_loop().create_task(self._find())

    async def _find(self) -> None:
        while self._text or self._held:
            for path in socket_files(self._folder):
                if path.name not in self._tasks:
                    self._tasks[path.name] = asyncio.create_task(self._follow(path.name))
            await asyncio.sleep(FIND_SECONDS)
        for writer in self._writers.values():
            writer.close()

    async def _follow(self, name: str) -> None:
        if (streams := await streams_to(self._folder / name)) is None:  # of a tap that was killed
            del self._tasks[name]
            return
        reader, writer = streams
        self._writers[name] = writer
        self._send(name, "set", text=self._text)
        try:
            while line := await reader.readline():
                self._heard(name, object_of(line))
        except (OSError, ValueError):
            pass
        finally:
            writer.close()
            del self._writers[name], self._tasks[name]
            for key in [key for key in self._held if key[0] == name]:
                self._held.pop(key).is_over = True
            self._changed()

    def _heard(self, name: str, said: Mapping[str, Any]) -> None:
        if (gone := self._held.pop((name, whole(said.get("gone")) or 0), None)) is not None:
            gone.is_over = True
        elif isinstance(text := said.get("text"), str):
            self._texts[name] = text
        elif number := whole(said.get("number")):
            if "raw" in said:
                raw = as_bytes(text_in(said, "raw"))
                method, tool = text_in(said, "method"), text_in(said, "tool")
                self._held[name, number] = TapHeld(
                    number,
                    text_in(said, "source"),
                    Direction.OUT if said.get("dir") == Direction.OUT else Direction.IN,
                    classify(raw)._replace(method=method, tool=tool),
                    raw,
                    raw,
                    whole(said.get("at")) or 0,
                    whole(said.get("deadline")) or 0,
                    partial(self._act, name),
                )
            if (held := self._held.get((name, number))) is not None:
                held.will_send(as_bytes(sent) if isinstance(sent := said.get("sent"), str) else held.raw)
                held.is_given_up = said.get("given up") is True
                held.is_gone = said.get("ended") is True
        self._changed()

    def _act(self, name: str, word: str, number: int, **what: Any) -> None:
        """Tell a tap what to do. Here, it is done at once: the next key is for the next message."""
        self._send(name, word, number=number, **what)
        if word != "edit" and (held := self._held.pop((name, number), None)) is not None:
            held.is_over = True
        self._changed()

    def _send(self, name: str, word: str, **what: Any) -> None:
        if (writer := self._writers.get(name)) is not None and not writer.is_closing():
            writer.write(line_of({"do": word, **what}))
