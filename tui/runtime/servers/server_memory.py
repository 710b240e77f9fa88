"""What is known of servers from earlier runs: tasks, eras, accepted definitions."""

from tui.core.definitions.accepted import DefinitionBook
from tui.core.secrets.redact import Redactor
from tui.core.secrets.redact_json import without_secrets
from tui.core.servers import EraBook
from tui.core.tasks import TaskBook
from tui.settings.locations import state_dir
from tui.settings.state.stored_definitions import StoredDefinitions
from tui.settings.state.stored_eras import StoredEras
from tui.settings.state.stored_tasks import StoredTasks


class ServerMemory:
    """The books of servers, each over a file of its own in the state folder; nothing is read yet.

    Attributes:
        tasks: that servers still work on.
        eras: of the protocol that servers spoke.
        definitions: what tools said of themselves when they were accepted.
    """

    def __init__(self, redactor: Redactor) -> None:
        tasks, eras = StoredTasks(state_dir() / "tasks.json"), StoredEras(state_dir() / "eras.json")
        definitions = StoredDefinitions(
            state_dir() / "definitions", lambda value: without_secrets(value, redactor.redact_spoken)
        )
        self.tasks = TaskBook(tasks)
        self.eras = EraBook(eras)
        self.definitions = DefinitionBook(definitions)
        self._files = (tasks, eras, definitions)

    def close(self) -> None:
        """Wait until everything is written."""
        for file in self._files:
            file.close()
