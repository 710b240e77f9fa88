"""How a URL to open is shown, and which URLs are never opened."""

import webbrowser
from collections.abc import AsyncIterator

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.web import (
    MAX_LENGTH,
    address_fault,
    has_browser,
    header_name_fault,
    header_value_fault,
    is_host,
    is_private,
    joined,
    open_browser,
    proxy_for,
    proxy_problem,
    repeated_header,
    url_fault,
    web_address,
    with_headers,
)


def test_a_url_is_shown_complete_in_three_parts() -> None:
    seen = web_address("https://GitHub.com:443/login?next=https://x.example/#top")
    rest = ":443/login?next=https://x.example/#top"
    assert (seen.before, seen.host, seen.after) == ("https://", "GitHub.com", rest)
    assert not seen.warnings and not seen.problem


@each_case(
    ("url", "host", "warning"),
    [
        ("https://accounts.google.com@attacker.example/login", "attacker.example", "It leads to attacker"),
        ("https://xn--pple-43d.com/", "xn--pple-43d.com", "It reads \u0430pple.com"),
        ("https://\u0430pple.com/", "\u0430pple.com", "non-ASCII"),
        (
            "https://github.com.attacker.example/login",
            "github.com.attacker.example",
            "looks like github.com but belongs to attacker.example",
        ),
        ("https://93.184.216.34/", "93.184.216.34", "an IP address"),
    ],
)
def test_a_look_alike_host_is_flagged(url: str, host: str, warning: str) -> None:
    seen = web_address(url)

    assert seen.host == host and not seen.problem
    assert any(warning in said for said in seen.warnings)


@each_case(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,<script>1</script>",
        "ms-settings:",
        "http://169.254.169.254/latest/meta-data/",
        "http://app.localhost/cb",
        "https://ok.example/\x1b[2J",
        "https://a.example/a b",
        "https://a.example\\@b.example/",
        "https://a.example/\ud800",
        "https://a.example/" + "a" * MAX_LENGTH,
        "https://[bad",
        "https://a.example:99999/",
        "https://",
        "",
    ],
)
def test_a_url_that_a_browser_should_not_open_is_a_problem(url: str) -> None:
    assert web_address(url).problem


@pytest.mark.parametrize("url", ["http://localhost:8080/cb", "http://127.0.0.1/", "http://[::1]:9/"])
def test_a_url_on_this_machine_may_be_unencrypted(url: str) -> None:
    assert not web_address(url).problem


@each_case(
    ("env", "platform", "expected"),
    [
        ({"DISPLAY": ":0"}, "linux", True),
        ({}, "linux", False),
        ({}, "darwin", True),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, "linux", False),
        ({"SSH_TTY": "/dev/pts/1"}, "darwin", False),
    ],
)
def test_a_browser_is_available_only_with_a_local_display(
    env: dict[str, str], platform: str, expected: bool
) -> None:
    assert has_browser(env, platform) is expected


def test_a_configured_header_replaces_ours_and_one_in_two_spellings_is_found():
    ours, own = {"user-agent": "mcptui", "Accept": "*/*"}, {"User-Agent": "own", "X": "1"}
    assert with_headers(ours, own) == {"Accept": "*/*"} | own
    assert repeated_header(["Authorization", "X", "authorization"]) == "authorization"
    assert repeated_header(["a", "b"]) == ""


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (["Authorization", "X-Api-Key", "x_y.z", "Host", "Te2"], ""),
        (["", "Bad Name", "X-Ü", "A:", "A\n", "X\x00"], "not a valid HTTP header name"),
        (
            ["Content-Length", "transfer-encoding", "CONNECTION", "TE", "Upgrade", "Keep-Alive"],
            "set by mcptui",
        ),
    ],
)
def test_a_header_name_is_a_token_that_is_not_of_the_connection(names: list[str], fault: str):
    for name in names:
        assert fault in header_name_fault(name) and bool(fault) == bool(header_name_fault(name)), name


