"""Options of `mcptui tap`."""

import argparse

import pytest

from tui.commands.tap.tap import fill_tap


def parsed(*args: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    fill_tap(parser)
    return parser.parse_args(args)


def test_a_port_is_a_number_and_zero_is_any_free_port() -> None:
    assert [parsed("--listen", given).listen for given in ("0", "8766", "65535")] == [0, 8766, 65535]


@pytest.mark.parametrize("given", ["x", "-1", "65536", "8_0", "٣", "9" * 5_000])
def test_another_port_is_refused_with_the_range(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(f"--listen={given}")
    assert "must be a port from 0 to 65535 (0: any free port)" in capsys.readouterr().err
