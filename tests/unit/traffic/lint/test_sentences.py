"""A finding without a stored sentence says what is true of its own entry."""

from tests.unit.test_docs import codes_of_the_linter
from tests.unit.traffic.traffic_script import Script
from tui.core.traffic import Direction, Entry, Finding, Severity
from tui.traffic.lint.sentences import GENERAL, sentence_of


def stored(entry: Entry, code: str, severity: Severity) -> Finding:
    return Finding(entry.seq, code, severity, "", "basic", entry.source, entry.method, 9, (1, 2, 3, 4, 5))


def test_what_is_wrong_with_an_entry_alone_is_said_of_that_entry():
    script = Script().legacy()
    script.raw(Direction.IN, b"first noise")
    late = script.raw(Direction.IN, b"late noise")
    sentence = sentence_of(stored(late, "stray-output", Severity.WARNING), late)
    assert '"late noise"' in sentence


def test_what_needs_more_than_the_entry_is_said_without_ids_and_values():
    answer = Script().legacy().raw(Direction.IN, b'{"jsonrpc":"2.0","id":"u7510","result":{}}')
    assert (
        sentence_of(stored(answer, "unknown-id", Severity.ERROR), answer) == "A response without a request."
    )


def test_another_severity_is_another_finding():
    entry = Script().legacy().raw(Direction.IN, b"noise")
    assert sentence_of(stored(entry, "stray-output", Severity.ERROR), entry) == GENERAL["stray-output"]


def test_an_entry_that_is_gone_has_the_sentence_of_the_rule():
    assert sentence_of(Finding(7, "not-json", Severity.ERROR, ""), None) == "Not JSON."
    assert sentence_of(Finding(7, "of-the-future", Severity.ERROR, ""), None)


def test_every_rule_has_a_sentence():
    assert set(GENERAL) == codes_of_the_linter()
