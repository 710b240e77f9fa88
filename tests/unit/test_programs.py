"""Programs that tests start as forks."""

import os
from pathlib import Path

from tests import conftest, programs


def test_the_leak_check_detects_a_fork(fork_server: None, tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text("input()")
    server = programs.fork_server
    assert server is not None
    read, write = os.pipe()
    program = programs.ForkedProgram(
        programs.start_fork(server.path, [str(script)], os.environ, (read, 1, 2))
    )
    os.close(read)
    assert program.pid in conftest._children({server.pid})
    os.write(write, b"\n")
    os.close(write)
    assert program.wait(30) == 0
