"""The page to share in a real Chromium: no request, error or script, with a keyboard and a screen reader."""

import base64
import json
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import config_file, model, server
from tests.endpoint import Endpoint, calls, says
from tests.programs import ANSWERING
from tests.protocol.command import mcptui
from tests.real.chromium import NEEDS_CHROMIUM, Browser, Tab, browser
from tui.core.conversation.conversation import Attachment
from tui.core.text import clean, clean_line
from tui.core.traffic import Direction, Entry, EntryNote, Finding, Kind, Outcome, Severity
from tui.storage.exports.document import (
    Aside,
    Bar,
    Block,
    Document,
    Files,
    Heading,
    Part,
    Portion,
    Prose,
    Rows,
    Timeline,
)
from tui.storage.exports.export import EntryFacts, entry_document, entry_rows
from tui.storage.exports.html import html

pytestmark = [pytest.mark.real, NEEDS_CHROMIUM, pytest.mark.timeout(120)]

EVIL = (
    "</script></style></pre></details><script>document.title='hit'</script><!-- "
    "<img src=x onerror=alert(1)> "
    "<svg onload=alert(1)> <style>*{display:none}</style> "
    "<link rel=stylesheet href=http://evil.example/a.css> "
    "<base href=http://evil.example/> <iframe src=http://evil.example/> <meta http-equiv=refresh content=0> "
    "\u202egnp.exe\u202c \x00\x1b[31m ]]> {{7*7}} &lt;b&gt; \ud800"
)
MARKDOWN = (
    f"# Title\n### Third\n\n{EVIL}\n\n[run](javascript:alert(1)) [page](http://evil.example/x) "
    "![pixel](http://evil.example/p.png) [d](data:text/html,<script>alert(1)</script>)\n\n"
    "| a | b |\n|:-:|--:|\n| 1 | 2 |\n\n[share](//evil.example/share) [program](ms-word:ofe|u|x)\n"
)
SVG = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>").decode()


def entries(count: int) -> Iterator[Entry]:
    """Yield calls and their responses, with a hostile body each."""
    body = json.dumps({"result": {"content": [{"type": "text", "text": EVIL}]}}).encode()
    for seq in range(1, count + 1, 2):
        told = {"source": "weather", "method": "tools/call", "tool": f"get{EVIL}", "ident": str(seq)}
        yield Entry(seq, seq, seq, direction=Direction.OUT, kind=Kind.REQUEST, size=2, body=b"{}", **told)
        shown = {"outcome": Outcome.TOOL_ERROR, "size": len(body), "body": body + f" #{seq + 1}".encode()}
        yield Entry(seq + 1, 1, 1, direction=Direction.IN, kind=Kind.RESPONSE, pair=seq, **told, **shown)


def found(seq: int) -> tuple[Finding, ...]:
    return (
        (Finding(seq, "unknown-id", Severity.ERROR, f"No request has this id. {EVIL}"),) if seq == 2 else ()
    )


FACTS = EntryFacts(
    lambda seq: EntryNote(True, f"look here {EVIL}") if seq == 4 else EntryNote(),
    lambda seq: 4_000_000,
    found,
)


def parts() -> Iterator[Part]:
    """Yield a conversation of two turns, as hostile as it can be after it was cleaned."""
    yield Heading("System prompt", portion=Portion.SYSTEM)
    yield Block("", clean(EVIL))
    for turn in (1, 2):
        yield Heading("You", "2026-11-29 14:02", turn)
        yield Prose(f"Question {turn} {clean(EVIL)}")
        yield Files(
            (
                Attachment("image", "image/svg+xml", EVIL, 5, SVG),
                Attachment("image", "image/png", EVIL, 5, SVG),
            )
        )
        yield Heading(clean_line(EVIL), "0.6 s")
        yield Block("Thinking", clean(EVIL))
        yield Prose(clean(MARKDOWN), is_markdown=True)
        yield Block(f"✗ {clean_line(EVIL)}", clean(EVIL), is_bad=True, note=clean_line(EVIL))
        yield Aside(clean_line(EVIL))
        yield Timeline("model 62 %", 1000, (Bar(clean_line(EVIL), "model", 0, 620, True, True),))
        rows = entry_rows(entries(4), FACTS, prefix=f"r{turn}-e")
        yield Rows("4 messages of this turn", rows)