@each_case(
    ("value", "why"),
    [
        ("tok…en", "non-ASCII"),
        ("ü", "non-ASCII"),
        ("a\nb", "line break"),
        ("\r", "line"),
        ("\x7f", "control"),
    ],
)
def test_a_value_that_cannot_be_sent_is_explained_without_showing_it(value: str, why: str):
    assert why in header_value_fault(value)
    assert value not in header_value_fault(value)


@pytest.mark.parametrize("value", ["", "Bearer a.b-c=", "a\tb", "Bearer "])
def test_printable_ascii_is_a_valid_header_value(value: str):
    assert header_value_fault(value) == ""


@given(st.text(max_size=8))
def test_every_accepted_header_value_can_be_encoded(value: str):
    if not header_value_fault(value):
        httpx2.Headers({"X": value})


@each_case(
    "url",
    [
        "https://h",
        "http://127.0.0.1:8000/mcp?a=b c",
        "http://[::1]:80/mcp",
        "wss://a_b.example.com./x",
        "https://bücher.example/mcp",
        "https://${HOST}:${PORT:-80}/mcp",
        "https://u:p@h/mcp#x",
        "http://localhost:1",
    ],
)
def test_valid_urls_are_accepted(url: str):
    assert url_fault(url) == ""


@each_case(
    "url",
    [
        "https://exa mple.com",
        "https://evil%2F..%40x/sse",
        "https://a..b/",
        "https://${A}%2F.b/",
        "https://a*b.c",
        "https://☃.com",
        "https://ａ.com",
        "https://h/a\nb",
        " https://h",
        "https://h:port",
        "https://",
        "ftp://h",
        "h",
        "http://[::1",
        "https://a\\b",
    ],
)
def test_invalid_urls_are_rejected(url: str):
    assert url_fault(url).startswith("must be a URL")


def test_a_host_is_a_name_or_an_ip_address_and_a_port_out_of_range_is_named():
    assert all(map(is_host, ("a" * 63, "::1"))) and not any(map(is_host, ("a" * 64, ":x", "")))
    assert "port" in url_fault("http://localhost:99999/x")
    assert "port" not in url_fault("http:///x")


URL = "https://h.example/mcp"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_the_proxy_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proxy_for(URL) is None
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    found = proxy_for(URL)
    assert found is not None and (found.variable, found.url) == ("HTTPS_PROXY", "http://proxy.example:3128")
    assert proxy_for("http://h.example") is None and proxy_for("wss://h.example") == found
    monkeypatch.setenv("NO_PROXY", "h.example")
    assert proxy_for(URL) is None


