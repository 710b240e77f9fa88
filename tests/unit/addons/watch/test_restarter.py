"""What taps that restart their server have in common."""

from argparse import Namespace

import pytest

from tui.addons.watch.restarter import why_failed
from tui.addons.watch.tap_watch import tap_part


def test_a_host_is_told_which_files_have_changed():
    files = [f"/src/{name}.py" for name in "abcd"]
    assert "because a.py, b.py, c.py changed" in why_failed(files)


@pytest.mark.parametrize(
    ("command", "why"),
    [("no-such-command", "cannot start no-such-command: No such file"), ("ls", "cannot tell which files")],
)
def test_a_command_without_files_says_whether_it_exists(command: str, why: str):
    with pytest.raises(ValueError, match=why):
        tap_part(Namespace(server_command=["--", command], watch=[""], listen=None, to=None))
