"""`mcptui add FILE.mcpb` in a process, with a real server in the bundle."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.bundles import bundle, manifest
from tests.configurations import servers_in
from tests.protocol.command import mcptui

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


def is_private(file: Path) -> bool:
    return file.stat().st_mode & 0o077 == 0


def unpacked(home: Path) -> list[Path]:
    return list((home / "data").rglob("main.py"))


def secret_files(home: Path) -> list[Path]:
    return list((home / "state").rglob("secrets/*"))


def given(folder: Path) -> tuple[str, ...]:
    return ("--set", f"api_key={SECRET}", "--set", f"folder={folder}")


async def test_nothing_is_unpacked_or_written_before_confirmation(
    file: Path, sample: str, tmp_path: Path, separate_home: Path
):
    words = ("add", sample, *given(tmp_path), "--config", str(file))
    done = await mcptui(*words)
    assert done.code == 2 and "Add --yes." in done.err
    for shown in ("mcp-server-sample 1.0.0, by Somebody", "2 files", "SHA-256", "server/main.py", "cwd = "):
        assert shown in done.out
    assert SECRET not in done.out + done.err
    assert servers_in(file) == {} and unpacked(separate_home) == []
    assert (await mcptui(*words, "--dry-run")).code == 0 and unpacked(separate_home) == []


async def test_a_bundle_is_added_and_its_server_gets_its_secret_from_the_keychain(
    file: Path,
    sample: str,
    tmp_path: Path,
    separate_home: Path,
    keychain: dict[tuple[str, str], str],
    monkeypatch: pytest.MonkeyPatch,
):
    done = await mcptui("add", sample, *given(tmp_path), "--yes", "--config", str(file))
    assert done.code == 0, done
    server = servers_in(file)["sample"]
    assert server["env"] == {"API_KEY": "keyring:mcptui/sample.api_key"} and SECRET not in done.out + done.err
    assert keychain == {("mcptui", "sample.api_key"): SECRET}
    (script,) = unpacked(separate_home)
    assert server["args"] == [str(script), f"{tmp_path}/calls.jsonl"] and server["cwd"] == str(
        script.parents[1]
    )
    done = await mcptui("call", "sample", "environment", "--config", str(file))
    assert (done.code, done.out) == (0, "[redacted:servers.sample.env.API_KEY]\n"), done
    said = await mcptui("traffic", "--json", "--config", str(file))
    assert SECRET not in said.out and "tools/call" in said.out
    monkeypatch.setitem(sys.modules, "keyring", None)
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
    assert len(done.out + done.err) < 1000 and servers_in(file) == {}


@pytest.fixture
def reporting(tmp_path: Path) -> str:
    """Return a bundle whose server writes to `seen` what it gets: a variable, and a part of an argument."""
    script = b"import json, os, sys\njson.dump([os.environ['API_KEY'], *sys.argv[1:]], open('seen', 'w'))\n"
    config = {**CONFIG, "args": ["${__dirname}/server/main.py", "--key=${user_config.api_key}"]}
    config["env"] = {"API_KEY": "${user_config.api_key}"}
    about = manifest(config, user_config={"api_key": ASKED["api_key"]})
    return str(bundle(tmp_path / "reporting.mcpb", about, {"server/main.py": script + SERVER}))


async def test_without_a_keychain_the_secret_is_in_a_private_file_and_the_server_gets_it(
    file: Path, reporting: str, separate_home: Path
):
    words = ("add", reporting, "--set", f"api_key={SECRET}", "--config", str(file))
    assert SECRET not in (await mcptui(*words, "--dry-run")).out and secret_files(separate_home) == []
    done = await mcptui(*words, "--yes")
    [path] = secret_files(separate_home)
    assert done.code == 0 and f"note: sample.api_key is stored in {path} (mode 0600, because" in done.err, (
        done
    )
    server = servers_in(file)["sample"]
    assert (
        server["env"] == {"API_KEY": f"${{file:{path}}}"} and server["args"][1] == f"--key=${{file:{path}}}"
    )
    assert SECRET not in done.out + done.err + str(servers_in(file))
    assert path.read_text() == SECRET and is_private(path) and is_private(path.parent)
    done = await mcptui("config", "check", "--config", str(file))
    assert done.code == 0 and ": OK: 1 server" in done.out, done
    done = await mcptui("call", "sample", "environment", "--config", str(file))
    assert done.code == 0 and SECRET not in done.out, done
    assert json.loads((Path(server["cwd"]) / "seen").read_text()) == [SECRET, f"--key={SECRET}"]


async def test_a_removed_server_takes_its_secret_file_along_and_can_be_added_again(
    file: Path, reporting: str, separate_home: Path
):
    for secret in (SECRET, f"{SECRET}-2"):
        words = ("--set", f"api_key={secret}", "--yes", "--config", str(file))
        assert (await mcptui("add", reporting, *words)).code == 0
        [path] = secret_files(separate_home)
        assert path.read_text() == secret
        done = await mcptui("remove", "sample", "--config", str(file))
        assert f"1 secret deleted from {path.parent}" in done.out and not secret_files(separate_home), done


def test_a_secret_that_a_removal_by_hand_left_behind_is_replaced(
    file: Path, reporting: str, separate_home: Path
):
    for secret in (SECRET, f"{SECRET}-2"):
        words = ("--set", f"api_key={secret}", "--yes", "--config", str(file))
        assert asyncio.run(mcptui("add", reporting, *words)).code == 0
        assert [path.read_text() for path in secret_files(separate_home)] == [secret]
        file.write_text("")


async def test_servers_of_one_name_in_two_configurations_have_secrets_of_their_own(
    file: Path, reporting: str, tmp_path: Path, separate_home: Path
):
    for config, secret in ((file, SECRET), (tmp_path / "other.toml", f"{SECRET}-2")):
        words = ("add", reporting, "--set", f"api_key={secret}", "--yes", "--config", str(config))
        assert (await mcptui(*words)).code == 0
    assert {path.read_text() for path in secret_files(separate_home)} == {SECRET, f"{SECRET}-2"}


async def test_no_secret_is_written_through_a_link(
    file: Path, reporting: str, tmp_path: Path, separate_home: Path
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (separate_home / "state" / "mcptui").mkdir(parents=True, exist_ok=True)
    (separate_home / "state" / "mcptui" / "secrets").symlink_to(elsewhere)
    words = ("add", reporting, "--set", f"api_key={SECRET}", "--yes", "--config", str(file))
    done = await mcptui(*words)
    assert done.code == 2 and "is a symbolic link" in done.err and SECRET not in done.out + done.err
    assert list(elsewhere.iterdir()) == [] and servers_in(file) == {}


async def test_each_of_several_secrets_of_a_name_is_stored(file: Path, tmp_path: Path, separate_home: Path):
    asked = {"key": {"type": "string", "sensitive": True, "multiple": True}}
    config = {"args": ["${__dirname}/server/main.py", "${user_config.key}"]}
    path = bundle(tmp_path / "x.mcpb", manifest(config, user_config=asked), {"server/main.py": SERVER})
    words = ("--set", f"key={SECRET}1", "--set", f"key={SECRET}2", "--yes", "--config", str(file))
    done = await mcptui("add", str(path), *words)
    kept = {f"${{file:{one}}}": one.read_text() for one in secret_files(separate_home)}
    assert done.code == 0, done
    assert [kept[one] for one in servers_in(file)["sample"]["args"][1:]] == [f"{SECRET}1", f"{SECRET}2"]


def test_a_secret_can_be_the_content_of_a_file_that_exists(
    file: Path, reporting: str, tmp_path: Path, separate_home: Path
):
    (tmp_path / "key").write_text(SECRET)
    reference = f"${{file:{tmp_path}/key}}"
    words = ("add", reporting, "--set", f"api_key={reference}", "--yes", "--config", str(file))
    assert asyncio.run(mcptui(*words)).code == 0
    assert servers_in(file)["sample"]["env"] == {"API_KEY": reference} and not secret_files(separate_home)


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
    assert done.code == 2 and said in done.err and servers_in(file) == {}


async def test_a_bundle_cannot_take_the_secret_of_another_server(file: Path, tmp_path: Path):
    config = {"env": {"A": "keyring:mcptui/other.api_key"}}
    path = bundle(tmp_path / "evil.mcpb", manifest(config), {"server/main.py": b""})
    done = await mcptui("add", str(path), "--yes", "--config", str(file))
    assert done.code == 2 and "from your keychain" in done.err and servers_in(file) == {}


async def test_the_url_of_a_bundle_is_not_added_as_a_server(file: Path):
    done = await mcptui("add", "https://example.com/x.mcpb", "--config", str(file))
    assert done.code == 2 and "Download it first" in done.err and servers_in(file) == {}


async def test_a_secret_that_the_command_does_not_use_is_not_said_to_be_stored(file: Path, tmp_path: Path):
    unused = bundle(tmp_path / "unused.mcpb", manifest(user_config=ASKED), {"server/main.py": SERVER})
    done = await mcptui("add", str(unused), *given(tmp_path), "--yes", "--config", str(file))
    assert done.code == 0 and "note: api_key is not used, so it was not stored" in done.err
    assert "is stored" not in done.err and SECRET not in str(servers_in(file))


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
    assert done.code == 0 and servers_in(file)["sample"]["command"] == "python3", done
