"""What is in an export, in numbers."""

from tui.core.traffic import Direction, Entry, Kind, Redaction
from tui.storage.exports.placeholders import ExportContents, named_servers


def entry(seq: int, source: str, redacted: int = 0) -> Entry:
    marks = tuple(Redaction(number, number + 1, "KEY") for number in range(redacted))
    return Entry(seq, 0, 0, source, Direction.OUT, Kind.REQUEST, redactions=marks)


def test_entries_servers_models_and_redacted_values_are_counted_once():
    contents = ExportContents()
    for one in (entry(1, "a"), entry(2, "b", 2), entry(2, "b", 2), entry(3, "model:m", 1), entry(4, "")):
        contents.see(one)
    assert contents.words() == "4 entries, from the servers “a” and “b”, 1 model, 3 redacted values"


def test_no_entries_and_one_entry_are_described():
    contents = ExportContents()
    assert contents.words() == "0 entries, 0 redacted values"
    contents.see(entry(1, "a", 1))
    assert contents.words() == "1 entry, from the server “a”, 1 redacted value"


def test_results_and_argument_values_are_counted_and_servers_named():
    contents = ExportContents()
    body = b'{"method":"tools/call","params":{"name":"t","arguments":{"a":1,"b":["x",{"c":null}]}}}'
    call = entry(1, "a")._replace(method="tools/call", body=body)
    for one in (call, call._replace(seq=2, body=b"[cut"), entry(3, "a")._replace(kind=Kind.RESPONSE)):
        contents.see(one)
    assert (
        contents.words() == "3 entries, 1 result, 4 argument values, from the server “a”, 0 redacted values"
    )


def test_of_many_servers_five_are_named_and_the_rest_counted():
    assert named_servers("gfedcba") == "from the servers “a”, “b”, “c”, “d”, “e” and 2 more"
