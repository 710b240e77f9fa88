"""The options of `mcptui add` and `mcptui search`."""

import pytest

from tui.commands.command_line import build_parser


def test_search_accepts_words_and_a_limit():
    args = build_parser().parse_args(["search", "error", "tracking", "--limit", "5"])
    assert (args.words, args.limit, args.registry) == (["error", "tracking"], 5, None)


@pytest.mark.parametrize("limit", ["0", "x", "-1", "2001"])
def test_a_limit_must_be_an_integer(limit: str):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["search", "x", f"--limit={limit}"])


def test_add_accepts_values_before_the_name():
    args = build_parser().parse_args(["add", "--set", "a=1", "--as", "npm", "--yes", "io.x/y"])
    assert (args.set, args.kind, args.yes, args.target) == (["a=1"], "npm", True, ["io.x/y"])
