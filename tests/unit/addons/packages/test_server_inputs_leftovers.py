"""The files and secrets of a removed bundle are deleted, and nothing else."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tui.addons.packages.server_inputs import delete_leftovers
from tui.core.errors import ConfigError
from tui.core.secrets import keychain


@pytest.fixture
def bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tui.addons.packages.server_inputs.bundles_dir", lambda: tmp_path / "bundles")
    monkeypatch.setattr("tui.addons.packages.server_inputs.secrets_dir", lambda: tmp_path / "secrets")
    (tmp_path / "bundles" / "one").mkdir(parents=True)
    (tmp_path / "bundles" / "one" / "manifest.json").write_text("{}")
    (tmp_path / "bundles" / "one" / "server.py").write_text("")
    return tmp_path / "bundles"


@pytest.fixture
def removed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    places: list[str] = []

    async def remove(service: str, name: str) -> None:
        places.append(f"{service}/{name}")

    monkeypatch.setattr(keychain, "remove", remove)
    return places


def table(folder: Path, **env: str) -> dict[str, Any]:
    return {"command": "x", "cwd": str(folder), "env": env}


async def test_the_folder_and_the_secrets_of_a_server_are_deleted(bundles: Path, removed: list[str]):
    env = {"A": "keyring:mcptui/one.key", "B": "keyring:mcptui/one.key", "C": "plain"}
    present = {"one": table(bundles / "one", **env)}
    assert await delete_leftovers("one", present) == [
        "1 secret deleted from the keychain",
        f"deleted the files of its bundle in {bundles}/one",
    ]
    assert removed == ["mcptui/one.key"] and os.listdir(bundles) == []


async def test_files_and_secrets_used_by_another_server_are_kept(bundles: Path, removed: list[str]):
    same = table(bundles / "one", A="keyring:mcptui/one.key")
    assert await delete_leftovers("one", {"one": same, "two": same}) == []
    assert removed == [] and (bundles / "one").is_dir()


async def test_keychain_entries_created_by_the_user_are_kept(bundles: Path, removed: list[str]):
    env = {"A": "keyring:github/me", "B": "keyring:mcptui/other.key"}
    assert await delete_leftovers("one", {"one": {"command": "x", "env": env}}) == []
    assert removed == []


@pytest.mark.parametrize(
    ("path", "is_deleted"),
    [
        ("secrets/one.ab", True),
        ("secrets/one.shared", False),
        ("secrets/two.ab", False),
        ("secrets/../one.ab", False),
        ("one.ab", False),
    ],
)
async def test_only_secret_files_of_the_server_that_no_other_uses_are_deleted(
    bundles: Path, path: str, is_deleted: bool
):
    secrets = bundles.parent / "secrets"
    secrets.mkdir()
    file = bundles.parent / path
    file.write_text("s3cr3t")
    one = {"command": "x", "args": [f"--key=${{file:{file}}}"]}
    two = {"url": f"https://h.example/${{file:{secrets}/one.shared}}"}
    said = await delete_leftovers("one", {"one": one, "two": two})
    assert (
        said == ([f"1 secret deleted from {secrets}"] if is_deleted else []) and file.exists() != is_deleted
    )


@pytest.mark.parametrize("folder", ["", "..", ".", "../elsewhere", "one/inner", "link", "none"])
async def test_only_a_folder_of_a_bundle_is_deleted(bundles: Path, folder: str):
    (bundles / "one" / "inner").mkdir()
    (bundles.parent / "elsewhere").mkdir()
    (bundles / "link").symlink_to(bundles.parent / "elsewhere")
    before = sorted(str(path) for path in bundles.parent.rglob("*"))
    present = {"one": {"command": "x", "cwd": f"{bundles}/{folder}"}}
    assert await delete_leftovers("one", present) == []
    assert sorted(str(path) for path in bundles.parent.rglob("*")) == before


async def test_a_folder_with_files_written_by_the_server_is_kept_and_reported(bundles: Path):
    later = time.time() + 3600
    (bundles / "one" / "__pycache__").mkdir()
    compiled = bundles / "one" / "__pycache__" / "server.pyc"
    compiled.write_text("")
    os.utime(compiled, (later, later))
    (bundles / "one" / "notes.db").write_text("")
    os.utime(bundles / "one" / "notes.db", (later, later))
    present = {"one": table(bundles / "one")}
    [said] = await delete_leftovers("one", present)
    assert said == f"the server has written files to {bundles}/one, so the folder was kept"
    (bundles / "one" / "notes.db").unlink()
    [said] = await delete_leftovers("one", present)
    assert said.startswith("deleted the files")


async def test_an_unusable_keychain_is_reported(bundles: Path, monkeypatch: pytest.MonkeyPatch):
    async def locked(service: str, name: str) -> None:
        raise ConfigError("no response from the keychain within 30 s")

    monkeypatch.setattr(keychain, "remove", locked)
    present = {"one": {"command": "x", "env": {"A": "keyring:mcptui/one.key"}}}
    [said] = await delete_leftovers("one", present)
    assert said == (
        "its secrets are still in the keychain (mcptui/one.key): no response from the keychain within 30 s"
    )
