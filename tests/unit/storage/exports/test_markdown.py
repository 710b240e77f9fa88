import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tui.core.traffic import Direction, Entry, Kind
from tui.storage.exports.entries import entry_document
from tui.storage.exports.markdown import escaped, fenced, markdown


def entry(body: bytes, name: str = "tools/list") -> Entry:
    return Entry(1, 1, 1, name, Direction.IN, Kind.RESPONSE, name, size=len(body), body=body)


@given(st.text(st.sampled_from("`~ab\n <>#[]()!*_"), max_size=60))
def test_a_body_never_leaves_its_fence(text: str):
    tokens = MarkdownIt().parse(fenced(text) + "\n\nafter")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]


@given(st.text(max_size=60))
def test_a_hostile_name_is_shown_only_as_text(name: str):
    tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(
        "".join(markdown(entry_document([entry(b"{}", name)], name)))
    )
    inline = [child.type for token in tokens for child in token.children or ()]
    assert set(inline) <= {"text", "text_special", "softbreak"}


@pytest.mark.parametrize(
    "plain",
    [
        "20261121T085359Z-7.mcptrace",
        "2026-11-21T08:53:59.298000+00:00, request, 40 B",
        "tools/call get_weather (twice!) {x} a|b tap:time a & b",
    ],
)
def test_text_without_markup_is_unchanged(plain: str):
    assert escaped(plain) == plain


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("_a_ a_b", r"\_a\_ a_b"),
        ("*a* ~a~ `a` [a](b)", r"\*a\* \~a\~ \`a\` \[a](b)"),
        ("&lt; &#60;", r"\&lt; \&\#60;"),
        ("http://x www.x a@x", r"http\://x www\.x a\@x"),
        (":smile: :100:", r"\:smile: \:100:"),
        ("<b> $x$ a #", r"\<b> \$x\$ a \#"),
    ],
)
def test_text_that_markdown_would_interpret_is_escaped(text: str, safe: str):
    assert escaped(text) == safe


@given(st.text(st.sampled_from("_*`~ab1\\[]()!<>&;:#x "), min_size=1, max_size=40))
def test_escaped_text_is_rendered_as_the_original(text: str):
    (_, inline, _) = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(f"# a{escaped(text)}z")
    assert "".join(child.content for child in inline.children or ()) == f"a{text}z"


def test_an_entry_has_a_heading_and_an_indented_body_and_is_counted():
    text = "".join(markdown(entry_document([entry(b'{"a":1}')], "A report")))
    assert text.startswith("# A report\n")
    assert "\n## 1. tools/list ← tools/list\n" in text
    assert '```json\n{\n  "a": 1\n}\n```' in text
    assert text.endswith("\n1 entry.\n")
    assert "".join(markdown(entry_document([entry(b"{}")] * 2, "t"))).endswith("\n2 entries.\n")


def test_an_empty_selection_is_reported_as_empty():
    assert "No entries." in "".join(markdown(entry_document([], "t")))
