"""The raw sheet (all bytes, with visible controls), and findings."""

from hypothesis import given
from hypothesis import strategies as st

from tui.core.text import clean
from tui.core.traffic import Finding, Redaction, Severity
from tui.ui.traffic.sheets import RawSheet, finding_rows
from tui.ui.widgets.rows import text_of, width_of


def raw(data: bytes, width: int = 30, redactions: tuple[Redaction, ...] = ()) -> RawSheet:
    sheet = RawSheet(data, redactions)
    sheet.fit(width)
    return sheet


def said(sheet: RawSheet) -> str:
    return "".join(sheet.value(row) for row in range(sheet.count()))


VISIBLE = st.characters(categories=["L", "N"]).filter(lambda char: clean(char) == char)


@given(st.text(alphabet=VISIBLE, max_size=200), st.integers(12, 60))
def test_no_character_is_lost_or_repeated_at_row_boundaries(text: str, width: int) -> None:
    assert said(raw(text.encode(), width)) == (text or "no bytes")


@given(st.binary(max_size=400), st.integers(20, 90))
def test_no_row_exceeds_its_width(data: bytes, width: int) -> None:
    sheet = raw(data, width)
    assert all(width_of(sheet.row(row, width)) <= width for row in range(sheet.count()))


def test_controls_are_shown_as_symbols() -> None:
    assert said(raw(b"a\x00\x1b[1m\r\n\tb")) == "a␀␛[1m␍␊␉b"


def test_a_redaction_is_highlighted() -> None:
    row = raw(b"key=***;", redactions=(Redaction(4, 7, "KEY"),)).row(0, 30)
    assert [text for text, style in row if "reverse" in style] == ["***"]


def test_a_stray_byte_of_a_character_appears_in_one_row_only():
    sheet = raw(b"0123456789\x80", 20)
    assert [sheet.value(row) for row in range(sheet.count())] == ["0123456789", "�"]


def test_a_finding_on_many_entries_shows_their_number_and_the_first():
    found = Finding(9, "x", Severity.ERROR, "It.", count=1200, places=(6, 7, 8, 9, 10))
    assert text_of(finding_rows(found)[-1]).strip() == "1 200 entries: #6, #7, #8, #9, #10, …"
    assert len(finding_rows(Finding(9, "x", Severity.ERROR, "It."))) == 2
