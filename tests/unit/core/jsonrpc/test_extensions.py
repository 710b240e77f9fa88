"""The table of extensions, and what becomes of each between mcptui and a server."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tui.core.addons import ADDONS
from tui.core.jsonrpc import extensions
from tui.core.jsonrpc.client_profile import ClientProfile
from tui.core.jsonrpc.extensions import (
    CLIENT_CREDENTIALS,
    EXTENSIONS,
    MAX_EXTENSIONS,
    SKILLS,
    TASKS,
    UI,
    Declared,
    OurSide,
    Support,
    Use,
    off_method,
    unknown_revision,
)
from tui.core.jsonrpc.protocol import MODERN, REVISIONS

LEGACY = "2025-11-25"


@pytest.fixture(autouse=True)
def all_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extensions, "_is_installed", lambda addon: True)


@pytest.mark.parametrize("one", EXTENSIONS.values(), ids=lambda one: one.title)
def test_a_row_names_a_known_revision_and_nothing_unsupported_is_declared(one: extensions.Extension):
    assert one.since in ("", *REVISIONS) and one.sep.startswith("SEP-")
    assert one.declared is Declared.NEVER or one.support is not Support.NO
    assert "." not in one.note[:-1].rstrip(".") or one.note.endswith(".")


def test_a_tool_with_a_user_interface_is_never_promised_to_be_rendered():
    assert EXTENSIONS[UI].declared is Declared.NEVER
    assert UI not in OurSide(MODERN).declared


def test_extensions_of_the_newer_era_are_declared_only_there():
    assert TASKS in OurSide(MODERN).declared
    assert OurSide(LEGACY).declared == {} == OurSide("").declared


@pytest.mark.parametrize("version", [MODERN, LEGACY])
def test_the_extension_of_a_sign_in_is_declared_in_both_eras_to_its_servers_only(version: str):
    assert CLIENT_CREDENTIALS in OurSide(version, sign_in=CLIENT_CREDENTIALS).declared
    assert CLIENT_CREDENTIALS not in OurSide(version).declared


def test_an_extension_that_is_turned_off_is_not_declared():
    assert TASKS not in OurSide(MODERN, {TASKS: False}).declared
    assert TASKS in OurSide(MODERN, {TASKS: True}).declared


def test_an_extension_without_its_addon_is_not_declared_and_not_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(extensions, "_is_installed", lambda addon: False)
    ours = OurSide(MODERN)
    found = ours.use_of(SKILLS, {SKILLS: {}})
    assert SKILLS not in ours.declared
    assert (found.use, found.why) == (Use.NOT_USED, "needs the add-on skills, which is not installed")


def test_the_addons_of_the_house_are_found_by_their_folder(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.undo()
    name = next(iter(ADDONS))
    assert extensions._is_installed(name) and not extensions._is_installed("no_such_addon")


@pytest.mark.parametrize(
    ("name", "theirs", "switches", "use"),
    [
        (TASKS, {TASKS: {}}, {}, Use.IN_USE),
        (TASKS, {TASKS: None}, {}, Use.IN_USE),
        (TASKS, {}, {}, Use.NOT_OFFERED),
        (TASKS, None, {}, Use.NOT_OFFERED),
        (TASKS, ["x"], {}, Use.NOT_OFFERED),
        (TASKS, {TASKS: {}}, {TASKS: False}, Use.OFF),
        (TASKS, {TASKS: {"revision": "3"}}, {}, Use.NOT_USED),
        (TASKS, {TASKS: {"revision": 3}}, {}, Use.IN_USE),
        (UI, {UI: {}}, {}, Use.NOT_USED),
        (CLIENT_CREDENTIALS, {CLIENT_CREDENTIALS: {}}, {}, Use.NOT_USED),
        ("io.modelcontextprotocol/files", {"io.modelcontextprotocol/files": {}}, {}, Use.NOT_SUPPORTED),
        ("com.example/own", {"com.example/own": {}}, {}, Use.NOT_SUPPORTED),
    ],
)
def test_what_becomes_of_an_extension(name: str, theirs: Any, switches: Mapping[str, bool], use: Use):
    assert OurSide(MODERN, switches).use_of(name, theirs).use is use


def test_a_revision_that_is_not_known_is_named():
    found = OurSide(MODERN).use_of(TASKS, {TASKS: {"revision": "2027\x1b[31m"}})
    assert found.usable is None and found.why.startswith("its revision 2027") and "\x1b" not in found.why
    assert unknown_revision("com.example/own", {"revision": "1"}) == ""


def test_what_a_server_declares_in_the_older_era_can_be_used():
    assert OurSide(LEGACY).use_of(SKILLS, {SKILLS: {"directoryRead": True}}).usable == {"directoryRead": True}


def test_extensions_are_listed_once_and_unknown_ones_cannot_hide_the_known():
    ours = OurSide(MODERN, {SKILLS: False})
    found = [one.id for one in ours.uses({"com.example/own": {}, TASKS: {}})]
    assert (found[0], found[-1]) == (TASKS, "com.example/own")
    assert found.count(TASKS) == 1 and SKILLS in found


def test_a_server_with_thousands_of_extensions_costs_no_more_than_forty():
    theirs = {f"com.example/{number}": {} for number in range(5_000)}
    assert len(OurSide(LEGACY).uses(theirs)) == MAX_EXTENSIONS


@pytest.mark.parametrize(
    ("method", "owner"),
    [
        ("tasks/get", TASKS),
        ("tasks/cancel", TASKS),
        ("skills/list", SKILLS),
        ("resources/directory/read", SKILLS),
        ("resources/read", ""),
        ("tools/call", ""),
    ],
)
def test_a_method_belongs_to_the_extension_that_is_off(method: str, owner: str):
    assert off_method(method, {TASKS: False, SKILLS: False, UI: False, "com.example/x": False}) == owner
    assert off_method(method, {TASKS: True, SKILLS: True}) == ""


def test_a_profile_decides_alone_what_is_declared_and_used():
    profile = ClientProfile({"name": "other"}, {"extensions": {UI: {"mimeTypes": ["x"]}}}, (MODERN,))
    ours = OurSide(MODERN, profile=profile)
    assert ours.declared == {UI: {"mimeTypes": ["x"]}}
    assert ours.use_of(TASKS, {TASKS: {}}).why == "other does not declare it"
    assert OurSide(MODERN, {UI: False}, profile=profile).declared == {}


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        ({TASKS: {}}, "declared by the server and by mcptui"),
        ({}, "declared by mcptui only"),
        ({UI: {}}, "declared by the server only"),
    ],
)
def test_both_sides_are_named(theirs: dict[str, Any], words: str):
    name = next(iter(theirs), TASKS)
    assert OurSide(MODERN).use_of(name, theirs).declared_by == words
    assert OurSide(LEGACY).use_of(TASKS, {}).declared_by == "not declared"


@pytest.mark.parametrize("one", EXTENSIONS.values(), ids=lambda one: one.title)
def test_the_documentation_has_each_extension_and_its_support(one: extensions.Extension):
    text = (Path(__file__).parents[4] / "docs" / "extensions.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if f"| `{one.id}` |" in line]
    title, _, support, declared = (cell.strip() for cell in row.strip("|").split("|"))
    assert title == one.title and support.startswith(str(one.support))
    assert (declared == "never") is (one.declared is Declared.NEVER)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [({"io.x/a": {"b": 1}}, {"b": 1}), ({"io.x/a": True}, {}), ({}, None), (7, None)],
)
def test_the_settings_of_an_extension_are_an_object_or_none(declared: object, expected: object) -> None:
    assert OurSide().use_of("io.x/a", declared).settings == expected
