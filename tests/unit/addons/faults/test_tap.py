"""The options of `mcptui tap` for faults and breakpoints."""

import pytest

from tui.commands.tap.tap import USAGE, parse_tap, tap


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fault", "nonsense"], "--fault: "),
        (["--hold"], "a command is required"),
        ([], "a command is required"),
    ],
)
def test_what_cannot_be_run_is_a_usage_error(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tap(parse_tap(options)) == USAGE
    assert said in capsys.readouterr().err
