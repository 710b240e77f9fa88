"""Servers added, changed and removed while mcptui runs: in the file and in the host."""

import tomllib
from dataclasses import replace

import pytest

from tests.conftest import until
from tests.unit.host.scripted import Script
from tests.unit.runtime.stage import configuration_of
from tui.core.errors import ConfigError, UsageError
from tui.core.servers import ServerState
from tui.host.host import Host
from tui.host.server.host_context import HostContext
from tui.runtime.server_changes import EDIT_THE_FILE, HIDDEN, ServerChanges, ServerValues

TWO = '# mine\n[servers.a]\ncommand = "python3"\nargs = ["a.py"]\n\n[servers.b]\nurl = "https://b.example/mcp"\n'


class Stage:
    """A configuration file, a host with scripted servers, and the changes between them."""

    def __init__(self, path, text):
        self.path = path
        if text:
            path.write_text(text)
            path.chmod(0o600)
        self.agreed = []
        self.configuration = configuration_of(path)
        specs = self.configuration.adopt(self.configuration.file.read(), self.configuration.file.stamp())
        self.host = Host(specs, HostContext(lambda *_: None, open_with=Script().open))
        self.configuration.host = self.host
        self.changes = ServerChanges(self.configuration, {}, self._agree)

    async def _agree(self, spec):
        self.agreed.append(spec.name)

    def servers(self):
        return tomllib.loads(self.path.read_text())["servers"]

    def names(self):
        return [status.name for status in self.host.statuses()]

    async def runs(self, *names):
        await until(
            lambda: {s.name for s in self.host.statuses() if s.state is ServerState.RUNNING} == set(names)
        )


@pytest.fixture
async def over(tmp_path):
    """Return a function that makes a stage over a file."""
    made = []

    def make(text, name="c.toml"):
        made.append(Stage(tmp_path / name, text))
        return made[-1]

    yield make
    for one in made:
        await one.host.shutdown()


@pytest.fixture
async def stage(over):
    made = over(TWO)
    await made.host.start_all()
    return made


async def test_an_added_server_is_saved_and_started_and_the_others_keep_running(stage):
    before = stage.host.status("a").since_ns
    draft = stage.changes.draft("", ServerValues("https://mcp.new.example/mcp", "X-Key: ${K}"))
    assert (draft.name, draft.notes) == ("new", ("the environment variable K is not set",))
    await stage.changes.add(stage.changes.draft("new", ServerValues("python3 -m m")))
    await stage.runs("a", "b", "new")
    assert stage.host.status("a").since_ns == before
    assert stage.servers()["new"] == {"command": "python3", "args": ["-m", "m"]}
    assert stage.path.read_text().startswith(TWO)


async def test_only_a_server_typed_by_the_user_gets_consent_in_another_file(stage):
    await stage.changes.add(stage.changes.draft("new", ServerValues("python3 -m m")))
    draft = stage.changes.draft("a", ServerValues("python3 other.py"), changes="a")
    await stage.changes.change(draft)
    assert stage.agreed == ["new"]


async def test_a_changed_server_is_restarted_and_keeps_its_position(stage):
    values = stage.changes.values("a")
    assert values == ServerValues("python3 a.py")
    draft = stage.changes.draft("a", ServerValues("python3 other.py", "A=1"), changes="a")
    await stage.changes.change(draft)
    await stage.runs("a", "b")
    assert stage.names() == ["a", "b"]
    assert stage.host.status("a").spec.args == ("other.py",)
    assert stage.servers()["a"] == {"command": "python3", "args": ["other.py"], "env": {"A": "1"}}


async def test_a_removed_server_is_removed_from_the_host_and_the_file(stage):
    await stage.changes.remove("a")
    assert stage.names() == ["b"]
    assert stage.path.read_text() == '# mine\n\n[servers.b]\nurl = "https://b.example/mcp"\n'


async def test_an_existing_name_or_server_is_refused(stage):
    with pytest.raises(ConfigError, match="already configured"):
        stage.changes.draft("a", ServerValues("python3 new.py"))
    with pytest.raises(ConfigError, match="already configured as “b”"):
        stage.changes.draft("c", ServerValues("https://b.example/mcp"))


