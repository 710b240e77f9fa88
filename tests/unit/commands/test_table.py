"""Tables on the command line are aligned by the cells of the terminal."""

from tui.commands.table import table


def test_columns_after_wide_characters_and_emoji_are_aligned():
    rows = [("server", "calls", "tool"), ("天气服务", "1", "f"), ("👩‍👩‍👧", "12", "g")]
    lines = ["server    calls  tool", "天气服务      1  f", "👩‍👩‍👧           12  g"]
    assert table(rows, left={0, 2}).splitlines() == lines
