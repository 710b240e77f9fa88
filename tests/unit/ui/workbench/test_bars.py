"""The title line of the workbench."""

from tui.core.servers import ServerSpec, ServerState, ServerStatus
from tui.ui.workbench.bars import title_rows


def test_the_title_shows_injected_faults():
    spec = ServerSpec("a", "x")
    status = ServerStatus("a", spec, ServerState.RUNNING, fault_rules=("repeat",), injected=3)
    _, right = title_rows("a", status, 0, str)
    assert ("faults: 1 rule, 3 injected   ", "warn") in right
