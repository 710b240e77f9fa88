"""Which servers are trusted: by configuration, flag, answer, or because they are samples."""

import stat
import sys
import tomllib
from pathlib import Path

import pytest

from tests.unit.core.permission.test_approval_policy_recorded_decisions import Noted
from tests.unit.runtime.stage import configuration_of
from tui.core.context.built_in_tools import BUILT_IN
from tui.core.ports import DecisionKind
from tui.core.servers import ServerSpec
from tui.core.tools import Tool
from tui.host.host import Host
from tui.host.server.host_context import HostContext
from tui.runtime.options import Options
from tui.runtime.permission.server_trust import ServerTrust, StoredTrust
from tui.settings.locations import sample_server

FETCH = ServerSpec("fetch", "uvx")


class Setup:
    def __init__(self, folder: Path, *specs: ServerSpec) -> None:
        self.config = folder / "config.toml"
        self.log = Noted()
        self.configuration = configuration_of(self.config, options=Options(trust_config=True))
        self.host = self.configuration.host = Host(specs, HostContext(lambda *_: None))
        self.stored = StoredTrust(folder / "trusted.json")
        self.trust = ServerTrust(self.stored, self.configuration, self.log)

    async def read(self, text: str) -> None:
        self.config.write_text(text)
        await self.configuration.reload()


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path, FETCH)


def test_a_server_is_undecided_and_not_trusted_at_first(setup: Setup) -> None:
    assert setup.stored.applied(FETCH).trusted is None
    assert setup.trust.trusted("fetch") is None and not setup.trust.trusts(Tool("fetch", "get", trusted=True))


def test_an_answer_is_applied_at_once_saved_and_recorded(setup: Setup) -> None:
    setup.trust.decide("fetch", True)
    assert setup.host.status("fetch").spec.trusted is True
    assert setup.trust.trusts(Tool("fetch", "get")) and setup.trust.trusted("fetch")
    assert setup.stored.applied(FETCH).trusted is True
    setup.trust.close()
    assert [(one.kind, one.server, one.allowed) for one in setup.log.records] == [
        (DecisionKind.TRUST, "fetch", True)
    ]


@pytest.mark.parametrize("said", [True, False])
def test_the_configuration_overrides_an_answer(setup: Setup, said: bool) -> None:
    setup.trust.decide("fetch", not said)
    assert setup.stored.applied(ServerSpec("fetch", "uvx", trusted=said)).trusted is said
    setup.trust.close()


async def test_toggling_trust_changes_the_answer_or_the_configured_value(setup: Setup) -> None:
    await setup.read('[servers.fetch]\ncommand = "uvx"\n')
    assert await setup.trust.toggle("fetch") == ""
    assert setup.host.status("fetch").spec.trusted is True and "trusted" not in setup.config.read_text()
    await setup.read('[servers.fetch]\ncommand = "uvx"\ntrusted = true\n')
    assert await setup.trust.toggle("fetch") == ""
    assert tomllib.loads(setup.config.read_text())["servers"]["fetch"]["trusted"] is False
    setup.trust.close()


@pytest.mark.parametrize(
    ("spec", "trusted"),
    [
        (ServerSpec("any name", sys.executable, (str(sample_server("weather")),)), True),
        (ServerSpec("weather", sys.executable, ("elsewhere/weather.py",)), None),
        (ServerSpec("weather", "python3", (str(sample_server("weather")),)), None),
        (ServerSpec("weather", sys.executable, (str(sample_server("slow")),), env={"PYTHONPATH": "."}), None),
    ],
)
def test_samples_are_recognized_by_their_command(
    setup: Setup, spec: ServerSpec, trusted: bool | None
) -> None:
    assert setup.stored.applied(spec).trusted is trusted
    assert setup.stored.applied(spec).accept_changes is bool(trusted)


def test_built_in_tools_are_trusted_and_those_of_a_removed_server_are_not(setup: Setup) -> None:
    assert setup.trust.trusts(Tool("mcptui", "read_result", digest=f"{BUILT_IN}read_result"))
    setup.trust.decide("gone", True)
    assert setup.log.records == []
    assert not setup.trust.trusts(Tool("gone", "get", trusted=True)) and setup.trust.trusted("gone") is False


PACKAGE = ServerSpec("fetch", "uvx", ("mcp-server-fetch",))


def keep(path: Path, spec: ServerSpec, trusted: bool) -> None:
    stored = StoredTrust(path)
    stored.keep(spec, trusted)
    assert stored.applied(spec).trusted is trusted
    stored.close()


@pytest.mark.parametrize("trusted", [True, False])
def test_an_answer_is_kept_in_a_private_file(tmp_path: Path, trusted: bool) -> None:
    path = tmp_path / "state" / "trusted-servers.json"
    keep(path, PACKAGE, trusted)
    assert StoredTrust(path).applied(PACKAGE).trusted is trusted
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "uvx" not in path.read_text()


@pytest.mark.parametrize(
    "other",
    [
        ServerSpec("fetch", "uvx", ("mcp-server-fetch@2",)),
        ServerSpec("fetch", "uvx", ("mcp-server-fetch",), env={"NODE_OPTIONS": "-r ./x"}),
        ServerSpec("fetch", "uvx", ("mcp-server-fetch",), cwd="/tmp"),
        ServerSpec("other", "uvx", ("mcp-server-fetch",)),
    ],
)
def test_another_name_or_another_command_is_not_trusted(tmp_path: Path, other: ServerSpec) -> None:
    path = tmp_path / "trusted.json"
    keep(path, PACKAGE, True)
    assert StoredTrust(path).applied(other).trusted is None


def test_a_damaged_file_is_named_with_its_copy(tmp_path: Path) -> None:
    path = tmp_path / "trusted-servers.json"
    assert StoredTrust(path).damage == ""
    path.write_text("{")
    damage = StoredTrust(path).damage
    assert damage.startswith(f"{path} is not JSON")
    assert damage.endswith("Before it is replaced, it is copied to trusted-servers.damaged.")
