"""Risks that are pointed out before a command runs."""

from tests.cases import each_case
from tui.core.permission.launch import Launch
from tui.core.permission.risks import risks_of, unpinned
from tui.core.servers import Reference, ServerSpec, Transport


def risks(command: str = "server", *args: str, found: str = "/bin/x", **fields: object) -> str:
    spec = ServerSpec("s", command, args, **fields)  # type: ignore[arg-type]
    return " ".join(risks_of(Launch.of(spec, lambda spec: found)))


@each_case(
    ("line", "package"),
    [
        ("npx -y some-mcp", "some-mcp"),
        ("npx -y @scope/some-mcp", "@scope/some-mcp"),
        ("npx -y @scope/some-mcp@latest", "@scope/some-mcp@latest"),
        ("npx -y @scope/some-mcp@^1.2.3", "@scope/some-mcp@^1.2.3"),
        ("npx -y @scope/some-mcp@1.2.3 --flag x", ""),
        ("npx --package=a@1.0.0 --package b run", "b"),
        ("/usr/local/bin/npx.cmd tool", "tool"),
        ("npm exec -- tool", "tool"),
        ("pnpm dlx tool@1.0.0", ""),
        ("bunx tool", "tool"),
        ("uvx mcp-server-time", "mcp-server-time"),
        ("uvx mcp-server-time==1.2.3", ""),
        ("uvx mcp-server-time@1.2.3", ""),
        ("uvx mcp-server-time@latest", "mcp-server-time@latest"),
        ("uvx mcp-server-time>=1", "mcp-server-time>=1"),
        ("uvx --python 3.12 mcp-server-time", "mcp-server-time"),
        ("uvx --from git+https://h/x.git tool", "git+https://h/x.git"),
        (f"uvx --from git+https://h/x.git@{'a' * 40} tool", ""),
        ("uvx --with evil good==1.0", "evil"),
        ("uvx https://e.example/x.whl", "https://e.example/x.whl"),
        (f"uvx https://e.example/x.whl#sha256={'0' * 64}", ""),
        ("uv tool run tool", "tool"),
        ("uv pip install tool", "tool"),
        ("pip install tool", "tool"),
        ("pip3 install tool==1.0", ""),
        ("uv run server.py", ""),
        ("pipx run tool", "tool"),
        ("docker run -i --rm -e A=b mcp/time", "mcp/time"),
        ("docker run -i --rm mcp/time:latest", "mcp/time:latest"),
        ("docker run --rm localhost:5000/time:1.2", ""),
        ("docker run --rm localhost:5000/time", "localhost:5000/time"),
        (f"docker run x@sha256:{'0' * 64}", ""),
        ("docker ps", ""),
        ("python server.py", ""),
        ("", ""),
    ],
)
def test_a_package_without_an_exact_version_is_flagged(line: str, package: str):
    assert unpinned(line.split()) == package


@each_case(
    "line",
    [
        "env A=b npx -y tool",
        "cmd /c npx -y tool",
        "nice -n 5 uvx tool",
        "nohup npx tool",
        "setsid -w npx tool",
        "strace -f -o /tmp/x npx tool",
        "setsid nohup nice uvx tool",
        "corepack pnpm dlx tool",
        "corepack pnpm@9 dlx tool",
        "python3 -m pip install tool",
        "python3.12 -I -m pipx run tool",
        "python -muv tool run tool",
    ],
)
def test_a_wrapper_command_does_not_hide_an_unpinned_package(line: str):
    command, *args = line.split()
    assert "tool is not pinned" in risks(command, *args)


def test_variables_that_redirect_downloads_or_traffic_are_flagged():
    said = risks(env={"npm_config_registry": "x", "HTTPS_PROXY": "y", "TOKEN": "z"})
    assert "npm_config_registry can change where packages are downloaded from." in said
    assert "HTTPS_PROXY sends its network traffic through another computer." in said
    assert "TOKEN" not in said


def test_an_argument_that_is_a_program_is_flagged_but_no_ordinary_one():
    for line in ("sh -c id", "bash -lc id", "node -e 1", "python3.12 -c 1", "npx -c id"):
        assert "One of the arguments is program code." in risks(*line.split())
    assert risks("python3", "server.py", "--verbose", env={"TOKEN": "x"}) == ""


