"""The table of hosts: complete rows, with evidence."""

import re
from datetime import date
from pathlib import Path

import pytest

from tui.addons.act_as.hosts import HOSTS, ActingHost, acting_host
from tui.core.jsonrpc.extensions import UI
from tui.core.jsonrpc.protocol import MODERN, REVISIONS

ROOT = Path(__file__).parents[4]

rows = pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)

SERVED = {"elicitation", "roots", "sampling", "extensions"}
"""What mcptui answers, with an error if the user does not allow it."""


@rows
def test_a_row_says_when_and_where_it_was_observed(host: ActingHost):
    assert date(2025, 1, 1) < date.fromisoformat(host.observed) and host.sources
    assert re.search(r"[\w-]+/[\w.-]+[@#]\w+", " ".join(host.sources))
    assert all("://" not in source for source in host.sources)


@rows
def test_a_host_has_a_name_and_a_version_and_speaks_the_older_era(host: ActingHost):
    info, versions = host.profile.info, host.profile.versions
    assert info["name"] and info["version"] and set(versions) <= set(REVISIONS)
    assert list(versions) == sorted(versions, reverse=True) and versions[-1] == REVISIONS[0]
    assert host.profile.is_modern is (versions[0] == MODERN)


@rows
def test_what_is_declared_can_be_answered(host: ActingHost):
    declared = host.profile.capabilities
    assert declared.keys() <= SERVED and not declared.keys() & set(host.unserved)
    assert set(declared.get("extensions", {})) <= {UI}  # which promises nothing that a server could ask for


def test_an_unknown_host_is_an_error_with_the_known_ones():
    assert acting_host("claude-code").title == "Claude Code"
    with pytest.raises(ValueError, match="Known hosts: claude-code, claude-desktop, codex"):
        acting_host("nobody")


@rows
def test_the_documentation_has_each_row(host: ActingHost):
    name = next(known for known, one in HOSTS.items() if one is host)
    info, newest = host.profile.info, host.profile.versions[0]
    row = f"| `{name}` | {info['name']} {info['version']} | {newest} | {host.observed} |"
    assert row in (ROOT / "docs" / "extensions.md").read_text(encoding="utf-8")
