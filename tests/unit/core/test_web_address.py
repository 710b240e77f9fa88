"""How a URL to open is shown, and which URLs are never opened."""

import pytest

from tui.core.web import MAX_LENGTH, has_browser, web_address


def test_a_url_is_shown_complete_in_three_parts() -> None:
    seen = web_address("https://GitHub.com:443/login?next=https://x.example/#top")

    assert (seen.before, seen.host, seen.after) == (
        "https://",
        "GitHub.com",
        ":443/login?next=https://x.example/#top",
    )
    assert not seen.warnings and not seen.problem


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,<script>1</script>",
        "ms-settings:",
        "http://169.254.169.254/latest/meta-data/",
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


@pytest.mark.parametrize(
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
