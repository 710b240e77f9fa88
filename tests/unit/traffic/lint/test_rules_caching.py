"""Results that change while they are fresh, and requests for results that are fresh."""

from typing import Any

from tests.cases import each_case
from tests.unit.traffic.traffic_script import ECHO, Script
from tui.traffic.lint.result_cache import MOST_RESULTS, CachedResult, ResultCache

MINUTE = 60_000
OTHER = {**ECHO, "name": "other"}
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = "io.modelcontextprotocol/clientInfo"
TOOLS_CHANGED = "notifications/tools/list_changed"
READ = "resources/read"


def modern() -> Script:
    return Script().modern({"tools": {"listChanged": True}, "resources": {}})


def listed(
    script: Script, *tools: Any, ttl: Any = MINUTE, scope: str = "private", cursor: str = "", **meta: Any
) -> Script:
    params = {"cursor": cursor} if cursor else {}
    known = script.ask("tools/list", _meta=meta, **params)
    hints = {"resultType": "complete", "ttlMs": ttl, "cacheScope": scope}
    script.result(known, {"tools": list(tools), **hints})
    return script


def read(script: Script, uri: str, text: str) -> Script:
    known = script.ask(READ, uri=uri)
    hints = {"resultType": "complete", "ttlMs": MINUTE, "cacheScope": "private"}
    script.result(known, {"contents": [{"uri": uri, "text": text}], **hints})
    return script


def test_a_list_that_changes_while_it_is_fresh_is_reported():
    script = listed(listed(modern(), ECHO), ECHO, OTHER)
    finding = next(one for one in script.findings() if one.code == "changed-while-fresh")
    assert finding.sentence.endswith("which the server called fresh for 1 m 00 s.")
    assert finding.section == "2026-07-28 server/utilities/caching"


def test_asking_again_for_a_fresh_list_is_reported_once():
    script = listed(listed(listed(modern(), ECHO), ECHO), ECHO)
    assert script.codes() == ["asked-while-fresh"]


def test_nothing_is_reported_once_a_result_is_stale():
    script = listed(modern(), ECHO)
    script.wait(MINUTE)
    assert listed(script, OTHER).codes() == []


@each_case("ttl", [0, -1, None, "60000", True])
def test_a_result_without_a_valid_time_to_live_is_stale_at_once(ttl: Any):
    assert listed(listed(modern(), ECHO, ttl=ttl), OTHER).codes() == []


def test_a_notification_makes_a_list_stale():
    script = listed(modern(), ECHO)
    script.hear(TOOLS_CHANGED)
    codes = listed(script, OTHER).codes()
    assert "changed-while-fresh" not in codes and "asked-while-fresh" not in codes


def test_an_update_makes_only_its_resource_stale():
    script = read(read(modern(), "file:///a", "1"), "file:///b", "1")
    script.hear("notifications/resources/updated", {"uri": "file:///a"})
    found = read(read(script, "file:///a", "2"), "file:///b", "2").findings()
    assert [one.subject for one in found if one.code == "changed-while-fresh"] == ['"file:///b"']


def test_a_failed_call_justifies_listing_again():
    script = listed(modern(), ECHO)
    script.error(script.ask("tools/call", name="gone"), -32602)
    assert listed(script, OTHER).codes() == ["changed-while-fresh"]


def test_a_result_with_an_error_justifies_listing_again():
    script = listed(modern(), ECHO)
    said = {"resultType": "complete", "isError": True, "content": [{"type": "text", "text": "Unknown tool"}]}
    script.result(script.ask("tools/call", name="gone"), said)
    assert listed(script, ECHO).codes() == []


def test_pages_and_other_declarations_are_results_of_their_own():
    script = listed(modern(), ECHO)
    listed(script, OTHER, cursor="2")
    listed(script, OTHER, **{CAPABILITIES: {"extensions": {"io.modelcontextprotocol/skills": {}}}})
    assert script.codes() == []


def test_mcptui_is_not_reported_for_asking_again():
    us = {CLIENT: {"name": "mcptui", "version": "1"}}
    assert listed(listed(modern(), ECHO, **us), ECHO, **us).codes() == []


def test_mcptui_is_not_reported_for_asking_again_as_another_host():
    script, them = Script(), {CLIENT: {"name": "claude-code", "version": "1"}}
    script.event("spawn", pid=1, acts_as="claude-code")
    script.modern({"tools": {}})
    assert listed(listed(script, ECHO, **them), ECHO, **them).codes() == []


def test_a_round_with_input_is_not_cacheable():
    script = read(modern(), "file:///a", "1")
    known = script.ask(READ, uri="file:///a", requestState="x")
    script.result(known, {"resultType": "complete", "contents": [], "ttlMs": 1, "cacheScope": "private"})
    assert script.codes() == []


def test_pages_of_one_list_have_the_same_scope():
    script = listed(listed(modern(), ECHO, scope="public"), OTHER, scope="private", cursor="2")
    assert script.codes() == ["cache-scope"]


def test_a_public_result_is_compared_with_that_of_another_client():
    ours, theirs = ResultCache(), ResultCache()
    theirs = ours.beside()
    ours.keep("tools/list x", CachedResult(1, 10, "a", 1, is_public=True))
    ours.keep("prompts/list x", CachedResult(2, 10, "a", 1, is_public=False))
    assert [*theirs.public] == ["tools/list x"] and not theirs.own


def test_results_of_earlier_revisions_have_no_hints():
    script = Script().legacy()
    for tools in ([ECHO], [OTHER]):
        script.result(script.out("tools/list"), {"tools": tools, "ttlMs": MINUTE})
    assert script.codes() == []


def test_remembered_results_are_bounded():
    cache = ResultCache()
    for number in range(2 * MOST_RESULTS):
        cache.keep(f"resources/read {number}", CachedResult(number, 1, "", 1, is_public=True))
    assert len(cache.own) == len(cache.public) == MOST_RESULTS