@pytest.mark.parametrize(
    "excluded", ["*", "h.example:443", ".example", "fd00::/8,h.example", "[::1,h.example"]
)
def test_no_proxy_excludes_a_host_whatever_else_it_contains(
    monkeypatch: pytest.MonkeyPatch, excluded: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", excluded)
    assert proxy_for("https://h.example:443/") is None


def test_what_has_no_host_has_no_proxy_and_a_name_in_lower_case_takes_precedence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    assert [proxy_for(url) for url in ("", "h.example/mcp", "http://[x")] == [None] * 3
    monkeypatch.setenv("HTTPS_PROXY", "http://upper.example")
    monkeypatch.setenv("https_proxy", "http://lower.example")
    found = proxy_for(URL)
    assert found is not None and (found.variable, found.shown) == ("https_proxy", "http://lower.example")


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("http://ada:s3cret@p.example:99999", "is not the URL of a proxy: http://p.example:99999"),
        ("http://ada:s3cret@p.exa mple:3128", "is not the URL of a proxy: http://p.exa mple:3128"),
        ("ftp://ada:s3cret@p.example", "with an unsupported scheme: ftp://p.example"),
        ("http://ada:s3cret@", "is not the URL of a proxy: http://"),
        ("http://ada:s3cret@[::1", "is not the URL of a proxy: http://[::1"),
        ("socks5://ada:s3cret@p.example:1080", "SOCKS proxy (socks5://p.example:1080), for which"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch, value: str, fault: str
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("ALL_PROXY", value)
    found = proxy_for(URL)
    assert found is not None and fault in found.fault and found.fault.startswith("ALL_PROXY ")
    assert "s3cret" not in found.fault + found.shown and "ada" not in found.fault + found.shown


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (httpx2.ConnectError("x"), "cannot connect to the proxy PROXY: "),
        (httpx2.ConnectTimeout(""), "cannot connect to the proxy PROXY: "),
        (httpx2.ProxyError("403 Forbidden"), "the proxy PROXY rejected far: HTTP 403"),
        (httpx2.ReadError(""), "connection to far through the proxy PROXY lost: "),
    ],
)
def test_a_failure_behind_a_proxy_names_the_proxy(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://ada:s3cret@p.example:3128")
    found = proxy_problem(error, URL, "far")
    said = said.replace("PROXY", "http://p.example:3128 (HTTPS_PROXY)")
    assert found is not None and found[0].startswith(said)
    assert found[1] == "Check HTTPS_PROXY, or add h.example to NO_PROXY."
    assert "s3cret" not in str(found)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    for name in ("SSH_CONNECTION", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(webbrowser, "open", lambda address: found.append(address) or True)
    return found


def test_a_url_is_opened_if_there_is_a_display(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    assert open_browser("https://auth.example/") and opened == ["https://auth.example/"]


def test_over_ssh_no_browser_is_opened(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    assert not open_browser("https://auth.example/") and opened == []


def test_without_a_display_no_text_browser_takes_over_the_terminal(
    opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert not open_browser("https://auth.example/") and opened == []


@each_case(
    ("address", "server", "fault"),
    [
        ("https://auth.example/token", "https://mcp.example/mcp", ""),
        ("http://auth.example/token", "https://mcp.example/mcp", "not encrypted"),
        ("http://127.0.0.1:9/token", "http://localhost:8/mcp", ""),
        ("http://corp/token", "http://corp/mcp", ""),
        ("https://10.0.0.5/token", "https://mcp.example/mcp", "private network"),
        ("https://169.254.169.254/latest", "https://mcp.example/mcp", "private network"),
        ("https://[::1]/token", "https://mcp.example/mcp", "private network"),
        ("https://intranet/token", "https://mcp.example/mcp", "private network"),
        ("https://10.0.0.5/token", "https://10.0.0.9/mcp", ""),
        ("ftp://auth.example/token", "https://mcp.example/mcp", "not an https"),
        ("https://me:secret@auth.example/token", "https://mcp.example/mcp", "user name"),
    ],
)
def test_an_address_must_be_encrypted_and_not_lead_into_a_private_network(
    address: str, server: str, fault: str
) -> None:
    found = address_fault(address, server)
    assert (fault in found) if fault else found == ""


@each_case(
    "host",
    [
        *("127.1", "0x7f.1", "0177.0.0.1", "0X7F000001", "2130706433", "10.0x1", "127.1."),
        *("\uff11\uff12\uff17.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "::ffff:10.0.0.1"),
    ],
)
def test_a_private_address_is_recognized_in_every_notation(host: str) -> None:
    assert is_private(host)
    assert "is in a private network" in address_fault(
        f"https://{f'[{host}]' if ':' in host else host}/", "https://example.com"
    )


@each_case("host", ["8.8", "0x08080808", "64:ff9b::808:808", "a1.2b", "1.2.3.4.5"])
def test_a_public_address_is_not_private_in_any_notation(host: str) -> None:
    assert not is_private(host)


def test_an_address_in_an_old_notation_is_marked_as_one() -> None:
    assert "an IP address" in " ".join(web_address("https://0x08.8/").warnings)


@pytest.mark.parametrize(("most", "body"), [(4, b"abcd"), (3, None)])
async def test_a_body_is_read_up_to_a_limit(most: int, body: bytes | None) -> None:
    async def blocks() -> AsyncIterator[bytes]:
        yield b"ab"
        yield b"cd"
        if body is None:
            raise AssertionError("read on after the limit")

    assert await joined(blocks(), most) == body