def conversation() -> Document:
    return Document(clean_line(EVIL), "2 turns", parts())


def page(folder: Path, document: Document) -> Path:
    path = folder / "page.html"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(html(document))
    return path


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def tab(chromium: Browser, shared_processes: set[int]) -> Iterator[Tab]:
    with closing(Tab(chromium)) as opened:
        yield opened
    shared_processes |= chromium.processes()


@pytest.fixture
def talk(tab: Tab, tmp_path: Path) -> Tab:
    tab.open(page(tmp_path, conversation()))
    return tab


@pytest.mark.parametrize("kind", ["conversation", "entries"])
def test_a_hostile_page_makes_no_request_no_error_and_runs_no_script(tab: Tab, tmp_path: Path, kind: str):
    document = conversation() if kind == "conversation" else entry_document(entries(6), EVIL, FACTS)
    path = page(tmp_path, document)
    tab.open(path)
    tab.value("document.getElementById('unfold').click()")
    tab.value("window.dispatchEvent(new Event('beforeprint'))")
    assert tab.requests == [path.as_uri()]
    assert tab.problems == []
    assert tab.value("document.title") != "hit"
    assert tab.value("document.querySelectorAll('script').length") == 1
    assert (
        tab.value("document.querySelectorAll('main :is(script,style,iframe,img,link,base,meta)').length") == 0
    )
    links = tab.value("[...document.querySelectorAll('main a')].map(one => one.getAttribute('href'))")
    outside = {link for link in links if not link.startswith("#")}
    assert outside <= {"http://evil.example/x", "http://evil.example/p.png"}, "only followed if one clicks"


HOSTILE_SERVER = f"""{ANSWERING}
def answer(method, *_):
    if method == "tools/call":
        return {{**text({EVIL!r}), "structuredContent": {{"<b>": {EVIL!r}}}, "isError": True}}
print({EVIL!r}.encode("ascii", "replace").decode(), file=sys.stderr, flush=True)
serve(answer, ["get"])
"""


async def test_a_conversation_with_a_hostile_server_opens_without_a_request(tab: Tab, tmp_path: Path):
    asks = calls(("it__get", {"query": EVIL.replace("\ud800", "")}), text=MARKDOWN)
    async with Endpoint([asks, says(MARKDOWN.replace("\ud800", ""))]) as endpoint:
        config = config_file(tmp_path, model(endpoint), server("it", "-c", HOSTILE_SERVER))
        question = MARKDOWN.replace("\x00", "").replace("\ud800", "")
        given = ("--config", config, "--session", "talk", "--approve", "all", question)
        assert (await mcptui("run", *given)).code == 0
    path = tmp_path / "talk.html"
    done = await mcptui("sessions", "export", "talk", "-o", str(path))
    assert done.code == 0 and "  messages     " in done.err
    tab.open(path)
    tab.value("document.getElementById('unfold').click()")
    assert (tab.requests, tab.problems) == ([path.as_uri()], [])
    assert tab.value("document.querySelectorAll('.row').length") >= 6
    assert tab.value("main.textContent.split('onerror=alert(1)').length") > 10
    assert tab.value("document.querySelectorAll('main :is(script,style,img,svg:not(.lane svg))').length") == 0


def test_neither_a_script_nor_markup_can_be_added_to_a_page_that_is_open(talk: Tab):
    tried = "(() => { try { document.body.innerHTML += '<img src=x>'; return 1 } catch { return 0 } })()"
    assert talk.value(tried) == 0
    tried = (
        "(() => { try { document.createElement('script').text = 'window.hit = 1' } catch { return 0 } })()"
    )
    assert talk.value(tried) == 0


