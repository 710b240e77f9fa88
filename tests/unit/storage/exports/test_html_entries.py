"""Entries and waterfalls on an HTML page."""

from html.parser import HTMLParser

from tui.core.traffic import Finding, Severity
from tui.storage.exports.document import Bar, Row, Timeline
from tui.storage.exports.html_entries import MOST_LISTED, EntryLists, entry, timeline


def row(**more: object) -> Row:
    made = {"number": 12, "source": "weather", "arrow": "→", "name": "tools/call", "took": "4 ms"}
    made |= {"outcome": "ok", "is_bad": False, "facts": "132 B", "note": "", "body": "{}", "anchor": "e12"}
    return Row(**made | more)  # type: ignore[arg-type]


def text_of(page: str) -> list[str]:
    found: list[str] = []
    parser = HTMLParser()
    parser.handle_data = lambda data: found.extend(data.split())  # type: ignore[method-assign]
    parser.feed(page)
    return found


def test_the_line_of_an_entry_reads_as_its_columns():
    line = text_of(entry(row(time="14:02:11.204"), "{}").partition("</summary>")[0])
    assert line == ["12", "14:02:11.204", "weather", "→", "tools/call", "4", "ms", "ok"]


def test_an_entry_links_to_itself():
    shown = entry(row(), "{}")
    assert 'id="e12"' in shown and 'href="#e12" aria-label="Link to entry 12"' in shown


def test_findings_and_notes_are_signs_with_words_for_a_screen_reader():
    finding = Finding(12, "unknown-id", Severity.WARNING, "No request.")
    shown = entry(row(findings=(finding,), note="Note: look", marked=True), "{}")
    assert '<b class="warning" title="1 finding"><span aria-hidden="true">!</span>' in shown
    assert '<span class="sr">note</span>' in shown
    assert "unknown-id: No request." in shown


def test_failures_findings_and_notes_are_listed_with_links_up_to_a_number():
    lists = EntryLists()
    finding = Finding(12, "unknown-id", Severity.ERROR, "No request.")
    for number in range(MOST_LISTED + 1):
        lists.see(row(anchor=f"e{number}", findings=(finding,)))
    lists.see(row(note="Note: look"))
    lists.see(row(is_bad=True, outcome="tool error"))
    shown = lists.sections()
    assert f"{MOST_LISTED + 1} findings, the first {MOST_LISTED:,}" in shown
    assert shown.count("unknown-id") == MOST_LISTED
    rows = shown.split("<tbody>")
    link = '<tr><td><a href="#e12">12</a></td>'
    assert "<h2>1 failure</h2>" in shown and rows[1].startswith(f'{link}<td dir="auto">weather tools/call')
    assert "<h2>1 note</h2>" in shown and '</td><td dir="auto">look</td>' in rows[3]


def test_a_waterfall_is_a_table_with_the_times_of_its_bars():
    bars = (
        Bar("step 1", "model", 0, 620_000_000, is_critical=True),
        Bar("weather › get", "tools", 620_000_000, 1_000_000_000, is_bad=True),
        Bar("weather › get", "waiting for you", 0, 1),
    )
    shown = timeline(Timeline("model 62 %, tools 38 %", 1_000_000_000, bars))
    assert text_of(shown)[:8] == ["Waterfall", "1.0", "s:", "model", "62", "%,", "tools", "38"]
    assert '<rect x="0" y="1" width="620" height="8"/>' in shown
    assert "weather › get (failed)</th>" in shown and "you: weather › get</th>" in shown
    assert shown.count('<th scope="row"') == 3
