"""Writes docs/protocol.md from one table; tests keep both in sync, and check that the named tests exist."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.conformance.test_conformance import REQUIRED
from tui.core.jsonrpc.extensions import (
    CLIENT_CREDENTIALS,
    ENTERPRISE,
    EXTENSIONS,
    SKILLS,
    TASKS,
    UI,
    Extension,
)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "protocol.md"
FIRST = "0.1.0"
HOME = "https://ADDRESS"


class Row(NamedTuple):
    """A part of MCP. `tests` are names of test functions, or folders of tests, that show it."""

    name: str
    support: str
    note: str
    tests: str
    since: str = FIRST


YES, PARTLY, NO = "yes", "partly", "no"

REVISIONS = (
    Row("2024-11-05", YES, "", "test_a_server_of_each_older_revision_is_used"),
    Row("2025-03-26", YES, "Batches too.", "test_batches_are_accepted_once_2025_03_26_is_negotiated"),
    Row("2025-06-18", YES, "", "test_a_server_of_each_older_revision_is_used"),
    Row(
        "2025-11-25",
        YES,
        "Without its tasks, which became an extension.",
        "test_the_same_messages_and_headers_are_sent",
    ),
    Row("2026-07-28", YES, "Servers are asked for it first.", "test_the_same_messages_and_headers_are_sent"),
)
TRANSPORTS = (
    Row("stdio", YES, "", "test_a_started_server_is_running_with_its_protocol_title_and_tools"),
    Row(
        "Streamable HTTP",
        YES,
        "Streams are resumed by their event id.",
        "test_a_response_is_resumed_with_the_event_id_in_its_own_bytes",
    ),
    Row(
        "HTTP+SSE",
        YES,
        "Deprecated since 2025-03-26.",
        "test_a_stream_without_a_session_is_opened_again_and_the_gap_reported",
    ),
    Row(
        "WebSocket",
        YES,
        "Not part of MCP.",
        "test_a_message_in_several_frames_with_a_ping_between_is_one_message",
    ),
)
BASICS = (
    Row("Discovery without a handshake (2026-07-28)", YES, "", "test_a_newer_server_answers_the_probe"),
    Row(
        "AI catalogs and server cards (SEP-2127)",
        YES,
        "Hints: nothing is trusted for them. Signatures are ignored.",
        "tests/unit/addons/cards",
    ),
    Row(
        "Negotiation of the era",
        YES,
        "Remembered per server, or configured.",
        "test_a_silent_server_gets_initialize_even_if_rejections_end_the_session",
    ),
    Row(
        "Mirrored headers, `x-mcp-header`",
        YES,
        "",
        "test_a_tool_with_an_invalid_header_annotation_is_omitted_with_the_reason",
    ),
    Row(
        "Multi round-trip requests",
        YES,
        "",
        "test_reading_a_resource_and_getting_a_prompt_can_have_rounds_too",
    ),
    Row("Change streams (`subscriptions/listen`)", YES, "", "test_a_change_stream_that_ends_is_reopened"),
    Row(
        "Progress, cancellation, ping", YES, "", "test_valid_progress_is_reported_until_the_response_arrives"
    ),
    Row(
        "Pagination",
        YES,
        "Up to 100 pages and 10,000 tools.",
        "test_pages_are_followed_until_the_end_or_a_fault_and_what_was_found_is_kept",
    ),
    Row(
        "Caching hints (`ttlMs`, `cacheScope`)",
        PARTLY,
        "Shown, and checked by the linter. mcptui does not cache: it shows what the server has now.",
        "test_a_list_that_changes_while_it_is_fresh_is_reported",
    ),
    Row(
        "Trace context (`traceparent`)",
        YES,
        "If configured.",
        "test_a_request_has_the_traceparent_that_is_current",
    ),
)
SERVERS = (
    Row("Tools", YES, "", "test_pages_are_followed_until_the_end_or_a_fault_and_what_was_found_is_kept"),
    Row("Structured content, output schemas", YES, "", "test_missing_structured_content_is_a_warning"),
    Row(
        "Images, sound, embedded resources, links",
        YES,
        "",
        "test_a_link_is_shown_with_its_name_uri_and_description_and_cannot_close_its_brackets",
    ),
    Row("Resources and templates", YES, "", "test_a_template_is_recognized_by_its_uri_template"),
    Row(
        "Subscriptions to resources",
        YES,
        "",
        "test_a_restarted_server_gets_its_subscriptions_again_and_they_count_as_updated",
    ),
    Row("Prompts", YES, "", "test_a_prompt_with_missing_arguments_opens_its_form"),
    Row("Completion", YES, "", "test_completion_sends_the_typed_value_and_the_other_arguments"),
    Row("Change notifications of lists", YES, "", "test_changed_resources_and_prompts_are_counted_again"),
    Row(
        "Instructions",
        YES,
        "For the model if you allow it.",
        "test_instructions_are_available_only_if_the_person_allows_them",
    ),
    Row(
        "Logging",
        YES,
        "Deprecated since 2026-07-28.",
        "test_since_2026_the_log_level_is_part_of_each_request",
    ),
    Row("Icons", PARTLY, "Named, never fetched.", "test_an_icon_is_noted_but_not_stored"),
)
CLIENTS = (
    Row(
        "Elicitation with forms", YES, "", "test_a_legacy_server_gets_one_reply_to_each_form_and_url_request"
    ),
    Row(
        "Elicitation with URLs",
        YES,
        "",
        "test_a_call_that_requires_a_url_continues_when_its_server_reports_completion",
    ),
    Row(
        "Sampling",
        YES,
        "Off by default. Deprecated since 2026-07-28.",
        "test_a_flood_of_sampling_is_refused_and_not_queued",
    ),
    Row(
        "Roots",
        YES,
        "If configured. Deprecated since 2026-07-28.",
        "test_a_modern_server_gets_its_roots_in_a_round",
    ),
    Row(
        "Tasks of 2025-11-25",
        NO,
        "Experimental there. Tools that require them are not offered.",
        "test_a_tool_that_requires_2025_tasks_is_withheld_from_the_model",
        "",
    ),
)
AUTHORIZATION = (
    Row("OAuth 2.1 with PKCE and resource indicators", YES, "", "tests/conformance"),
    Row("Client ID metadata document", YES, "", "test_a_client_metadata_document_replaces_registration"),
    Row("Pre-registered client", YES, "", "test_a_configured_client_is_used_without_registration"),
    Row(
        "Dynamic client registration",
        YES,
        "Deprecated since 2026-07-28.",
        "test_the_registration_is_reused_with_the_same_redirect_uri",
    ),
    Row("Step-up for more scopes", YES, "", "test_a_call_that_needs_more_scopes_asks_for_them"),
    Row(
        "Check of the issuer (RFC 9207)",
        YES,
        "",
        "test_a_server_with_a_wrong_issuer_or_address_gets_no_code_and_is_rejected_as_early_as_possible",
    ),
    Row(
        "Refresh, revocation",
        YES,
        "",
        "test_signing_out_revokes_both_tokens_as_the_client_that_obtained_them",
    ),
    Row(
        "Endpoints of 2025-03-26 without metadata",
        YES,
        "",
        "test_the_2025_03_26_flow_without_server_metadata_works",
    ),
)
GROUPS = {
    "Revisions": REVISIONS,
    "Transports": TRANSPORTS,
    "Protocol": BASICS,
    "What servers offer": SERVERS,
    "What clients offer": CLIENTS,
    "Authorization": AUTHORIZATION,
}
"""All parts but the extensions."""

EXTENSION_TESTS = {
    TASKS: "test_a_call_that_becomes_a_task_gives_its_result",
    UI: "test_the_source_is_shown_and_its_text_opened_after_a_yes",
    CLIENT_CREDENTIALS: "test_a_private_key_signs_client_credentials",
}
"""For extensions that no add-on brings; the tests of an add-on are in its folder."""

OPTIONAL_SCENARIOS = (
    *("auth/client-credentials-jwt", "auth/client-credentials-basic", "auth/dpop", "auth/dpop-nonce"),
    *("auth/enterprise-managed-authorization", "auth/wif-jwt-bearer", "sep-2640-client-no-prefetch"),
    *("sep-2640-client-verify-digest", "sep-2640-client-verify-size", "sep-2640-client-verify-frontmatter"),
)
"""The client scenarios of the suite about extensions."""

MATRIX = (UI, CLIENT_CREDENTIALS, ENTERPRISE, SKILLS, TASKS)
"""The columns of the official client matrix, in its order."""

_HEAD = """# Protocol

