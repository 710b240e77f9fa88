"""docs/protocol.md is generated from its table, and what it names exists."""

import re

import pytest

from tests.conformance.test_conformance import suite
from tests.protocol.command import finish
from tests.real.installed import CONFORMANCE, NODE_22, needs
from tests.unit.protocol_page import (
    FIRST,
    GROUPS,
    MATRIX,
    OPTIONAL_SCENARIOS,
    PAGE,
    REVISIONS,
    ROOT,
    extension_rows,
    protocol_page,
    suite_version,
)
from tui import __version__
from tui.core.jsonrpc import protocol
from tui.core.jsonrpc.extensions import EXTENSIONS

ROWS = [row for rows in (*GROUPS.values(), extension_rows()) for row in rows]


def test_the_page_in_the_repository_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == protocol_page(), "run python -m tests.unit.protocol_page"


def test_the_named_tests_exist():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    names = {*re.findall(r"def (test_\w+)\(", sources)}
    missing = [row.tests for row in ROWS if row.tests and "/" not in row.tests and row.tests not in names]
    assert missing == []
    assert all((ROOT / row.tests).is_dir() for row in ROWS if "/" in row.tests)


def test_what_is_supported_has_a_test_and_a_version():
    assert [row.name for row in ROWS if row.support != "no" and not (row.tests and row.since)] == []
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert all(row.since in ("", __version__) or f"## {row.since}" in changelog for row in ROWS)
    assert __version__ >= FIRST


def test_every_revision_and_extension_is_on_the_page():
    assert tuple(row.name for row in REVISIONS) == protocol.REVISIONS
    page = protocol_page()
    assert all(f"`{name}`" in page for name in EXTENSIONS)


def test_the_row_for_the_client_matrix_has_a_cell_a_column():
    row = protocol_page().partition("```\n")[2].partition("\n")[0]
    assert row.count("|") == len(MATRIX) + 2


@pytest.mark.parametrize("installed", [pytest.param(None, marks=needs(CONFORMANCE, NODE_22))])
async def test_the_optional_scenarios_and_the_version_are_those_of_the_suite(installed: None):
    listed = await finish(await suite("list"), seconds=30)
    clients = listed.out.partition("Client scenarios")[2].partition("\n\n")[0]
    assert set(re.findall(r"- (\S+) \[extension\]", clients)) == set(OPTIONAL_SCENARIOS)
    version = CONFORMANCE.parents[1] / "@modelcontextprotocol" / "conformance" / "package.json"
    assert f'"version": "{suite_version()}"' in version.read_text(encoding="utf-8")
