"""What is in an export, in numbers."""

from tui.core.traffic import Direction, Entry, Kind, Redaction
from tui.storage.exports.contents import ExportContents


def entry(seq: int, source: str, redacted: int = 0) -> Entry:
    marks = tuple(Redaction(number, number + 1, "KEY") for number in range(redacted))
    return Entry(seq, 0, 0, source, Direction.OUT, Kind.REQUEST, redactions=marks)


def test_entries_servers_models_and_redacted_values_are_counted_once():
    contents = ExportContents()
    for one in (entry(1, "a"), entry(2, "b", 2), entry(2, "b", 2), entry(3, "model:m", 1), entry(4, "")):
        contents.see(one)
    assert contents.words() == "4 entries, 2 servers, 1 model, 3 redacted values"


def test_nothing_and_one():
    contents = ExportContents()
    assert contents.words() == "0 entries, 0 redacted values"
    contents.see(entry(1, "a", 1))
    assert contents.words() == "1 entry, 1 server, 1 redacted value"