def test_a_missing_program_hidden_characters_and_look_alikes_are_flagged():
    assert "The program was not found." in risks(found="")
    assert "Contains hidden characters" in risks("server", "a\u200b")
    assert "non-ASCII letters" in risks("nрx")
    assert "аpple.com" in risks("", url="https://xn--pple-43d.com/", transport=Transport.HTTP)


def test_an_unencrypted_address_is_flagged_unless_it_is_this_computer():
    assert "not encrypted" in risks("", url="http://example.com/mcp", transport=Transport.HTTP)
    assert "not encrypted" in risks("", url="ws://example.com/mcp", transport=Transport.WEBSOCKET)
    assert risks("", url="http://127.0.0.1:1/mcp", transport=Transport.HTTP) == ""


@each_case(
    ("words", "said"),
    [
        (["env", "LD_PRELOAD=/x.so", "server"], "LD_PRELOAD can make any program load other code."),
        (["env", "-S", "bash -c id"], "One of the arguments is program code."),
        (["env", "-Sbash -c id"], "One of the arguments is program code."),
        (["env", "--split-string=LD_PRELOAD=/x bash -c id"], "LD_PRELOAD can make"),
        (["sh", "-ec", "id"], "One of the arguments is program code."),
        (["cmd", "/c", "del x"], "One of the arguments is program code."),
        (["python3", "-cimport os"], "One of the arguments is program code."),
        (["python3", "-Ic", "import os"], "One of the arguments is program code."),
        (["node", "--eval=1"], "One of the arguments is program code."),
        (["uv", "run", "--with", "x", "server.py"], "x is not pinned"),
        (["go", "run", "example.com/x@latest"], "example.com/x@latest is not pinned"),
        (["deno", "run", "-A", "https://e.example/x.ts"], "https://e.example/x.ts is not pinned"),
        (["npx", "--registry", "http://e.example", "x@1.2.3"], "where packages are downloaded from"),
        (["npx", "--registry=http://e.example", "x@1.2.3"], "where packages are downloaded from"),
        (["docker", "compose", "-f", "x", "up"], "It starts containers that are defined in a file."),
        (["docker-compose", "up"], "It starts containers that are defined in a file."),
        (["setsid", "sh", "-c", "id"], "One of the arguments is program code."),
        (["strace", "-E", "LD_PRELOAD=/x", "python3", "-c", "1"], "One of the arguments is program code."),
        (["docker", "run", "-v", "/:/host", "x:1"], "The container can reach folders of this computer."),
        (["docker", "run", "--privileged", "x:1"], "The container is not isolated"),
        (["docker", "run", "--pid=host", "x:1"], "The container is not isolated"),
    ],
)
def test_launchers_that_hide_what_they_run_are_flagged(words: list[str], said: str):
    assert said in risks(*words)


@each_case(
    "words",
    [
        ["python3", "-m", "tool", "-c", "config.toml"],
        ["python3", "server.py", "-m", "pip", "install", "x"],
        ["docker", "run", "x:1", "compose"],
        ["python3", "-Wignore", "server.py", "-c", "x"],
        ["docker", "run", "-i", "--rm", "x:1", "-v", "--host", "a"],
        ["uv", "run", "--with", "x==1.0", "server.py"],
        ["go", "run", "example.com/x@v1.2.3"],
        ["go", "run", "./cmd/server"],
    ],
)
def test_ordinary_options_are_not_flagged(words: list[str]):
    assert risks(*words) == ""


@each_case(
    "name",
    "LD_PRELOAD ld_preload LD_LIBRARY_PATH DYLD_X NODE_OPTIONS PYTHONPATH PERL5LIB RUBYOPT BASH_ENV PATH"
    " HOME SHELLOPTS PS4 PROMPT_COMMAND ENV PYTHONHOME NPM_CONFIG_REGISTRY npm_config_x UV_INDEX UV_INDEX_URL"
    " PIP_INDEX_URL JAVA_TOOL_OPTIONS GIT_SSH GIT_EXEC_PATH DOCKER_HOST".split(),
)
def test_variables_that_change_what_programs_do_are_flagged(name: str):
    assert f"{name} can " in risks(env={name: "x"})


def test_a_package_named_by_a_variable_is_flagged_without_its_value():
    references = {"args.0": Reference("${PKG}", ("PKG",))}
    said = risks("npx", "value-of-it", references=references)
    assert "${PKG} is not pinned" in said and "value-of-it" not in said
