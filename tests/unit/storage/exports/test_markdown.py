"""Entries and conversations as Markdown that no content can break."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.cases import each_case
from tests.unit.storage.session_samples import ANSWER, ASKING, QUESTION, RESULT, say, store_in
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Intent,
    ToolMessage,
    UserMessage,
)
from tui.core.traffic import Direction, Entry, Kind
from tui.core.turn.prepared_calls import CANCELLED, CANCELLED_FOR_MODEL
from tui.storage.exports.document import LONGEST, bounded
from tui.storage.exports.export import EntryFacts, entry_document
from tui.storage.exports.markdown import escaped, fenced, isolated, markdown


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


@each_case(
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
    document = entry_document([entry(b'{"a":1}')], "A report", EntryFacts(latency_of=lambda seq: 300_000))
    text = "".join(markdown(document))
    assert text.startswith("# A report\n") and ", answered after 0.3 ms\n" in text
    assert "\n## 1. tools/list ← tools/list\n" in text
    assert '```json\n{\n  "a": 1\n}\n```' in text
    assert text.endswith("\n1 entry.\n")
    assert "".join(markdown(entry_document([entry(b"{}")] * 2, "t"))).endswith("\n2 entries.\n")
    assert "No entries." in "".join(markdown(entry_document([], "t")))


ERROR = ToolMessage("c2", "weather__get", "```\nno network", is_error=True)


async def markdown_of(folder: Path, *messages) -> str:
    store = store_in(folder)
    journal = await store.begin()
    journal.intent(Intent("c1", "weather", "get", {}))
    await say(journal, *messages)
    await journal.close()
    return await store.exported(journal.id, "markdown")


async def test_the_export_shows_who_said_what_and_which_tools_were_called(tmp_path: Path):
    page = await markdown_of(tmp_path, QUESTION, ASKING, RESULT, ERROR, ANSWER)
    assert page.startswith("# What is the weather in Beijing?\n")
    for part in (
        "1 turn · 5 messages · demo",
        "## You · ",
        '**→ weather › get**\n\n```json\n{\n  "city": "Beijing"\n}\n```',
        "**← weather › get**\n\n```text\nsunny, 25 °C\n```",
        "**✗ weather\\_\\_get**\n\n````text\n```\nno network\n````",
        "## demo\n\nIt is sunny.\n",
    ):
        assert part in page


async def test_results_are_shown_without_notes_for_the_model(tmp_path: Path):
    cut = ToolMessage("c1", "x", CANCELLED_FOR_MODEL, is_error=True, why="cancelled")
    odd = ToolMessage(
        "c2", "y", "ERROR: [warning: *odd*]\n[image 1, attached below]", is_error=True, seconds=1.0
    )
    asking = AssistantMessage("", calls=(CallRequest("c1", "x", "{}"), CallRequest("c2", "y", "{}")))
    page = await markdown_of(tmp_path, QUESTION, asking, cut, odd, ANSWER)
    assert f"```text\n{CANCELLED}\n```" in page
    assert "_\\*odd\\*_\n\n```text\n[image 1]\n```" in page


async def test_attachments_are_named_and_thinking_is_marked(tmp_path: Path):
    question = UserMessage("look", (Attachment("image", "image/png", "a_b.png", 2048, ""),))
    page = await markdown_of(tmp_path, question, AssistantMessage("x", "let me think", partial=True))
    assert "- a_b.png (image/png, 2.0 kB)" in page
    assert "**Thinking**\n\n```text\nlet me think\n```" in page
    assert "## Model · truncated" in page


@each_case(
    ("said", "shown"),
    [
        ("# Title\n## Part", "### Title\n#### Part"),
        ("You\n===", "You\n\\==="),
        ("You\n---", "You\n\\---"),
        ("a\n\n---\nb", "a\n\n---\nb"),
        ("<script>x</script> and `<b>`", "&lt;script>x&lt;/script> and `<b>`"),
        ("1 < 2", "1 < 2"),
        ("![x](http://e/track.png)", "\\![x](http://e/track.png)"),
        ("```py\nprint(1)", "```py\nprint(1)\n```"),
        ("```py\n# not a heading <b>\n```\n# one", "```py\n# not a heading <b>\n```\n### one"),
        ("~~~\n```\n~~~\n# one", "~~~\n```\n~~~\n### one"),
        ("**bold** | a | [link](https://example.com)", "**bold** | a | [link](https://example.com)"),
    ],
)
def test_markdown_in_a_message_is_kept_but_cannot_affect_the_rest(said: str, shown: str):
    assert isolated(said) == shown


@each_case(
    "said",
    [
        "x ` y\n` <b> `",
        "x ` y\n# <b> `",
        "\\`<b>`",
        "\\\\<b>",
        "\\\\![x](y)",
        "> a\n> ===",
        "- a\n  ---",
        "> ```\n> <b>",
        "1. ```\n<b>",
        "[a]: <b>\n![a]",
        "<!--",
        "    <b>\na",
    ],
)
def test_text_that_only_looks_like_code_cannot_affect_the_rest_either(said: str):
    nothing_of_ours(said)


@given(st.text(alphabet="#=-`~<>![]()ab \n\t|*_\\1.", max_size=60))
def test_no_message_can_make_a_heading_like_ours(said: str):
    nothing_of_ours(said)


def nothing_of_ours(said: str) -> None:
    page = MarkdownIt("commonmark").parse(f"## You\n\n{isolated(said)}\n\n## Model\n\nend")
    tops = [token.tag for token in page if token.type == "heading_open" and token.tag in ("h1", "h2")]
    assert tops == ["h2", "h2"]
    inside = [child.type for token in page for child in token.children or ()]
    assert not {"html_inline", "image"} & set(inside)
    assert not [token for token in page if token.type == "html_block"]


def test_ordinary_text_is_unchanged():
    said = "C # is not C++; see issue # 5, a < b, `List<String>`, *x* and\n\n- one\n- two\n\n1. a\n2. b\n"
    assert isolated(said) == said


def test_a_huge_text_is_truncated_with_a_note():
    assert re.search(r"… 1.0 kB more$", bounded("x" * (LONGEST + 1000)))


@pytest.mark.timeout(15)
def test_runs_of_backticks_that_never_close_take_no_time():
    text = "".join("`" * length + " " for length in range(1, 340))
    assert isolated(text).startswith("` `` ```")
