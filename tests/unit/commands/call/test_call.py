"""The commands before a server is started. The rest is in tests/protocol/test_call_command.py."""

import json

from tui.cli import main


def test_an_invalid_command_line_is_reported_on_stderr_and_with_json_on_stdout_too(capsys):
    assert main(["call", "weather", "--json"]) == 2
    told = capsys.readouterr()
    assert json.loads(told.out)["message"] == "the tool is required." and "Usage: mcptui call" in told.err


def test_unreadable_arguments_start_no_server(capsys):
    assert main(["call", "weather", "get_weather", "--args", "@/dev/null"]) == 2
    assert capsys.readouterr().err.startswith("mcptui: --args @/dev/null: cannot read the arguments")
