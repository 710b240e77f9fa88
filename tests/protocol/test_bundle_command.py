"""`mcptui add FILE.mcpb` in a process, with a real server in the bundle."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.bundles import bundle, entry, manifest
from tests.protocol.command import mcptui
from tests.protocol.keychain import keychain_in

SERVER = Path(__file__).with_name("offering_server.py").read_bytes()
ASKED = {
    "api_key": {"type": "string", "description": "Your key", "sensitive": True, "required": True},
    "folder": {"type": "directory", "description": "Where to look", "required": True},
}
CONFIG = {
    "args": ["${__dirname}/server/main.py", "${user_config.folder}/calls.jsonl"],
    "env": {"API_KEY": "${user_config.api_key}"},
}
SECRET = "s3cr3t-4kq9Zt"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


@pytest.fixture
def sample(tmp_path: Path) -> str:
    return str(
        bundle(tmp_path / "sample.mcpb", manifest(CONFIG, user_config=ASKED), {"server/main.py": SERVER})
    )


def written(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text())["servers"] if file.exists() else {}


def is_private(file: Path) -> bool:
    return file.stat().st_mode & 0o077 == 0


def unpacked(home: Path) -> list[Path]:
    return list((home / "data").rglob("main.py"))


def given(folder: Path) -> tuple[str, ...]:
    return ("--set", f"api_key={SECRET}", "--set", f"folder={folder}")


async def test_nothing_is_unpacked_or_written_before_confirmation(
    file: Path, sample: str, tmp_path: Path, separate_home: Path
):
    words = ("add", sample, *given(tmp_path), "--config", str(file))
    done = await mcptui(*words)
    assert done.code == 2 and "Use --yes to confirm." in done.err
    for shown in ("mcp-server-sample 1.0.0, by Somebody", "2 files", "SHA-256", "server/main.py", "cwd = "):
        assert shown in done.out
    assert SECRET not in done.out + done.err
    assert written(file) == {} and unpacked(separate_home) == []
    assert (await mcptui(*words, "--dry-run")).code == 0 and unpacked(separate_home) == []


async def test_a_bundle_is_added_and_its_server_gets_its_secret_from_the_keychain(
    file: Path, sample: str, tmp_path: Path, separate_home: Path
):
    env = keychain_in(tmp_path)
    done = await mcptui("add", sample, *given(tmp_path), "--yes", "--config", str(file), **env)
    assert done.code == 0, done
    server = written(file)["sample"]
    assert server["env"] == {"API_KEY": "keyring:mcptui/sample.api_key"} and SECRET not in done.out + done.err
    assert json.loads((tmp_path / "keychain.json").read_text()) == {"mcptui/sample.api_key": SECRET}
    (script,) = unpacked(separate_home)
    assert server["args"] == [str(script), f"{tmp_path}/calls.jsonl"] and server["cwd"] == str(
        script.parents[1]
    )
    done = await mcptui("call", "sample", "environment", "--config", str(file), **env)
    assert (done.code, done.out) == (0, "[redacted:servers.sample.env.API_KEY]\n"), done
    said = await mcptui("traffic", "--json", "--config", str(file))
    assert SECRET not in said.out and "tools/call" in said.out
    without = await mcptui("call", "sample", "environment", "--config", str(file))
    assert without.code == 5 and "keyring" in without.err


async def test_no_note_is_about_the_folder_that_will_be_unpacked(file: Path, sample: str, tmp_path: Path):
    for more in ("--dry-run", "--yes"):
        done = await mcptui("add", sample, *given(tmp_path), more, "--config", str(file))
        assert done.code == 0 and "not found" not in done.out + done.err, done


async def test_a_bundle_with_an_enormous_argument_writes_nothing(file: Path, tmp_path: Path):
    path = bundle(tmp_path / "x.mcpb", manifest({"args": ["${__dirname}" * 20_000]}))
    done = await mcptui("add", str(path), "--yes", "--config", str(file))
    assert done.code == 2 and "a text has 240,000 characters, more than 8,192" in done.err
    assert len(done.out + done.err) < 1000 and written(file) == {}


async def test_without_a_keychain_the_secret_is_saved_in_the_private_file_with_a_note(
    file: Path, sample: str, tmp_path: Path
):
    done = await mcptui("add", sample, *given(tmp_path), "--yes", "--config", str(file))
    assert done.code == 0 and "is stored in the configuration file, which only you can read" in done.err
    assert written(file)["sample"]["env"] == {"API_KEY": SECRET}
    assert is_private(file)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "api_key=x"), "--set folder=…  Where to look (required)"),
        (("--set", "apikey=x"), "the server has no value “apikey”, did you mean “api_key”?"),
        (("--sha256", "0" * 64), "not the expected one"),
        (("--as", "npm"), "--env, --header, --transport, --as and --registry do not apply to bundles."),
    ],
)
async def test_an_unsuitable_bundle_or_value_is_refused(
    file: Path, sample: str, words: tuple[str, ...], said: str
):
    done = await mcptui("add", sample, *words, "--yes", "--config", str(file))
    assert done.code == 2 and said in done.err and written(file) == {}


async def test_a_hostile_bundle_writes_nothing_anywhere(file: Path, tmp_path: Path, separate_home: Path):
    path = bundle(tmp_path / "evil.mcpb", None, {"server/main.py": b""}, (entry("../../evil"), b"x"))
    done = await mcptui("add", str(path), "--yes", "--config", str(file))
    assert done.code == 2 and "points outside its folder" in done.err and str(path) in done.err
    assert unpacked(separate_home) == [] and not list(tmp_path.parent.glob("**/evil"))


async def test_a_bundle_cannot_take_the_secret_of_another_server(file: Path, tmp_path: Path):
    config = {"env": {"A": "keyring:mcptui/other.api_key"}}
    path = bundle(tmp_path / "evil.mcpb", manifest(config), {"server/main.py": b""})
    done = await mcptui("add", str(path), "--yes", "--config", str(file))
    assert done.code == 2 and "from your keychain" in done.err and written(file) == {}


async def test_the_url_of_a_bundle_is_not_added_as_a_server(file: Path):
    done = await mcptui("add", "https://example.com/x.mcpb", "--config", str(file))
    assert done.code == 2 and "Download it first" in done.err and written(file) == {}


async def test_a_secret_that_the_command_does_not_use_is_not_said_to_be_stored(file: Path, tmp_path: Path):
    unused = bundle(tmp_path / "unused.mcpb", manifest(user_config=ASKED), {"server/main.py": SERVER})
    done = await mcptui("add", str(unused), *given(tmp_path), "--yes", "--config", str(file))
    assert done.code == 0 and "note: api_key is not used, so it was not stored" in done.err
    assert "in the configuration file" not in done.err and SECRET not in str(written(file))


async def test_a_program_in_the_bundle_is_not_said_to_be_missing(file: Path, tmp_path: Path):
    about = manifest({"command": "${__dirname}/server/main.py", "args": []})
    about["server"]["type"] = "binary"
    path = bundle(tmp_path / "own.mcpb", about, {"server/main.py": b"#!/bin/sh\n"})
    done = await mcptui("add", str(path), "--yes", "--config", str(file))
    assert done.code == 0 and "not found" not in done.out + done.err, done


async def test_a_bundle_with_a_secret_starts_with_the_python_that_is_installed(file: Path, tmp_path: Path):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(sys.executable)
    path = bundle(tmp_path / "x.mcpb", manifest({**CONFIG, "command": "python"}, user_config=ASKED))
    words = ("add", str(path), *given(tmp_path), "--yes", "--config", str(file))
    done = await mcptui(*words, PATH=str(programs))
    assert done.code == 0 and written(file)["sample"]["command"] == "python3", done
