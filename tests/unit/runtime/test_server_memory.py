"""Facts about servers, kept between runs."""

from tui.core.secrets.redact import Redactor
from tui.core.servers import Era
from tui.runtime.server_memory import ServerMemory


def test_the_era_of_a_server_is_loaded_in_the_next_run() -> None:
    memory = ServerMemory(Redactor())
    memory.eras.connected("0" * 16, Era(modern=False, version="1.0"))
    memory.close()
    assert ServerMemory(Redactor()).eras.find("0" * 16) == Era(modern=False, version="1.0")


def test_without_a_file_the_era_of_a_server_is_unknown() -> None:
    memory = ServerMemory(Redactor())
    assert memory.eras.find("0" * 16) is None
    memory.close()
