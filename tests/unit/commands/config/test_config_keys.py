"""`mcptui config key`: with a key from a pipe and from a terminal."""

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

from tests.endpoint import Endpoint, says
from tests.protocol.command import Done, in_this_process, mcptui

KEY = "sk-canary-1234567890"
COMMAND = (sys.executable, "-m", "tui")


def configured(home: Path, url: str = "http://127.0.0.1:9/v1") -> Path:
    file = home / "c.toml"
    file.write_text(f'[servers]\n[models.work]\nmodel = "m"\nbase_url = "{url}"\napi_key_env = "WORK_KEY"\n')
    return file


def holders_of(key: str, home: Path) -> list[str]:
    """Return the names of the folders whose files contain a key."""
    files = [one for one in home.rglob("*") if one.is_file()]
    return [one.parent.name for one in files if key.encode() in one.read_bytes()]


def run(file: Path, *words: str, key: str = "") -> Done:
    return in_this_process([*words, "--config", str(file)], key.encode())


def test_a_key_from_a_pipe_is_stored_in_a_private_file_listed_and_forgotten(separate_home: Path) -> None:
    file = configured(separate_home)
    assert run(file, "config", "key").out == "work: environment variable WORK_KEY (not set)\n"
    command = [*COMMAND, "config", "key", "work", "--config", str(file)]
    stored = subprocess.run(command, input=f"{KEY}\n", capture_output=True, text=True, timeout=60)
    assert stored.returncode == 0 and "mode 0600" in stored.stdout
    assert KEY not in stored.stdout + stored.stderr + file.read_text()
    assert run(file, "config", "key").out.startswith("work: stored in ")
    assert "is not set" not in run(file, "config", "check").out
    assert "deleted the key" in run(file, "config", "key", "work", "--forget").out
    assert run(file, "config", "key", "work", "--forget").out == "no key of this profile is stored\n"


async def test_a_stored_key_is_sent_to_the_model_and_recorded_nowhere(separate_home: Path) -> None:
    async with Endpoint([says("OK")]) as endpoint:
        file = configured(separate_home, endpoint.base_url)
        stored = await mcptui("config", "key", "work", "--config", str(file), stdin=KEY.encode())
        assert stored.code == 0
        done = await mcptui("run", "hello", "--model", "work", "--config", str(file))
    assert (done.out, done.code) == ("OK\n", 0), done.err
    assert endpoint.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert holders_of(KEY, separate_home) == ["model-keys"]


def test_a_key_given_as_an_argument_is_refused_and_not_repeated(separate_home: Path) -> None:
    file = configured(separate_home)
    for words in (("config", "key", "work", KEY), ("config", "key", KEY)):
        found = run(file, *words)
        assert found.code == 2 and KEY not in found.out + found.err and found.err


def on_terminal(file: Path, keys: bytes) -> tuple[int, bytes]:
    """Run the command on a terminal, send `keys` to its prompt; return its exit code and all output."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "config", "key", "work", "--config", str(file)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(slave)
    seen = b""
    is_typed = False
    while select.select([master], [], [], 60)[0]:
        try:
            seen += os.read(master, 4096)
        except OSError:
            break
        if b"API key of work" in seen and b"/v1): " in seen and not is_typed:
            is_typed = True
            os.write(master, keys)
    os.close(master)
    return process.wait(60), seen


def test_a_key_typed_on_a_terminal_is_not_echoed(separate_home: Path) -> None:
    code, seen = on_terminal(configured(separate_home), f"{KEY}\n".encode())
    assert code == 0 and b"stored in" in seen and KEY.encode() not in seen


def test_the_end_of_input_at_the_prompt_is_no_key(separate_home: Path) -> None:
    code, seen = on_terminal(configured(separate_home), b"\x04")
    assert code == 2 and b"no key was given" in seen


def test_the_variable_of_a_stored_key_need_not_be_set(separate_home: Path) -> None:
    file = separate_home / "dotted.toml"
    endpoint = 'model = "m"\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "NOT_SET"\n'
    file.write_text("".join(f'[models."{name}"]\n{endpoint}' for name in ("a.b", "plain", "other")))
    for name in ("a.b", "plain"):
        assert run(file, "config", "key", name, key=KEY).code == 0
    told = run(file, "config", "check").out
    assert "models.other.api_key_env" in told
    assert "a.b" not in told and "models.plain" not in told
