import argparse
from pathlib import Path

import pytest

from tui.addons.tests.python.init import init, places_of
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec


def arguments(*words: str, server: str = "", command: tuple[str, ...] = ()) -> argparse.Namespace:
    return argparse.Namespace(words=list(words), server=server, live_command=list(command))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (arguments("a.mcp.toml", "b.mcp.toml", server="x"), "one file"),
        (arguments(server="x", command=("y",)), "cannot be combined"),
        (arguments("a.mcp.toml"), "needs a server"),
    ],
)
def test_contradicting_arguments_are_refused_before_anything_starts(args: argparse.Namespace, said: str):
    with pytest.raises(UsageError, match=said):
        init(args)


def test_folders_that_the_command_names_are_expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert str(tmp_path) in places_of(ServerSpec("a", "python", ("server.py",)))
    assert str(tmp_path) not in places_of(ServerSpec("a", "server", (f"{tmp_path}/data",)))
    monkeypatch.setenv("SHELL", "/bin/zsh")
    assert {"/bin/zsh", "zsh"} <= {*places_of(ServerSpec("a", "python", ("server.py",)))}
