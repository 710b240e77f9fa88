import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from tui.core.traffic import Direction, Entry, Kind, Outcome
from tui.storage.exports.entries import entry_document
from tui.storage.exports.html import SCRIPT, html

HOSTILE = b'</pre></script><script>alert(1)</script><img src="http://evil/x" onerror=alert(1)>\x1b[31m\x00'


def entry(body: bytes = b"{}", **more: object) -> Entry:
    return Entry(1, 1, 1, more.pop("source", "s"), Direction.IN, Kind.RESPONSE, body=body, **more)  # type: ignore[arg-type]


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@given(st.binary(max_size=80) | st.just(HOSTILE), st.text(max_size=20))
def test_content_from_a_server_never_becomes_a_tag(body: bytes, name: str):
    page = Page("".join(html(entry_document([entry(body, source=name, method=name)], name))))
    expected = Page("".join(html(entry_document([entry()], "x"))))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in expected.tags]


def test_the_page_loads_no_external_resources():
    text = "".join(html(entry_document([entry(HOSTILE)], "title")))
    for _, attributes in Page(text).tags:
        assert not {"src", "href", "action", "style"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_control_characters_are_made_visible():
    text = "".join(html(entry_document([entry(HOSTILE)], "title")))
    assert "\x1b" not in text
    assert "\x00" not in text


def test_the_script_cannot_be_closed_early():
    assert "</" not in SCRIPT


def test_errors_are_highlighted():
    assert 'class="bad">tool error<' in "".join(
        html(entry_document([entry(outcome=Outcome.TOOL_ERROR)], "t"))
    )
