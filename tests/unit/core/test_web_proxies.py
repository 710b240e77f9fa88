"""The proxy of the environment. If it fails, its variable and value are named, never its password."""

import httpx2
import pytest

from tui.core.web import proxy_for, proxy_problem

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


@pytest.mark.parametrize("url", ["", "h.example/mcp", "http://[x"])
def test_what_has_no_host_has_no_proxy(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    assert proxy_for(url) is None


def test_a_name_in_lower_case_takes_precedence(monkeypatch: pytest.MonkeyPatch) -> None:
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
        (httpx2.ConnectError("x"), "cannot connect to the proxy http://p.example:3128 (HTTPS_PROXY): "),
        (httpx2.ConnectTimeout(""), "cannot connect to the proxy http://p.example:3128 (HTTPS_PROXY): "),
        (
            httpx2.ProxyError("403 Forbidden"),
            "the proxy http://p.example:3128 (HTTPS_PROXY) rejected far: HTTP 403",
        ),
        (
            httpx2.ReadError(""),
            "connection to far through the proxy http://p.example:3128 (HTTPS_PROXY) lost: ",
        ),
    ],
)
def test_a_failure_behind_a_proxy_names_the_proxy(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://ada:s3cret@p.example:3128")
    found = proxy_problem(error, URL, "far")
    assert found is not None and found[0].startswith(said)
    assert found[1] == "Check HTTPS_PROXY, or add h.example to NO_PROXY."
    assert "s3cret" not in str(found)
