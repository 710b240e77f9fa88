"""The files that a run writes, reports and a recording: each its own, and none that the user needs."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from tui.addons.tests.suite.case import ENDING
from tui.core.errors import UsageError
from tui.core.text import clean_line

RECORDING = ".mcptrace"


def require_own_files(written: Sequence[tuple[str, str]], suites: Iterable[Path]) -> None:
    """Raise UsageError if one of the files that options name is one that the user needs, or is named twice.

    `written` are options with the file as it was typed: ("--report", "out.xml").
    """
    from tui.addons.tests.contract.lock import is_lock

    taken: dict[str, str] = {}
    tests = {os.path.realpath(path) for path in suites}
    for option, typed in written:
        path = Path(os.path.expanduser(typed))
        real, where = os.path.realpath(path), f"{option} {clean_line(typed, 400)}"
        is_test = real in tests or any(name.lower().endswith(ENDING) for name in (path.name, real))
        is_contract = path.is_file() and is_lock(path)  # a pipe is not read
        what = "a test file" if is_test else "the lock of a contract" if is_contract else ""
        if option == "--report" and real.endswith(RECORDING):
            what = "a recording"
        if what:
            step = "Name another file."
            raise UsageError(f"this is {what}, which is not overwritten.", where=where, next_step=step)
        is_device = os.path.exists(real) and not os.path.isfile(real)
        if real in taken and not is_device:
            raise UsageError(
                f"the same file as {taken[real]}.", where=where, next_step="Give each a file of its own."
            )
        taken[real] = where
