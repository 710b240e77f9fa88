"""Which settings of a configuration file from elsewhere are used."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from tui.settings import schema
from tui.settings.config_file import ConfigFile
from tui.settings.foreign_settings import USES, applicable_settings, unused_settings
from tui.settings.load import Loaded, load
from tui.settings.schema import Section, Settings

FILE = """
default_model = "m"
[models.m]
model = "x"
base_url = "http://127.0.0.1:1/v1"
system = "Be brief"
[servers.s]
command = "x"
trusted = true
accept_changes = true
instructions = true
offer_resources = true
send_as_is = true
roots = ["/"]
sampling = "allow"
sampling_tokens = 200000
sampling_per_minute = 2
secret_arguments = ["pin"]
extensions = { "io.modelcontextprotocol/tasks" = false }
act_as = "codex"
off = ["bad"]
[limits]
max_steps = 500
tool_seconds = 5
turn_tokens = 1000
[approvals]
rules = ["allow s/*", "deny s/delete"]
allow = ["s/x"]
ask = ["s/y"]
remembered = ["k"]
[traffic]
record = false
[ui]
theme = "quay"
[ui.keys]
"ask.send" = "n"
[oauth]
client_metadata_url = "https://h/c.json"
[registry]
url = "https://h/"
[snippets]
hi = "there"
"""

NOT_USED = """
servers.s.trusted servers.s.accept_changes servers.s.instructions servers.s.offer_resources
servers.s.send_as_is servers.s.roots servers.s.sampling servers.s.sampling_tokens servers.s.act_as
limits.max_steps
approvals.allow approvals.rules[1] approvals.remembered traffic.record ui.keys
oauth.client_metadata_url snippets
""".split()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "c.toml"
    file.write_text(FILE)
    file.chmod(0o600)
    return file


@pytest.fixture
def loaded(path: Path) -> Loaded:
    found = load(path, {})
    assert not found.problems
    return found


def sections(found: type[Section]) -> Iterator[type[Section]]:
    yield found
    for field in found.model_fields.values():
        for one in (field.annotation, *get_args(field.annotation)):
            if isinstance(one, type) and issubclass(one, Section):
                yield from sections(one)


def is_table(annotation: Any) -> bool:
    return any(
        isinstance(one, type) and issubclass(one, Section) for one in (annotation, *get_args(annotation))
    )


def test_every_setting_is_marked_as_used_or_ignored():
    """A new setting fails here: decide whether it is used in a file from elsewhere."""
    known = set(sections(Settings))
    assert {one for one in vars(schema).values() if isinstance(one, type) and issubclass(one, Section)} == {
        *known,
        Section,
    }
    assert known == set(USES)
    for table in known:
        decided = {name for name, one in table.model_fields.items() if not is_table(one.annotation)}
        assert decided == set(USES[table]), table.__name__


def test_an_unmarked_setting_is_ignored(loaded: Loaded, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(USES[schema.ServerSettings], "secret_arguments")  # type: ignore[arg-type]
    assert applicable_settings(loaded).settings.servers["s"].secret_arguments == []


def test_servers_models_and_restrictions_are_used(loaded: Loaded):
    found = applicable_settings(loaded).settings
    assert (found.default_model, found.models) == ("m", loaded.settings.models)
    server = found.servers["s"]
    assert (server.command, server.off, server.secret_arguments) == ("x", ["bad"], ["pin"])
    assert server.extensions == {"io.modelcontextprotocol/tasks": False} and server.act_as is None
    assert (server.sampling, server.sampling_per_minute) == ("ask", 2)
    assert (found.limits.tool_seconds, found.limits.turn_tokens) == (5, 1000)
    assert found.approvals.ask == ["s/y"] and "deny s/delete" in found.approvals.rules
    assert (found.ui.theme, found.registry.url) == ("quay", "https://h/")


def test_all_other_settings_are_ignored(loaded: Loaded):
    found = applicable_settings(loaded).settings
    server = found.servers["s"]
    assert (server.trusted, server.accept_changes, server.instructions) == (None, False, False)
    assert (server.offer_resources, server.send_as_is, server.roots) == (False, False, [])
    assert server.sampling_tokens == 100_000
    assert found.limits.max_steps == Settings().limits.max_steps
    assert (found.approvals.allow, found.approvals.remembered) == ([], [])
    assert found.traffic.record and not found.ui.keys and not found.snippets
    assert found.oauth.client_metadata_url is None


def test_one_note_names_ignored_settings_and_how_to_use_them(loaded: Loaded):
    (note,) = applicable_settings(loaded).problems
    assert note.warning and note.message.endswith("To use all of it, start with --trust-config.")
    named = note.message.partition("ignored: ")[2].partition(" and ")[0].split(", ")
    assert set(named) < set(NOT_USED) and f"and {len(NOT_USED) - len(named)} more" in note.message


def test_each_ignored_setting_is_a_warning_with_its_line(loaded: Loaded, path: Path):
    found = unused_settings(loaded)
    assert sorted(one.path for one in found) == sorted(NOT_USED)
    assert all(one.warning and one.line for one in found)
    line = FILE[: FILE.index("record")].count("\n") + 1
    record = next(one for one in found if one.path == "traffic.record")
    assert str(record).startswith(f"{path}:{line} traffic.record: this is not your own")


def test_a_file_without_such_settings_has_no_note(tmp_path: Path):
    file = tmp_path / "c.toml"
    file.write_text('[servers.s]\ncommand = "x"\ntrusted = false\n[limits]\nmax_steps = 2\n')
    file.chmod(0o600)
    loaded = load(file, {})
    assert applicable_settings(loaded) is loaded and unused_settings(loaded) == []


def test_the_users_own_file_and_a_trusted_file_are_used_as_a_whole(path: Path):
    assert ConfigFile(str(path), {}).read().settings.ui.keys == {}
    assert ConfigFile(str(path), {}, trust=True).read().settings.ui.keys == {"ask.send": ["n"]}
