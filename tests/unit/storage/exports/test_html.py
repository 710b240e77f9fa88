"""Entries and conversations as pages for any browser that no content can take over."""

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.storage.session_samples import ANSWER, ASKING, QUESTION, RESULT, saved, store_in
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    SessionMeta,
    ToolMessage,
    UserMessage,
)
from tui.core.traffic import Direction, Entry, Kind, Outcome
from tui.storage.exports import html as html_page
from tui.storage.exports.contents import Choice
from tui.storage.exports.document import Document, Files, Portion
from tui.storage.exports.export import EntryFacts, entry_document
from tui.storage.exports.html import html
from tui.storage.sessions.store import SessionStore

HOSTILE = b'</pre></script><script>alert(1)</script><img src="http://evil/x" onerror=alert(1)>\x1b[31m\x00'


def entry(body: bytes = b"{}", **more: object) -> Entry:
    return Entry(1, 1, 1, more.pop("source", "s"), Direction.IN, Kind.RESPONSE, body=body, **more)  # type: ignore[arg-type]


class Page(HTMLParser):
    """The page as a browser parses it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


@given(st.binary(min_size=1, max_size=80) | st.just(HOSTILE), st.text(max_size=20))
def test_content_from_a_server_never_becomes_a_tag(body: bytes, name: str):
    page = Page("".join(html(entry_document([entry(body, source=name, method=name)], name))))
    expected = Page("".join(html(entry_document([entry()], "x"))))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in expected.tags]


def test_the_page_loads_no_external_resources_and_shows_control_characters():
    text = "".join(html(entry_document([entry(HOSTILE)], "title")))
    for _, attributes in Page(text).tags:
        assert not {"src", "action", "style"} & attributes.keys()
        assert str(attributes.get("href", "#")).startswith("#")
        assert not [name for name in attributes if name.startswith("on")]
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert re.search(r"script-src 'sha256-[\w+/=]+'; ", policy) and "http" not in policy
    assert "unsafe" not in policy and text.count("</script>") == 1
    assert "\x1b" not in text and "\x00" not in text


def test_errors_are_highlighted_and_times_are_written_as_in_the_list():
    document = entry_document(
        [entry(outcome=Outcome.TOOL_ERROR)], "t", EntryFacts(latency_of=lambda seq: 300_000)
    )
    assert 'class="n">0.3 ms</span> <span class="bad">tool error<' in "".join(html(document))


def test_what_a_browser_could_not_show_is_left_out_and_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(html_page, "MOST_ROWS", 2)
    monkeypatch.setattr(html_page, "MOST_CHARS", 10)
    text = "".join(html(entry_document([entry(b"x" * 8)] * 3, "t")))
    assert text.count('<details class="row"') == 2
    assert ">xxxxxxxx</pre>" in text and ">xx…</pre>" in text
    assert "1 entry and 6 B of texts and files: the page would be too large for a browser." in text


def test_a_file_that_is_too_large_for_the_page_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(html_page, "MOST_CHARS", 10)
    text = "".join(
        html(Document("t", "", iter([Files((Attachment("image", "image/png", "a.png", 48, PNG),))])))
    )
    assert "<img" not in text and "a.png (image/png, 48 B)" in text
    assert f"{len(PNG)} B of texts and files" in text


def test_an_image_that_is_not_of_its_type_is_named():
    svg = base64.b64encode(b"<svg onload='alert(1)'/>").decode()
    text = "".join(
        html(Document("t", "", iter([Files((Attachment("image", "image/png", "a.png", 24, svg),))])))
    )
    assert "<img" not in text and "a.png (image/png, 24 B)" in text


EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><svg onload=x>]]>"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()


ALLOWED = {
    *(
        "html head meta title style body header h1 p main section h2 time div details summary pre figure"
    ).split(),
    *(
        "figcaption img audio h3 h4 h5 h6 strong em code a ul ol li blockquote hr br table thead tbody"
    ).split(),
    *("tr th td a input output button label span nav script svg rect bdi b").split(),
}


async def page_of(folder: Path, *messages, title: str = "") -> Page:
    store = store_in(folder)
    session = await saved(store, *messages)
    if title:
        await store.rename(session, title)
    return Page(await store.exported(session, "html"))


def harmless(page: Page) -> None:
    for tag, attributes in page.tags:
        assert tag in ALLOWED, tag
        assert not any(name.startswith("on") for name in attributes)
        assert str(attributes.get("src", "data:")).startswith("data:")
        assert not re.match(r"\s*(javascript|vbscript|data):", str(attributes.get("href", "")), re.IGNORECASE)


async def test_all_messages_are_on_the_page(tmp_path: Path):
    page = await page_of(tmp_path, QUESTION, ASKING, RESULT, ANSWER)
    for part in (QUESTION.text, "weather__get", "Beijing", "sunny, 25 °C", "It is sunny."):
        assert part in page.text
    harmless(page)


async def test_hostile_texts_are_shown_as_text(tmp_path: Path):
    attached = (
        Attachment("image", f'image/png"{EVIL}', EVIL, 5, PNG),
        Attachment("image", "image/png", EVIL, 5, '"><script>alert(1)</script>'),
        Attachment("image", "image/svg+xml", "a.svg", 5, base64.b64encode(b"<svg onload=x>").decode()),
    )
    page = await page_of(
        tmp_path,
        UserMessage(EVIL, attached),
        AssistantMessage(EVIL, EVIL, (CallRequest(EVIL, EVIL, EVIL),), EVIL),
        ToolMessage(EVIL, EVIL, EVIL, attachments=attached),
        AssistantMessage(f"[x](javascript:alert(1)) ![x](http://e/x.png) <{EVIL}"),
        title=EVIL,
    )
    harmless(page)
    assert page.text.count("<script>alert(1)</script>") >= 8
    assert not any(tag == "img" for tag, _ in page.tags)


async def test_images_and_audio_are_embedded_in_the_page(tmp_path: Path):
    attached = (
        Attachment("image", "image/png", "a.png", 48, PNG),
        Attachment("audio", "audio/wav", "a.wav", 48, PNG),
        Attachment("blob", "application/pdf", "a.pdf", 48, PNG),
        Attachment("image", "image/png", "empty.png", 0, ""),
    )
    page = await page_of(tmp_path, UserMessage("look", attached))
    media = [(tag, a["src"]) for tag, a in page.tags if tag in ("img", "audio")]
    assert media == [("img", f"data:image/png;base64,{PNG}"), ("audio", f"data:audio/wav;base64,{PNG}")]
    assert "a.pdf (application/pdf, 48 B)" in page.text


async def test_markdown_from_a_model_is_rendered(tmp_path: Path):
    page = await page_of(tmp_path, QUESTION, AssistantMessage("**b** `c`\n\n| a |\n|---|\n| 1 |"))
    assert {"strong", "code", "table"} <= {tag for tag, _ in page.tags}


async def test_an_aligned_column_has_a_class_because_the_policy_of_the_page_blocks_styles(tmp_path: Path):
    page = await page_of(tmp_path, QUESTION, AssistantMessage("| a | b |\n|--:|:-:|\n| 1 | 2 |"))
    assert [a["class"] for tag, a in page.tags if tag == "td" and "class" in a] == ["right", "center"]
    assert not any("style" in attributes for _, attributes in page.tags)


TARGETS = (
    *("file:///etc/passwd", "//evil/share", "../a", "smb://evil/x", "ms-word:ofe|u|x", "vscode://file/etc"),
    *("view-source:http://evil", "blob:http://evil", "data:image/png;base64,AAAA", "JAVASCRIPT:x", "#e1"),
)


async def test_only_addresses_of_the_web_and_of_mail_become_links(tmp_path: Path):
    shown = " ".join(f"[x]({target}) <{target}>" for target in TARGETS)
    shown += " [y](HTTPS://example.org) [z](mailto:a@example.org)"
    page = await page_of(tmp_path, QUESTION, AssistantMessage(shown))
    links = [a["href"] for tag, a in page.tags if tag == "a" and "rel" in a]
    assert links == ["HTTPS://example.org", "mailto:a@example.org"]
    assert all(f"[x]({target})" in page.text for target in TARGETS), "the target can be read"


async def test_a_huge_reply_is_not_rendered_as_markdown(tmp_path: Path):
    page = await page_of(tmp_path, QUESTION, AssistantMessage("**b** " * 20_000))
    assert "strong" not in {tag for tag, _ in page.tags}


async def test_the_system_prompt_is_shown_as_text(store: SessionStore):
    journal = await store.begin()
    journal.describe(SessionMeta(system=EVIL))
    journal.message(0, QUESTION)
    await journal.close()
    page = Page(await store.exported(journal.id, "html"))
    harmless(page)
    assert EVIL in page.text


@given(st.text(max_size=80), st.text(alphabet="<>&\"'`[]()!:/#*_- \nabjsx=", max_size=80))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_no_text_can_escape_its_element(tmp_path: Path, one: str, other: str):
    harmless(await page_of(tmp_path, UserMessage(one or "x"), AssistantMessage(other or "x", one)))


async def test_the_summary_of_an_export_names_only_what_it_contains(tmp_path: Path, store: SessionStore):
    session = await saved(store, QUESTION, ASKING, RESULT, ANSWER)
    choice = Choice(without=frozenset({Portion.VALUES}))
    said = await store.export(session, "html", tmp_path / "talk", choice=choice)
    assert said.startswith("3 messages, 0 redacted values, ")


@pytest.mark.parametrize("kind", ["html", "markdown", "json"])
async def test_an_export_leaves_only_its_file_in_the_folder(tmp_path: Path, store: SessionStore, kind: str):
    session = await saved(store, QUESTION)
    target = tmp_path / "out"
    target.mkdir()
    await store.export(session, kind, target / "talk")
    assert [path.name for path in target.iterdir()] == ["talk"]
