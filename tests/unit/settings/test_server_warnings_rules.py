"""Warnings about rules that have no effect."""

from pathlib import Path

import pytest

from tui.settings.load import load
from tui.settings.server_warnings import rule_warnings

SERVERS = '[servers.notes]\ncommand = "x"\n[servers."my server"]\ncommand = "y"\ndisabled = true\n'


def warned(tmp_path: Path, rules: str, servers: str = SERVERS) -> list[str]:
    file = tmp_path / "c.toml"
    file.write_text(f"[approvals]\n{rules}\n{servers}")
    file.chmod(0o600)
    found = rule_warnings(load(file, {}))
    assert all(one.warning for one in found)
    return [str(one).removeprefix(str(file)) for one in found]


def test_hidden_characters_in_the_name_of_a_rule_are_shown_by_their_code_point(tmp_path: Path) -> None:
    (found,) = warned(tmp_path, 'deny = ["no\u200btes/*"]')
    assert "no server is named no[U+200B]tes, did" in found


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ('deny notes/b path=["/etc"]', "[/etc] matches one of the characters in the brackets"),
        ("deny notes/b hosts=*[::1]*", "[::1] matches one of the characters in the brackets"),
        ("ask notes/b subject=[draft]*", "[draft] matches one of the characters in the brackets"),
        ("allow notes/b url=https://h/a?q=1", "? matches any one character, also in a URL"),
        ("deny notes/b url=https://h/a?q=1", ""),
        ("allow notes/b url=https://h/a[?]q=1", ""),
        ("deny notes/[a-z]* x=[!ab]*", ""),
        ("deny notes/[ab]? x=[[]draft] y=[0-9a-f]*", ""),
    ],
)
def test_a_wildcard_that_looks_literal_is_explained(rule: str, words: str, tmp_path: Path):
    found = warned(tmp_path, f"rules = ['{rule}']")
    assert (words in " ".join(found)) if words else not found


def test_a_rule_for_an_unknown_server_is_reported_with_its_line(tmp_path: Path):
    rules = 'rules = [\n"deny note/*",\n"ask notes/*",\n]\nallow = ["weather/*"]'
    assert warned(tmp_path, rules) == [
        ":3 approvals.rules[1]: no server is named note, did you mean “notes”?",
        ":6 approvals.allow[1]: no server is named weather",
    ]


@pytest.mark.parametrize(
    "rule",
    ["deny */*", "allow n?tes/*", "ask no*x/y", 'deny \\"my server\\"/*', "ask [mn]*/x", "deny mcptui/*"],
)
def test_a_pattern_that_can_match_a_server_is_accepted_even_if_it_is_disabled(tmp_path: Path, rule: str):
    assert warned(tmp_path, f'rules = ["{rule}"]') == []


def test_without_servers_rules_are_checked_against_the_samples(tmp_path: Path):
    assert warned(tmp_path, 'ask = ["weather/*", "files/*"]', "") == [
        ":2 approvals.ask[2]: no server is named files"
    ]
