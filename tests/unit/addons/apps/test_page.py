"""The still page of an app view, and how it is served."""

import asyncio
import urllib.error
import urllib.request

import pytest

from tests.cases import each_case
from tui.addons.apps.page import serve_once, still_page


def body_of(html: str) -> str:
    page = still_page(html, "ui://x").decode()
    return page.partition("<div>")[2].removesuffix("</div></html>")


@each_case(
    ("html", "left"),
    [
        ("<html><body><h1>A</h1><p>b &amp; c</p></body></html>", "<h1>A</h1><p>b &amp; c</p>"),
        ("<P onclick='x()' class=a style='color: red'>b</p>", "<p>b</p>"),
        ("<p>a</p><script>document.write('<p>b</p>')</script>", "<p>a</p>"),
        ("<style>p { color: teal } </sty<b></style ><p>a", "<p>a"),
        ("<a href='https://evil.example'>more</a>", "more"),
        ("<img src=x onerror=y><link rel=preconnect href=//evil.example><base href=//evil.example>", ""),
        ("<iframe srcdoc='<p>a'></iframe><object data=x>b</object><svg><text>c</text></svg>d", "d"),
        ("<meta http-equiv=refresh content='0;url=//evil.example'>a", "a"),
        ("<form action=//evil.example><input name=a><button>Go</button></form>", "Go"),
        ("<head><title>t</title></head><body>a", "a"),
        ("<scr<script>ipt>alert(1)</script>", "ipt&gt;alert(1)"),
        ("<p title='1 > 0' data-x=\"<script>\">a<!-- <p> -->b", "<p>ab"),
        ("1 < 2 &lt;b&gt;", "1 &lt; 2 &lt;b&gt;"),
        ("a<b", "a<b>"),
        ("a<p title='b>c", "a<p>"),
    ],
)
def test_only_text_and_structure_are_left(html: str, left: str):
    assert body_of(html) == left


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "part", ["<!--", "<a ", "<a b='", "<", "<!", "<?", "</", "<svg>", "&#1", "<script>", "<b>"]
)
def test_a_hostile_view_takes_no_longer_than_another(part: str):
    still_page(part * (1_000_000 // len(part)), "ui://x")


def test_a_view_that_is_written_by_scripts_says_so():
    assert "has no text of its own" in still_page("<div id=root></div><script>x</script>", "ui://x").decode()
    assert "has no text of its own" not in still_page("<p>a</p>", "ui://x").decode()


def test_the_address_of_the_view_is_text():
    assert "<b>" not in still_page("", "ui://<b>").decode()


def fetched(url: str) -> tuple[int, str, str]:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.status, response.headers["Content-Security-Policy"], response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, "", ""


async def test_the_page_is_served_once_to_its_path_under_a_policy_that_allows_nothing():
    asked: list[str] = []

    async def browser(url: str) -> bool:
        asked.append(url)
        other = url.rpartition("/")[0] + "/other"
        assert (await asyncio.to_thread(fetched, other))[0] == 404
        status, policy, text = await asyncio.to_thread(fetched, url)
        assert (status, text) == (200, "page")
        assert "default-src 'none'" in policy and policy.endswith("; sandbox") and "script" not in policy
        return True

    assert await serve_once(b"page", browser)
    with pytest.raises(OSError):
        await asyncio.to_thread(fetched, asked[0])


async def test_nothing_listens_if_there_is_no_browser_or_it_does_not_come():
    asked: list[str] = []

    async def browser(url: str) -> bool:
        asked.append(url)
        return len(asked) > 1

    assert not await serve_once(b"page", browser)
    assert await serve_once(b"page", browser, seconds=0)
    for url in asked:
        with pytest.raises(OSError):
            await asyncio.to_thread(fetched, url)
