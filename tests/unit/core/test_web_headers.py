"""Headers of a configuration next to ours."""

from tui.core.web import repeated_header, with_headers


def test_a_configured_header_replaces_ours_in_any_spelling():
    ours = {"user-agent": "mcptui", "Accept": "*/*"}
    assert with_headers(ours, {"User-Agent": "own", "X": "1"}) == {
        "Accept": "*/*",
        "User-Agent": "own",
        "X": "1",
    }


def test_a_header_in_two_spellings_is_found():
    assert repeated_header(["Authorization", "X", "authorization"]) == "authorization"
    assert repeated_header(["a", "b"]) == ""