def test_everything_is_searched_with_the_keyboard_and_a_folded_match_is_opened(talk: Tab):
    talk.press("/")
    assert talk.value("document.activeElement.id") == "search"
    talk.type("#4")
    talk.until("document.getElementById('hits').textContent === '2 matches'")
    assert not talk.value("document.getElementById('r1-e4').open")
    talk.press("Enter")
    assert talk.value("document.getElementById('hits').textContent") == "1 of 2"
    assert talk.value("document.getElementById('r1-e4').open")
    assert talk.value("document.getElementById('r1-e4').closest('.wire').open")
    talk.press("Enter")
    assert talk.value("document.getElementById('hits').textContent") == "2 of 2"
    talk.press("Escape")
    assert (
        talk.value("[document.getElementById('search').value, document.activeElement.id].join()") == ",main"
    )
    assert talk.value("document.getElementById('hits').textContent") == ""


def test_only_the_entries_that_match_are_shown_if_wanted(tab: Tab, tmp_path: Path):
    tab.open(page(tmp_path, entry_document(entries(6), "t", FACTS)))
    tab.press("/")
    tab.type("#4")
    tab.until("document.getElementById('hits').textContent === '1 match'")
    tab.value("document.getElementById('only').click()")
    rows = "[...document.querySelectorAll('.row')].filter(one => one.checkVisibility())"
    shown = f"{rows}.map(one => one.id).join()"
    tab.until(f"{shown} === 'e4'")
    tab.press("/", "Escape")
    tab.until(f"{shown} === 'e1,e2,e3,e4,e5,e6'")


def test_arrows_go_from_line_to_line_and_enter_unfolds(tab: Tab, tmp_path: Path):
    tab.open(page(tmp_path, entry_document(entries(6), "t", FACTS)))
    tab.value("document.querySelector('#e1 > summary').focus()")
    tab.press("ArrowDown", "ArrowDown", "ArrowUp")
    assert tab.value("document.activeElement.parentElement.id") == "e2"
    tab.press("Enter")
    assert tab.value("document.getElementById('e2').open")


def test_a_link_to_an_entry_opens_it(tab: Tab, tmp_path: Path):
    tab.open(page(tmp_path, conversation()), "#r2-e3")
    tab.until("document.getElementById('r2-e3').open")
    assert tab.value("document.getElementById('r2-e3').closest('.wire').open")
    tab.until("document.activeElement.parentElement.id === 'r2-e3'")
    place = tab.value("document.getElementById('r2-e3').getBoundingClientRect().top")
    assert 0 <= place < 900


def test_a_link_to_nothing_is_no_error(tab: Tab, tmp_path: Path):
    tab.open(page(tmp_path, entry_document(entries(2), "t", FACTS)), "#%")
    for fragment in ("#%E0%A4%A", "#<img>", "#unfold", "#__proto__"):
        tab.value(f"location.replace('{fragment}'); new Promise((done) => setTimeout(done, 0))")
    assert tab.problems == []


def test_the_list_of_contents_marks_turns_with_a_failed_call_and_names_all_failures(talk: Tab):
    shown = "[...document.querySelectorAll('nav a')].map(one => one.className + one.textContent.slice(0, 10))"
    assert talk.value(shown) == ["bad1 Question", "bad2 Question", "4 failures", "2 findings", "2 notes"]
    assert "failed call: 1 Question 1" in " ".join(
        one["name"] for one in talk.tree() if one["role"] == "link"
    )


def test_words_are_found_across_the_end_of_a_line(tab: Tab, tmp_path: Path):
    parts = [Heading("You", "", 1), Prose("It is light\nrain.", is_markdown=True)]
    tab.open(page(tmp_path, Document("t", "", iter(parts))))
    tab.press("/")
    tab.type("light rain")
    tab.until("document.getElementById('hits').textContent === '1 match'")


