"""What the tools of one `mcptui agent` share: the configuration, the redactor, the thread that reads."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from tui.addons.agent.opened import OpenRecordings
from tui.commands.recordings import newest, recordings
from tui.core.errors import ConfigError, StorageError
from tui.core.secrets.commands_and_urls import secrets_in_environment
from tui.core.secrets.redact import Redactor
from tui.runtime.recording import RunRecording
from tui.settings.config_file import ConfigFile
from tui.settings.locations import state_dir

if TYPE_CHECKING:
    from tui.addons.agent.opened import OpenTraffic
    from tui.core.files import Stamp
    from tui.core.traffic import Captured
    from tui.settings.load import Loaded

T = TypeVar("T")

COMMAND = "agent"
"""The command in the meta of an agent's own recording, which no tool reads unless it is named."""


class AgentContext:
    """Owns what outlives a call of a tool. `kept` are recording and entry of the agent's last `call_tool`.

    `refused` says which running mcptui refuses agents and why, if one did when they were last looked for.
    `client` is the name of the agent, "" before its first call. `recording` is the one to read unless another
    is named, None for the newest. Recordings are read in one thread, because a reader is for one thread.
    """

    def __init__(self, config: str | None, recording: str | None) -> None:
        self.client = self.refused = ""
        self.kept: tuple[str, int] = "", 0
        self.recording = recording
        self.redactor = Redactor(secrets_in_environment(os.environ))
        self.config = config
        self._file = ConfigFile(config, os.environ)
        self._loaded: Loaded | None = None
        self._stamp: Stamp = None
        self._own = RunRecording(lambda: self.redactor)
        self._is_linting = self._is_recorded = False
        self._opened = OpenRecordings()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="mcptui-agent")

    async def reading(self, work: Callable[[], T]) -> T:
        """Run what reads in the reading thread, with the secrets of the current configuration known."""

        def run() -> T:
            self.loaded()
            try:
                return work()
            finally:
                if not self._is_linting:
                    self._is_linting = True
                    self._thread.submit(self._lint_ahead)

        return await asyncio.get_running_loop().run_in_executor(self._thread, run)

    def _lint_ahead(self) -> None:
        """Lint the recording that was read, part by part, while no question waits."""
        try:
            more = self._opened.lint_ahead()
        except StorageError:  # the tool that needs it says why
            more = False
        self._is_linting = more
        if self._is_linting:
            self._thread.submit(self._lint_ahead)

    def loaded(self) -> "Loaded":
        """Return the configuration as it is now, and redact its secrets. For the reading thread."""
        stamp = self._file.stamp()
        if self._loaded is None or stamp != self._stamp:
            self._loaded, self._stamp = self._file.read(), stamp
            self.redactor.add(self._loaded.secrets)
            servers = self._loaded.settings.servers
            self.redactor.arguments.set_rules({name: one.secret_arguments for name, one in servers.items()})
        return self._loaded

    def traffic(self, name: str | None) -> "OpenTraffic":
        """Return a recording, read to its end. For the reading thread. Raises McptuiError."""
        name = name or self.recording
        if name is None:
            return self._opened.get(newest(without=COMMAND).kept.path, self.redactor)
        return self._opened.get(recordings().find(name), self.redactor)

    async def begin(self) -> None:
        """Raise ConfigError if the configuration cannot be read: its secrets would not be known."""
        loaded = await self.reading(self.loaded)
        if loaded.errors and not (loaded.readable and loaded.exists):
            raise ConfigError(str(loaded.errors[0]))

    def begin_recording(self) -> None:
        """Record what the agent asks and gets, also what it has so far, unless the configuration says no."""
        if not self._is_recorded and self._loaded is not None:
            self._is_recorded = True
            self._own.start(self._loaded.settings.traffic, state_dir() / "recordings", command=COMMAND)

    @property
    def config_path(self) -> str:
        return os.path.abspath(self._file.path)

    def record(self, captured: "Captured") -> None:
        self._own(captured)

    def close(self) -> None:
        """Close what is open, which ends linting, and end the recording."""
        self._thread.submit(self._opened.close)
        self._thread.shutdown()
        self._own.close()
