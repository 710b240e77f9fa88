"""Which servers are trusted, in a file: private, and bound to what runs."""

import stat
from pathlib import Path

import pytest

from tui.core.servers import ServerSpec
from tui.runtime.permission.server_trust import StoredTrust

FETCH = ServerSpec("fetch", "uvx", ("mcp-server-fetch",))


def keep(path: Path, spec: ServerSpec, trusted: bool) -> None:
    stored = StoredTrust(path)
    stored.keep(spec, trusted)
    assert stored.find(spec) is trusted
    stored.close()


@pytest.mark.parametrize("trusted", [True, False])
def test_an_answer_is_kept_in_a_private_file(tmp_path: Path, trusted: bool) -> None:
    path = tmp_path / "state" / "trusted-servers.json"
    keep(path, FETCH, trusted)
    assert StoredTrust(path).find(FETCH) is trusted
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
    keep(path, FETCH, True)
    assert StoredTrust(path).find(other) is None


def test_a_damaged_file_is_named_with_its_copy(tmp_path: Path) -> None:
    path = tmp_path / "trusted-servers.json"
    assert StoredTrust(path).damage == ""
    path.write_text("{")
    damage = StoredTrust(path).damage
    assert damage.startswith(f"{path} is not JSON")
    assert damage.endswith("Before it is replaced, it is copied to trusted-servers.damaged.")