def test_the_first_tab_skips_to_the_content(talk: Tab):
    talk.press("Tab")
    assert talk.value("document.activeElement.className") == "skip"
    assert talk.value("document.activeElement.getBoundingClientRect().left >= 0")


def test_calls_and_lists_of_messages_are_printed_unfolded_and_what_was_folded_as_it_is(talk: Tab):
    closed = "document.querySelectorAll('main details:not([open])').length"
    bodies = "document.querySelectorAll('main .row:not([open])').length"
    assert talk.value(closed) > talk.value(bodies) > 0
    talk.value("window.dispatchEvent(new Event('beforeprint'))")
    assert talk.value(closed) == talk.value(bodies), (
        "the bodies of messages are printed if they were unfolded"
    )
    talk.value("window.dispatchEvent(new Event('afterprint'))")
    assert talk.value(closed) > 0
    talk.value("document.getElementById('fold').click()")
    folded = talk.value(closed)
    talk.value("window.dispatchEvent(new Event('beforeprint'))")
    assert talk.value(closed) == folded, "what was chosen is printed as it is"


def test_a_screen_reader_finds_landmarks_names_and_headings_in_order(talk: Tab):
    talk.value("document.getElementById('unfold').click()")
    tree = talk.tree()
    roles = {node["role"] for node in tree}
    assert {"banner", "main", "search", "navigation", "table", "columnheader", "rowheader"} <= roles
    controls = {"button", "checkbox", "searchbox", "link", "DisclosureTriangle", "RootWebArea", "image"}
    assert [node for node in tree if node["role"] in controls and not node["name"].strip()] == []
    levels = [node["level"] for node in tree if node["role"] == "heading"]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    assert talk.value("document.documentElement.lang") == "en"


CONTRAST = """(() => {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (text) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = text;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const linear = (v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const colour = rgb(getComputedStyle(one).backgroundColor);
      if (colour[3] === 255) return colour;
    }
  };
  const bad = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const one = node.parentElement;
    if (!node.data.trim() || !one.checkVisibility() || one.closest('script, style')) continue;
    const pair = [light(rgb(getComputedStyle(one).color)), light(ground(one))].sort((x, y) => y - x);
    const ratio = (pair[0] + .05) / (pair[1] + .05);
    if (ratio < 4.5) bad.add(one.tagName + '.' + one.className + ' ' + ratio.toFixed(2));
  }
  return [...bad];
})()"""
"""The elements whose text has too little contrast with the ground behind it (WCAG 2.2, 1.4.3)."""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_has_enough_contrast(talk: Tab, theme: str):
    talk.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    talk.value("document.getElementById('unfold').click()")
    assert talk.value(CONTRAST) == []
    talk.value("document.getElementById('theme').click()")
    assert talk.value("document.getElementById('theme').ariaPressed") == str(theme == "light").lower()
    assert talk.value(CONTRAST) == []


@pytest.mark.parametrize("width", [400, 1200])
def test_a_page_is_never_wider_than_the_window(talk: Tab, width: int):
    metrics: dict[str, Any] = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    talk.call("Emulation.setDeviceMetricsOverride", **metrics)
    talk.value("document.getElementById('unfold').click()")
    assert talk.value("document.documentElement.scrollWidth") <= width


def test_a_page_with_ten_thousand_entries_opens_and_is_searched_in_seconds(tab: Tab, tmp_path: Path):
    tab.open(page(tmp_path, entry_document(entries(10_000), "t", FACTS)))
    assert tab.value("document.querySelectorAll('.row').length") == 10_000
    tab.press("/")
    tab.type("#9998")
    tab.until("document.getElementById('hits').textContent === '1 match'")
    tab.press("Enter")
    tab.until("document.getElementById('e9998').open")


def test_a_page_is_printed_with_what_was_folded(talk: Tab):
    printed = base64.b64decode(talk.call("Page.printToPDF")["data"])
    assert printed.startswith(b"%PDF") and talk.problems == []