async def test_a_secret_is_masked_in_the_form_and_kept(over):
    headers = '{ X-Key = "sk-1234567890", Y = "${Y}" }'
    text = f'[servers.a]\nurl = "https://a"\nheaders = {headers}\ntool_seconds = 5\n'
    stage = over(text)
    values = stage.changes.values("a")
    assert values.values == f"X-Key: {HIDDEN}\nY: ${{Y}}"
    draft = stage.changes.draft("a", ServerValues("https://c", values.values), changes="a")
    assert "sk-1234567890" not in draft.toml
    await stage.changes.change(draft)
    expected = {"url": "https://c", "headers": {"X-Key": "sk-1234567890", "Y": "${Y}"}, "tool_seconds": 5}
    assert stage.servers()["a"] == expected


async def test_a_fault_that_the_form_cannot_mend_names_the_configuration_file(over):
    text = '[servers.a]\nurl = "https://a"\nComand = 1\n[servers.b]\nurl = "https://b"\ntool_seconds = "x"\n'
    stage = over(text)
    values = stage.changes.values("a")
    with pytest.raises(ConfigError) as caught:
        stage.changes.draft("a", values, changes="a")
    assert caught.value.message == "the key `Comand` is unknown."
    assert caught.value.next_step == EDIT_THE_FILE
    with pytest.raises(ConfigError) as caught:
        stage.changes.draft("b", stage.changes.values("b"), changes="b")
    assert caught.value.message.startswith("tool_seconds must be") and caught.value.next_step == EDIT_THE_FILE


async def test_an_invalid_server_is_listed_with_its_error_and_can_be_corrected(over):
    stage = over('[servers.a]\nurl = "https://a"\nheaders = { X = "${NOT_SET}" }\n')
    status = stage.host.status("a")
    assert status.failed and "headers.X: the environment variable NOT_SET is not set" in status.detail
    assert status.next_step == "Press E to edit the configuration."
    await stage.host.start("a")
    assert stage.host.status("a").state is ServerState.STOPPED
    values = stage.changes.values("a")
    assert values.values == "X: ${NOT_SET}"
    await stage.changes.change(stage.changes.draft("a", ServerValues(values.line, "X: 1"), changes="a"))
    await stage.runs("a")


async def test_the_file_of_another_program_is_used_and_not_changed(over):
    stage = over('{"mcpServers": {"a": {"command": "python3"}}}', "mcp.json")
    assert stage.names() == ["a"]
    with pytest.raises(ConfigError, match="belongs to another program"):
        stage.changes.draft("b", ServerValues("python3 x.py"))
    for change in (stage.changes.toggle("a"), stage.changes.remove("a")):
        with pytest.raises(ConfigError, match="belongs to another program"):
            await change
    assert stage.names() == ["a"]


async def test_a_sample_server_cannot_be_changed_or_removed(over):
    stage = over("")
    for refused in (stage.changes.toggle("weather"), stage.changes.remove("weather")):
        with pytest.raises(UsageError, match="is a sample, not in"):
            await refused
    said = await stage.changes.add(stage.changes.draft("mine", ServerValues("python3 x.py")))
    assert said == ["the sample servers no longer start"]
    await stage.runs("mine")
    assert stage.names() == ["mine"]


async def test_settings_that_do_not_change_the_command_apply_without_a_restart(stage):
    before = {name: stage.host.status(name).since_ns for name in "ab"}
    stage.path.write_text(TWO.replace("[servers.b]", 'off = ["x"]\ntool_seconds = 5\n[servers.b]'))
    await stage.configuration.reload()
    spec = stage.host.status("a").spec
    assert (spec.off, spec.tool_seconds) == (("x",), 5.0)
    assert {name: stage.host.status(name).since_ns for name in "ab"} == before


async def test_a_form_keeps_changes_made_to_the_file_since_it_was_read(stage):
    text = stage.path.read_text().replace("[servers.b]", 'off = ["x"]\n[servers.b]')
    stage.path.write_text(text)  # as when a tool is disabled in the workbench
    values = stage.changes.values("a")
    await stage.changes.change(stage.changes.draft("a", replace(values, line="python3 b.py"), changes="a"))
    assert stage.servers()["a"] == {"command": "python3", "args": ["b.py"], "off": ["x"]}


async def test_sending_secrets_to_the_model_is_set_in_the_form_of_a_server(stage):
    draft = stage.changes.draft("new", ServerValues("python3 x.py", send_as_is=True))
    assert draft.table["send_as_is"] is True
    await stage.changes.add(draft)
    values = stage.changes.values("new")
    assert values.send_as_is
    without = stage.changes.draft("new", replace(values, send_as_is=False), changes="new")
    assert "send_as_is" not in without.table