<!-- Written by `python -m tests.unit.protocol_page`. Edit its table, or tui/core/jsonrpc/extensions.py. -->

What mcptui supports of MCP, since which version, and the test that shows it. `yes` means all that concerns a
client. What is not in the list is not supported.

## In a minute

1. `mcptui servers` prints which revision each of your servers speaks.
2. Find its line below, with the test that shows it.
3. In a clone, `.venv/bin/pytest tests/unit/host -k test_batches_are_accepted` runs one of them.
"""

_MATRIX = """
## Client matrix

A row for the [matrix of clients](https://modelcontextprotocol.io/extensions/client-matrix). `ADDRESS` stands
for the address of the repository. Columns: {columns}.

```
{row}
```
"""


def suite_version() -> str:
    """Return the version of the conformance suite that the tests install."""
    found = re.search(r"@modelcontextprotocol/conformance@(\S+)", (ROOT / ".ci" / "run").read_text())
    assert found is not None
    return found[1]


def scenarios_not_run() -> list[str]:
    played = {name for names in REQUIRED.values() for name in names}
    return [name for name in OPTIONAL_SCENARIOS if name not in played]


def extension_rows() -> list[Row]:
    """Return the extensions of the table; one whose add-on is missing is not supported."""
    return [
        Row(
            f"{one.title} (`{one.id}`)",
            _support(one),
            _note(one),
            _tests(one),
            FIRST if _support(one) != NO else "",
        )
        for one in EXTENSIONS.values()
    ]


def _support(one: Extension) -> str:
    return one.support.value if one.is_installed else NO


def _note(one: Extension) -> str:
    since = f"From revision {one.since} on." if one.since and _support(one) != NO else ""
    return " ".join(filter(None, (f"{one.sep}, {one.stage}.", since, one.note)))


def _tests(one: Extension) -> str:
    if _support(one) == NO:
        return ""
    return f"tests/unit/addons/{one.addon}" if one.addon else EXTENSION_TESTS[one.id]


def protocol_page() -> str:
    """Return the page: a table a group, the suite, and the row for the client matrix."""
    groups = {**GROUPS, "Extensions": extension_rows()}
    sections = (f"\n## {heading}\n\n{_table(rows)}" for heading, rows in groups.items())
    return "".join((_HEAD, *sections, _suite(), _matrix()))


def _suite() -> str:
    each = {revision: len(names) for revision, names in sorted(REQUIRED.items(), reverse=True)}
    counts = ", ".join(f"{count} of {revision or 'extensions'}" for revision, count in each.items())
    not_run = ", ".join(f"`{name}`" for name in scenarios_not_run())
    return (
        f"\n## Conformance\n\nOf the official suite ({suite_version()}), all {sum(each.values())} client "
        f"scenarios that the tests run pass without failures or warnings, over the ordinary host: {counts}. "
        f"Optional scenarios that are not run: {not_run or 'none'}.\n"
    )


def _matrix() -> str:
    cells = {YES: "<CHECK />", PARTLY: f"[Partial]({HOME}/blob/main/docs/protocol.md#extensions)", NO: ""}
    row = " | ".join((f"[mcptui]({HOME})", *(cells[_support(EXTENSIONS[name])] for name in MATRIX)))
    columns = ", ".join(EXTENSIONS[name].title for name in MATRIX)
    return _MATRIX.format(columns=columns, row=f"| {row} |")


def _table(rows: Sequence[Row]) -> str:
    lines: Iterable[str] = (
        f"| {row.name} | {row.support} | {row.since} | {row.note} | {row.tests and f'`{row.tests}`'} |\n"
        for row in rows
    )
    return "".join(("| part | supported | since | note | test |\n|---|---|---|---|---|\n", *lines))


if __name__ == "__main__":
    PAGE.write_text(protocol_page(), encoding="utf-8")
