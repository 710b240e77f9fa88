"""Sentences of findings that have no stored one."""

from tests.unit.test_docs import codes_of_the_linter
from tests.unit.traffic.traffic_script import Script
from tui.core.traffic import Direction, Entry, Finding, Severity
from tui.traffic.lint.lint import GENERAL, sentence_of


def stored(entry: Entry, code: str, severity: Severity) -> Finding:
    return Finding(entry.seq, code, severity, "", "basic", entry.source, entry.method, 9, (1, 2, 3, 4, 5))


def test_a_finding_on_one_entry_alone_quotes_the_entry():
    script = Script().legacy()
    script.raw(Direction.IN, b"first noise")
    late = script.raw(Direction.IN, b"late noise")
    sentence = sentence_of(stored(late, "stray-output", Severity.WARNING), late)
    assert '"late noise"' in sentence


def test_a_finding_that_needs_other_entries_has_a_sentence_without_ids_and_values():
    answer = Script().legacy().raw(Direction.IN, b'{"jsonrpc":"2.0","id":"u7510","result":{}}')
    assert (
        sentence_of(stored(answer, "unknown-id", Severity.ERROR), answer) == "A response without a request."
    )


def test_a_finding_with_another_severity_has_the_general_sentence():
    entry = Script().legacy().raw(Direction.IN, b"noise")
    assert sentence_of(stored(entry, "stray-output", Severity.ERROR), entry) == GENERAL["stray-output"]


def test_a_finding_on_a_dropped_entry_has_the_general_sentence():
    assert sentence_of(Finding(7, "not-json", Severity.ERROR, ""), None) == "Not JSON."
    assert sentence_of(Finding(7, "of-the-future", Severity.ERROR, ""), None)


def test_every_rule_has_a_sentence():
    assert set(GENERAL) == codes_of_the_linter()
