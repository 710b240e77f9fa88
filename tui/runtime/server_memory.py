"""The memory of servers across runs: tasks, eras, accepted definitions."""

from tui.core.permission.definitions import KnownDefinitions
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import without_secrets
from tui.core.servers import KnownEras
from tui.core.tasks import KnownTasks
from tui.settings.locations import state_dir
from tui.settings.state.permission.stored_definitions import StoredDefinitions
from tui.settings.state.stored_eras import StoredEras
from tui.settings.state.stored_tasks import StoredTasks


class ServerMemory:
    """The memory of servers, each part in its own file in the state folder. Nothing is read yet.

    Attributes:
        tasks: still running on servers.
        eras: the protocol era of each server.
        definitions: the accepted definitions of tools.
    """

    def __init__(self, redactor: Redactor) -> None:
        tasks, eras = StoredTasks(state_dir() / "tasks.json"), StoredEras(state_dir() / "eras.json")
        definitions = StoredDefinitions(
            state_dir() / "definitions", lambda value: without_secrets(value, redactor.redact_spoken)
        )
        self.tasks = KnownTasks(tasks)
        self.eras = KnownEras(eras)
        self.definitions = KnownDefinitions(definitions)
        self._files = (tasks, eras, definitions)

    def close(self) -> None:
        """Wait until everything is written."""
        for file in self._files:
            file.close()
