"""Copied requests are run, by a shell, Python and Node: servers over stdio and HTTP, in both eras."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import config_file, server
from tests.conftest import wait_until
from tests.programs import command
from tests.real.places import answers, free_port
from tui.traffic.copies.request import CopiedRequest, CopiedServer, Copy
from tui.traffic.copies.ways import copied, ways

SERVER = Path(__file__).with_name("copied_server.py")
MODERN, LEGACY = "2026-07-28", "2025-11-25"
HOSTILE = (
    'it\'s "quoted" `id` $HOME $(id) ${HOME} \\ %s !! ~ * ; & | # \x1b[31m \x07 \x7f \u202e \u200b end',
    "line\nbreaks\n\n",
    "-n --args @file -",
    "ünïcödé 🌧️ 你好 🏴\U000e0067",
    "",
    " ",
    "=?base64?eA==?=",
)
PACKAGES = Path(os.environ.get("MCPTUI_REAL_SERVERS", "/nonexistent"))
NODE = PACKAGES / "node_modules/node/bin/node"


@contextmanager
def serving(known: set[int], **env: str) -> Iterator[int]:
    """Run the server at a free port during the block."""
    found = free_port()
    process = subprocess.Popen(
        command(SERVER),
        env={**os.environ, "PORT": str(found), **env},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    known.add(process.pid)
    try:
        wait_until(lambda: answers(found), 30.0, "the server listens")
        yield found
    finally:
        process.kill()
        process.wait(10)


@pytest.fixture(scope="module")
def port(shared_processes: set[int]) -> Iterator[int]:
    with serving(shared_processes) as found:
        yield found


def over_stdio(revision: str) -> CopiedServer:
    return CopiedServer("copied", command=command(SERVER), revision=revision)


def over_http(port: int, revision: str) -> CopiedServer:
    return CopiedServer("copied", url=f"http://127.0.0.1:{port}/mcp", transport="http", revision=revision)


def call(server: CopiedServer, tool: str = "repeat", **arguments: Any) -> CopiedRequest:
    return CopiedRequest(
        server, "tools/call", {"name": tool, "arguments": arguments, "_meta": {"progressToken": 1}}
    )


def run(way: str, copy: Copy, folder: Path, shell: str = "sh", **env: str) -> str:
    """Run a copy in a new folder, and return what it prints."""
    around = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **env}
    if way == "python":
        file = folder / "made.py"
        words = [sys.executable, file]
    elif way == "typescript":
        file = folder / "made.mts"
        (folder / "node_modules").symlink_to(PACKAGES / "node_modules")
        words = [NODE, file]
    else:
        file = folder / "made.sh"
        words = [shell, file]
    file.write_text(copy.text, encoding="utf-8")
    done = subprocess.run(
        [*map(str, words)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=around,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, (done.stdout, done.stderr, copy.text)
    return done.stdout


def result_of(way: str, printed: str) -> Any:
    """Return the text of the result in what a copied call prints, read as JSON."""
    if way == "mcptui":
        return json.loads(printed)
    if way == "curl":
        return json.loads(result_of_curl(printed)["content"][0]["text"])
    return json.loads(json.loads(printed)["content"][0]["text"])


def result_of_curl(printed: str) -> Any:
    """Return the result in what curl prints last: JSON, or an event stream."""
    lines = [line.removeprefix("data: ") for line in printed.splitlines()]
    return json.loads([line for line in lines if line.startswith("{")][-1])["result"]


def skip_without_node(way: str) -> None:
    if way == "typescript" and not NODE.exists():
        pytest.skip("Node and its packages are not installed (MCPTUI_REAL_SERVERS)")


SCRIPTS = ("mcptui", "python", "typescript")
OVER_HTTP = ("mcptui", "curl", "python", "typescript")
ERAS = (LEGACY, MODERN)


@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize("way", SCRIPTS)
def test_a_call_over_stdio_sends_its_arguments(way: str, revision: str, tmp_path: Path) -> None:
    skip_without_node(way)
    more = {"a b": [1, 2.5, True, None, {"${HOME}": "$(id)"}], "--": "x", "__proto__": "y", "t": [*HOSTILE]}
    copy = copied(way, call(over_stdio(revision), text=HOSTILE[0], more=more))
    assert result_of(way, run(way, copy, tmp_path)) == [HOSTILE[0], more]


@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize("way", OVER_HTTP)
def test_a_call_over_http_sends_its_arguments(port: int, way: str, revision: str, tmp_path: Path) -> None:
    skip_without_node(way)
    copy = copied(way, call(over_http(port, revision), text=HOSTILE[1], more=[*HOSTILE]))
    assert result_of(way, run(way, copy, tmp_path)) == [HOSTILE[1], [*HOSTILE]]


@pytest.mark.parametrize("way", SCRIPTS)
def test_a_call_over_http_and_sse_sends_its_arguments(
    shared_processes: set[int], way: str, tmp_path: Path
) -> None:
    skip_without_node(way)
    with serving(shared_processes, KIND="sse") as found:
        reached = CopiedServer(
            "copied", url=f"http://127.0.0.1:{found}/sse", transport="sse", headers={"X-Secret": "${SECRET}"}
        )
        request = call(reached, text=HOSTILE[0])
        assert [*ways(request)] == [*SCRIPTS]
        printed = run(way, copied(way, request), tmp_path, SECRET="it's $x")
    assert result_of(way, printed) == [HOSTILE[0], None]


@pytest.mark.parametrize("way", ["mcptui", "curl"])
def test_arguments_larger_than_a_command_line_are_sent(port: int, way: str, tmp_path: Path) -> None:
    text = "it's ünïcödé\n" * 15_000
    copy = copied(way, call(over_http(port, LEGACY), text=text))
    assert result_of(way, run(way, copy, tmp_path)) == [text, None]


@pytest.mark.parametrize("way", SCRIPTS)
def test_arguments_of_100_kb_are_sent_over_stdio(way: str, tmp_path: Path) -> None:
    skip_without_node(way)
    text = "it's " * 20_000
    reached = replace(over_stdio(LEGACY), cwd=str(tmp_path))
    copy = copied(way, call(reached, text=text))
    assert result_of(way, run(way, copy, tmp_path)) == [text, None]


@pytest.mark.parametrize("way", SCRIPTS)
def test_variables_and_the_folder_of_a_command_are_passed_on(way: str, tmp_path: Path) -> None:
    skip_without_node(way)
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    env = {"COPIED_KEY": "a $${b} ${COPIED_KEY}"}
    copy = copied(way, call(replace(over_stdio(LEGACY), env=env, cwd=str(folder)), "environment"))
    printed = run(way, copy, tmp_path, COPIED_KEY="it's $HOME")
    shown = "[redacted:servers.copied.env.COPIED_KEY]" if way == "mcptui" else "a ${b} it's $HOME"
    assert result_of(way, printed) == [shown, None, str(folder)]
    assert copy.needs == ("COPIED_KEY",)


@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize("way", OVER_HTTP)
def test_headers_are_sent(port: int, way: str, revision: str, tmp_path: Path) -> None:
    skip_without_node(way)
    reached = replace(over_http(port, revision), headers={"X-Secret": "Token ${SECRET}"})
    copy = copied(way, call(reached, "environment"))
    printed = run(way, copy, tmp_path, SECRET="it's $x")
    shown = "[redacted:" if way == "mcptui" else "Token it's $x"  # mcptui redacts secrets
    assert result_of(way, printed)[1].startswith(shown)


@pytest.mark.parametrize("way", OVER_HTTP)
def test_a_copy_does_not_run_without_its_variables(port: int, way: str, tmp_path: Path) -> None:
    skip_without_node(way)
    reached = replace(over_http(port, MODERN), headers={"X-Secret": "${NOT_SET_HERE}"})
    copy = copied(way, call(reached, "environment"))
    assert copy.needs == ("NOT_SET_HERE",)
    with pytest.raises(AssertionError):
        run(way, copy, tmp_path)


REQUESTS = {
    "resources/read": ({"uri": "copied://it's%20%24HOME"}, "about it"),
    "prompts/get": ({"name": "said", "arguments": {"text": HOSTILE[0]}}, "$HOME $(id)"),
    "tools/list": ({}, "repeat"),
    "resources/list": ({}, ""),
    "resources/templates/list": ({}, "copied://{text}"),
    "prompts/list": ({}, "said"),
}


@pytest.mark.parametrize("method", REQUESTS)
@pytest.mark.parametrize("way", OVER_HTTP)
def test_other_requests_are_made(port: int, way: str, method: str, tmp_path: Path) -> None:
    skip_without_node(way)
    params, words = REQUESTS[method]
    request = CopiedRequest(over_http(port, MODERN), method, params)
    assert words in run(way, copied(way, request), tmp_path)


def test_a_copied_command_runs_in_bash(tmp_path: Path) -> None:
    copy = copied("mcptui", call(over_stdio(MODERN), text=HOSTILE[0]))
    assert result_of("mcptui", run("mcptui", copy, tmp_path, "bash")) == [HOSTILE[0], None]


def test_a_configured_server_is_called_by_its_name(tmp_path: Path) -> None:
    config = config_file(tmp_path, server("it-is", SERVER))
    found = CopiedServer("it-is", is_configured=True, options=("--config", str(config)))
    copy = copied("mcptui", call(found, text="x"))
    assert copy.text.startswith("""mcptui call it-is repeat --args '{"text": "x"}' --config""")
    trusted = replace(copy, text=f"{copy.text} --trust-config")
    assert result_of("mcptui", run("mcptui", trusted, tmp_path)) == ["x", None]
