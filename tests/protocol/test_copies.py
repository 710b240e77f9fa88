"""Copied requests are run, by a shell, Python and Node: servers over stdio and HTTP, in both eras."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import config_file, server
from tests.programs import command
from tests.real.places import free_port, served
from tests.terminal.forking_python import Python
from tui.traffic.copies.request import CopiedRequest, CopiedServer, Copy
from tui.traffic.copies.ways import copied

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
pytestmark = pytest.mark.usefixtures("quick_python")

PACKAGES = Path(os.environ.get("MCPTUI_REAL_SERVERS", "/nonexistent"))
NODE = PACKAGES / "node_modules/node/bin/node"


@pytest.fixture(scope="module")
def urls(shared_processes: set[int]) -> Iterator[Mapping[str, str]]:
    """Return the URL of the server over each transport of HTTP."""
    port, other = free_port(), free_port()
    with (
        served(command(SERVER), port, shared_processes),
        served(["env", "KIND=sse", *command(SERVER)], other, shared_processes),
    ):
        yield {"http": f"http://127.0.0.1:{port}/mcp", "sse": f"http://127.0.0.1:{other}/sse"}


def over_stdio(**more: Any) -> CopiedServer:
    return CopiedServer("copied", command=(Python.command, str(SERVER)), **more)


def over(urls: Mapping[str, str], transport: str, revision: str, **headers: str) -> CopiedServer:
    return CopiedServer(
        "copied", url=urls[transport], transport=transport, revision=revision, headers=headers
    )


def call(server: CopiedServer, **arguments: Any) -> CopiedRequest:
    params = {"name": "repeat", "arguments": arguments, "_meta": {"progressToken": 1}}
    return CopiedRequest(server, "tools/call", params)


def run(way: str, copy: Copy, folder: Path, shell: str = "sh", **env: str) -> str:
    """Run a copy in a new folder, and return what it prints."""
    around = {**os.environ, "PATH": f"{Path(Python.command).parent}:{os.environ['PATH']}", **env}
    if way == "python":
        file = folder / "made.py"
        words = [Python.command, file]
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


@pytest.mark.parametrize(
    ("way", "revision"), [("mcptui", LEGACY), ("python", LEGACY), ("typescript", MODERN)]
)
def test_a_call_over_stdio_sends_its_arguments_from_its_folder_with_its_variables(
    way: str, revision: str, tmp_path: Path
) -> None:
    skip_without_node(way)
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    env = {"COPIED_KEY": "a $${b} ${COPIED_KEY}"}
    more = {"a b": [1, 2.5, True, None, {"${HOME}": "$(id)"}], "--": "x", "__proto__": "y", "t": [*HOSTILE]}
    server = over_stdio(revision=revision, env=env, cwd=str(folder))
    copy = copied(way, call(server, text=HOSTILE[0], more=more))
    shown = "[redacted:servers.copied.env.COPIED_KEY]" if way == "mcptui" else "a ${b} it's $HOME"
    found = result_of(way, run(way, copy, tmp_path, COPIED_KEY="it's $HOME"))
    assert found == [HOSTILE[0], more, shown, None, str(folder)]
    assert copy.remark == "Set COPIED_KEY before you run it."


@pytest.mark.parametrize(
    ("way", "transport", "revision"),
    [
        ("mcptui", "http", MODERN),
        ("curl", "http", MODERN),
        ("curl", "http", LEGACY),
        ("python", "http", MODERN),
        ("typescript", "http", LEGACY),
        *((way, "sse", "") for way in SCRIPTS),
    ],
)
def test_a_call_over_http_sends_its_arguments_and_headers(
    urls: Mapping[str, str], way: str, transport: str, revision: str, tmp_path: Path
) -> None:
    skip_without_node(way)
    server = over(urls, transport, revision, **{"X-Secret": "Token ${SECRET}"})
    copy = copied(way, call(server, text=HOSTILE[1], more=[*HOSTILE]))
    found = result_of(way, run(way, copy, tmp_path, SECRET="it's $x"))
    assert found[:2] == [HOSTILE[1], [*HOSTILE]]
    assert found[3].startswith("[redacted:" if way == "mcptui" else "Token it's $x")


def test_arguments_larger_than_a_command_line_are_sent_by_curl(
    urls: Mapping[str, str], tmp_path: Path
) -> None:
    text = "it's ünïcödé\n" * 15_000
    copy = copied("curl", call(over(urls, "http", LEGACY), text=text))
    assert result_of("curl", run("curl", copy, tmp_path))[0] == text


def test_arguments_larger_than_a_command_line_are_sent_by_mcptui_from_a_folder(tmp_path: Path) -> None:
    text = "it's ünïcödé\n" * 15_000
    copy = copied("mcptui", call(over_stdio(cwd=str(tmp_path)), text=text))
    assert result_of("mcptui", run("mcptui", copy, tmp_path))[0] == text


@pytest.mark.parametrize("way", ["mcptui", "curl"])
def test_a_copy_does_not_run_without_its_variables(urls: Mapping[str, str], way: str, tmp_path: Path) -> None:
    copy = copied(way, call(over(urls, "http", LEGACY, **{"X-Secret": "${NOT_SET_HERE}"}), text=""))
    with pytest.raises(AssertionError, match="NOT_SET_HERE"):
        run(way, copy, tmp_path)


REQUESTS: dict[str, tuple[dict[str, Any], str]] = {
    "resources/read": ({"uri": "copied://it's%20%24HOME"}, "about it"),
    "prompts/get": ({"name": "said", "arguments": {"text": HOSTILE[0]}}, "$HOME $(id)"),
    "resources/templates/list": ({}, "copied://{text}"),
}


@pytest.mark.parametrize(
    ("way", "method"),
    [
        *(("curl", method) for method in REQUESTS),
        ("mcptui", "prompts/get"),
        ("python", "resources/read"),
        ("typescript", "resources/templates/list"),
    ],
)
def test_other_requests_are_made(urls: Mapping[str, str], way: str, method: str, tmp_path: Path) -> None:
    skip_without_node(way)
    params, words = REQUESTS[method]
    request = CopiedRequest(over(urls, "http", MODERN), method, params)
    assert words in run(way, copied(way, request), tmp_path)


def test_a_configured_server_is_called_by_its_name_in_bash(tmp_path: Path) -> None:
    config = config_file(tmp_path, server("it-is", SERVER))
    found = CopiedServer("it-is", is_configured=True, options=("--config", str(config), "--trust-config"))
    copy = copied("mcptui", call(found, text="x"))
    assert copy.text.startswith("""mcptui call it-is repeat --args '{"text": "x"}' --config""")
    assert result_of("mcptui", run("mcptui", copy, tmp_path, "bash"))[0] == "x"
