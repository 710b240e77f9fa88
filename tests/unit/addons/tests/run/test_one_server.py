"""The server of a command that makes calls of its own."""

from argparse import Namespace

import pytest

from tui.addons.tests.run.one_server import file_and_words, server_options
from tui.core.errors import UsageError


def arguments(server: str | None = None, command: tuple[str, ...] = ()) -> Namespace:
    return Namespace(server=server, live_command=[*command], command="test")


def test_a_test_file_is_told_from_other_words():
    assert file_and_words(["get_weather", "a.mcp.toml", "city=Rome"]) == (
        "a.mcp.toml",
        ["get_weather", "city=Rome"],
    )
    assert file_and_words(["get_weather"]) == ("", ["get_weather"])


def test_two_test_files_name_no_server():
    with pytest.raises(UsageError, match="one test file names the server, not 2"):
        file_and_words(["a.mcp.toml", "b.mcp.toml"])


def test_a_command_or_a_url_is_the_only_server():
    made = server_options(arguments(command=("python", "server.py")), "--fuzz").server
    assert made is not None and made.args == ("server.py",)
    remote = server_options(arguments("https://mcp.example.com/mcp"), "--fuzz").server
    assert remote is not None and remote.url == "https://mcp.example.com/mcp"


def test_a_configured_server_and_that_of_a_file_come_later():
    assert server_options(arguments("weather"), "--fuzz").server is None
    assert server_options(arguments(), "--fuzz", "a.mcp.toml").server is None


def test_exactly_one_server_is_required():
    with pytest.raises(UsageError, match="--load needs a server"):
        server_options(arguments(), "--load")
    with pytest.raises(UsageError, match="--server cannot be combined"):
        server_options(arguments("weather", ("python",)), "--load")
