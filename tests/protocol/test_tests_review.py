"""`mcptui test --review` without a terminal."""

from pathlib import Path

from tests.protocol.command import mcptui
from tests.protocol.suites import THREE, suite


async def test_review_without_a_terminal_is_a_sentence_and_nothing_is_run(tmp_path: Path) -> None:
    file = suite(tmp_path, THREE)
    done = await mcptui("test", str(file), "--review", "--trust-config")
    assert done.code == 2
    assert "there is no terminal to ask on" in done.err
    assert done.out == ""
