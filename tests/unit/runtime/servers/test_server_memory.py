"""What is known of servers outlives the process."""

from tui.core.secrets.redact import Redactor
from tui.core.servers import Era
from tui.runtime.servers.server_memory import ServerMemory


def test_what_was_learned_about_a_server_is_there_in_the_next_run() -> None:
    memory = ServerMemory(Redactor())
    memory.eras.connected("0" * 16, Era(True, "1.0"))
    memory.close()
    assert ServerMemory(Redactor()).eras.find("0" * 16) == Era(True, "1.0")


def test_nothing_is_known_before() -> None:
    memory = ServerMemory(Redactor())
    assert memory.eras.find("0" * 16) is None
    memory.close()
