"""A browser is opened only if the person can see it."""

import webbrowser

import pytest

from tui.host.browser import open_browser


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
