"""The command line of `mcptui dev`."""

import pytest

from tests.protocol.command import in_this_process


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "expected a URL, or a command after --."),
        (("server.py",), "“server.py” is not a URL."),
        (("--", "https://example.com/mcp"), "expected a command after --, not a URL."),
        (("--", "python", "server.py"), "stdin and stdout must be a terminal."),
    ],
)
def test_a_wrong_command_line_says_what_is_expected(words: tuple[str, ...], said: str):
    done = in_this_process(["dev", *words])
    assert done.code == 2 and said in done.err
