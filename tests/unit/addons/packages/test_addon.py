"""The options of `mcptui add` and `mcptui search`."""

import pytest

from tui.commands.command_line import build_parser


@pytest.mark.parametrize("limit", ["0", "x", "-1", "2001"])
def test_a_limit_must_be_an_integer(limit: str):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["search", "x", f"--limit={limit}"])
