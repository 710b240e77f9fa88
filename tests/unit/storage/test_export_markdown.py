import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tui.core.traffic import Direction, Entry, Kind
from tui.storage.export_markdown import fenced, markdown


def entry(body: bytes, name: str = "tools/list") -> Entry:
    return Entry(1, 1, 1, name, Direction.IN, Kind.RESPONSE, name, size=len(body), body=body)


@given(st.text(st.sampled_from("`~ab\n <>#[]()!*_"), max_size=60))
def test_a_body_never_leaves_its_fence(text: str):
    tokens = MarkdownIt().parse(fenced(text) + "\n\nafter")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]


@given(st.text(max_size=60))
def test_a_hostile_name_is_text_and_nothing_else(name: str):
    tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(
        "".join(markdown([entry(b"{}", name)], name))
    )
    inline = [child.type for token in tokens for child in token.children or ()]
    assert set(inline) <= {"text", "text_special", "softbreak"}


def test_entries_come_with_their_time_size_and_body_indented():
    text = "".join(markdown([entry(b'{"a":1}')], "A report"))
    assert text.startswith("# A report\n")
    assert re.search(r"## 1\. tools/list ← tools/list tools/list|## 1\. tools/list ← tools/list", text)
    assert '```json\n{\n  "a": 1\n}\n```' in text
    assert text.endswith("1 entries.\n")


def test_an_empty_selection_says_so():
    assert "Nothing is in this selection." in "".join(markdown([], "t"))
