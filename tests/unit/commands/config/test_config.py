"""`mcptui config` as a user runs it."""

import json
import stat
from pathlib import Path

import pytest

from tui.cli import dispatch
from tui.commands.command_line import build_parser
from tui.settings.learned_file import LearnedFile


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sub" / "config.toml"


def mcptui(*words: str) -> int:
    return dispatch(build_parser().parse_args(["config", *words]))


def imported(tmp_path: Path, file: Path, servers: dict[str, object], *words: str) -> int:
    """Import the servers of another host's file."""
    other = tmp_path / "mcp.json"
    other.write_text(json.dumps({"mcpServers": servers}))
    return mcptui("import", str(other), *words, "--config", str(file))


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o600)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["path"], 0, "{home}/config/mcptui/config.toml\n"),
        (["path", "--config", "/elsewhere/c.toml"], 0, "/elsewhere/c.toml\n"),
        (["check"], 0, ": not found, using defaults. `mcptui config init` writes a starter file\n"),
        (
            ["check", "--config", "/no/c.toml"],
            2,
            "/no/c.toml: file not found. Check the path, or create it with",
        ),
        (["import", "/no/mcp.json"], 2, "/no/mcp.json: file not found."),
    ],
)
def test_without_a_file(separate_home: Path, words: list[str], code: int, said: str, capsys):
    assert mcptui(*words) == code
    assert said.format(home=separate_home) in "".join(capsys.readouterr())


def test_path_respects_the_environment(monkeypatch, capsys):
    monkeypatch.setenv("MCPTUI_CONFIG", "/elsewhere/c.toml")
    assert mcptui("path") == 0
    assert capsys.readouterr().out == "/elsewhere/c.toml\n"


@pytest.mark.parametrize(
    ("text", "words", "code", "said"),
    [
        ('[models.a]\nmodel = "m"\napi_key_env = "NO_SUCH_KEY"\n', ["check"], 0, "warning: "),
        ("a = ", ["show"], 2, "is not TOML"),
        ("# mine\n", ["init"], 2, "already exists. Nothing was written. Use `mcptui config init --print`"),
        ("# mine\n", ["init", "--print"], 0, "[servers."),
    ],
)
def test_a_file_is_not_changed(file: Path, text: str, words: list[str], code: int, said: str, capsys):
    write(file, text)
    assert mcptui(*words, "--config", str(file)) == code
    assert said in "".join(capsys.readouterr()) and file.read_text() == text


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ('[servers.a]\ncommand = "sh"\n', 0, ["{file}: OK: 1 server, 0 models"]),
        (
            '[servers.weather]\ncomand = "x"\n[limits]\nmax_steps = 0\n',
            2,
            [
                "{file}:2 servers.weather.comand: unknown key, did you mean “command”?",
                "{file}:4 limits.max_steps: must be at least 1",
            ],
        ),
        (
            '[models.a]\nmodel = "m"\nbase_url = "http://h/v1"\napi_key_env = "NO_SUCH_KEY"\n'
            "[limits]\nmax_steps = 0\n",
            2,
            [
                "warning: {file}:4 models.a.api_key_env: the environment variable NO_SUCH_KEY is not set",
                "{file}:6 limits.max_steps: must be at least 1",
            ],
        ),
        (
            '[models.a]\nmodel = "m"\n',
            0,
            [
                "warning: models.a: OPENAI_API_KEY is not set. Requests will fail. Store a key: "
                "`mcptui config key a`.",
                "{file}: OK: 0 servers, 1 model, 1 warning",
            ],
        ),
        (
            '[servers.a]\nurl = "https://h/sse"\ntransport = "http"\n',
            0,
            [
                "warning: {file}:3 servers.a.transport: looks like an HTTP+SSE URL, which `http` does not "
                'try. Remove `transport`, or use "sse"',
                "{file}: OK: 1 server, 0 models, 1 warning",
            ],
        ),
    ],
)
def test_check_prints_every_mistake_or_a_summary(file: Path, text: str, code: int, said: list[str], capsys):
    write(file, text)
    assert mcptui("check", "--config", str(file)) == code
    assert capsys.readouterr().out.splitlines() == [line.format(file=file) for line in said]


@pytest.mark.parametrize("selected", ["harbr", "mine"])
def test_check_fails_for_a_missing_or_damaged_theme_and_warns_about_an_unused_one(
    file: Path, separate_home: Path, selected: str, capsys
):
    themes = separate_home / "config" / "mcptui" / "themes"
    themes.mkdir(parents=True)
    (themes / "mine.toml").write_text("dark = 3")
    write(file, f'[ui]\ntheme = "{selected}"\n')
    assert mcptui("check", "--config", str(file)) == 2
    out = capsys.readouterr().out
    assert out.count("theme ignored") == 1
    if selected == "harbr":
        assert f"{file}:2 ui.theme: theme “harbr” not found, did you mean “harbor”?" in out
        assert f"warning: {themes}/mine.toml: theme ignored" in out


def test_check_fails_for_keys_that_the_app_rejects(file: Path, capsys):
    write(
        file,
        "[ui.keys]\n"
        '"chat.coppy" = "f9"\n'
        '"chat.copy" = "notakey"\n'
        'servers.restart = "ctrl+r"\n'
        'chat.new = "ctrl+q"\n',
    )
    assert mcptui("check", "--config", str(file)) == 2
    out = capsys.readouterr().out
    assert out.startswith(f"warning: {file}:1 ui.keys: this is not your own configuration file")
    assert out.partition("\n")[2] == (
        f"{file}:2 ui.keys.chat.coppy: unknown action, did you mean “chat.copy”?\n"
        f"{file}:3 ui.keys.chat.copy: “notakey” is not a key\n"
        f"{file}:5 ui.keys.chat.new: `ctrl+q` is already used by `app.quit`. "
        "Change the key of `app.quit` too\n"
    )


def test_show_prints_toml_without_secrets_and_problems_on_stderr(file: Path, capsys):
    import tomllib

    write(file, '[servers.a]\ncommand = "x"\nenv = { TOKEN = "s3cret-value" }\n[ui]\nthem = "x"\n')
    assert mcptui("show", "--config", str(file)) == 0
    out, err = capsys.readouterr()
    assert "s3cret" not in out + err
    assert "ui.them" in err
    assert tomllib.loads(out)["servers"]["a"]["env"] == {"TOKEN": "***"}


def test_the_output_contains_no_escape_sequences(file: Path, capsys):
    write(
        file, '[servers."a\\u001b[31m"]\ncommand = "\\u001b]0;x\\u0007"\n[servers.b]\ncommand = "\\u009b1m"\n'
    )
    mcptui("check", "--config", str(file))
    mcptui("show", "--config", str(file))
    out, err = capsys.readouterr()
    assert not {"\x1b", "\x9b", "\x07"} & set(out + err)


def test_import_reports_dangerous_and_unusable_entries(file: Path, tmp_path: Path, capsys):
    entry = {"command": "no-such-command", "alwaysAllow": ["rm"]}
    assert imported(tmp_path, file, {"a": entry}) == 0
    said = capsys.readouterr().out
    assert "note     a: `alwaysAllow` (run 1 tool without approval) not imported" in said
    assert "command no-such-command not found on PATH" in said


def test_import_adds_servers_and_keeps_the_rest(file: Path, tmp_path: Path, capsys):
    write(file, '# mine\n[servers.b]\ncommand = "other"\n')
    assert imported(tmp_path, file, {"a": {"command": "sh"}, "b": {"command": "ls"}}) == 0
    assert file.read_text().startswith('# mine\n[servers.b]\ncommand = "other"\n')
    said = capsys.readouterr().out
    assert said.startswith(f"added    a\nrenamed  b -> b-2\nwrote {file}\n")
    assert "asks before it starts one for the first time" in said


def test_import_with_dry_run_prints_the_changes_and_writes_nothing(file: Path, tmp_path: Path, capsys):
    assert imported(tmp_path, file, {"a": {"command": "x"}}, "--dry-run") == 0
    assert not file.exists()
    assert "nothing written" in capsys.readouterr().out


def test_import_into_a_json_file_is_refused(tmp_path: Path, capsys):
    assert imported(tmp_path, tmp_path / "into.json", {"a": {"command": "x"}}) == 2
    assert "belongs to another program" in capsys.readouterr().err


def test_learned_limitations_of_endpoints_are_printed_and_can_be_deleted(capsys):
    assert mcptui("learned") == 0
    assert "nothing learned yet" in capsys.readouterr().out
    LearnedFile().save("http://h/v1", "m\x1b", {"dropped": ["stop"], "no_tools": True})
    assert mcptui("learned") == 0
    assert capsys.readouterr().out == "m␛ at http://h/v1: rejects stop, no function calling\n"
    assert mcptui("learned", "--forget") == 0 and mcptui("learned") == 0
    assert capsys.readouterr().out.splitlines() == [
        "forgot what was learned from 1 model",
        "nothing learned yet",
    ]


def test_import_writes_no_entry_of_an_unknown_type_and_fails(file: Path, tmp_path: Path, capsys):
    servers = {"odd": {"type": "grpc", "url": "https://h"}, "good": {"command": "ls"}}
    assert imported(tmp_path, file, servers) == 2
    assert "grpc" not in file.read_text() and "good" in file.read_text()
    assert "skipped  odd: unknown type “grpc”." in capsys.readouterr().out


def test_init_writes_a_private_and_valid_starter_with_its_schema(file: Path, capsys):
    assert mcptui("init", "--config", str(file)) == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert mcptui("check", "--config", str(file)) == 0
    capsys.readouterr()
    assert file.read_text().splitlines()[0] == "#:schema ./config.schema.json"
    assert mcptui("schema") == 0
    assert (file.parent / "config.schema.json").read_text() == capsys.readouterr().out


def cursor(path: Path, **servers: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers}))


def test_servers_are_imported_from_all_files_of_a_host(
    separate_home: Path, tmp_path: Path, file: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    cursor(separate_home / ".cursor/mcp.json", a={"command": "a"}, b={"command": "b"})
    cursor(tmp_path / ".cursor/mcp.json", a={"command": "other"}, b={"command": "b"})
    assert mcptui("import", "--from", "Cursor", "--config", str(file)) == 0
    said = capsys.readouterr().out
    assert "added    a\nadded    b\nrenamed  a -> a-2\nskipped  b: b is already configured\n" in said
    assert file.read_text().count('source = "import"') == 3


def test_only_the_named_servers_of_a_host_are_imported(
    separate_home: Path, tmp_path: Path, file: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    cursor(
        separate_home / ".cursor/mcp.json",
        a={"command": "a", "trust": True},
        b={"command": "b", "trust": True},
    )
    assert mcptui("import", "--from", "cursor", "b", "--dry-run", "--config", str(file)) == 0
    said = capsys.readouterr().out
    assert "added    b\n" in said and "a:" not in said and "note     b: `trust`" in said
    assert not file.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "cursor", "bb"], "Cursor has no server “bb”, did you mean “b”? Its servers: b."),
        (["--from", "zed"], "no servers of Zed found. Looked in "),
        (["--from", "zedd"], "unknown host “zedd”. Did you mean “zed”?"),
        ([], "one file is required. Usage: mcptui config import FILE, or --from HOST [NAME ...]"),
        (["a.json", "b.json"], "one file is required."),
    ],
)
def test_an_import_that_names_nothing_says_what_there_is(
    words: list[str], said: str, separate_home: Path, tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    cursor(separate_home / ".cursor/mcp.json", b={"command": "b"})
    assert mcptui("import", *words) == 2
    assert said in "".join(capsys.readouterr())


def test_an_import_from_a_host_with_a_broken_file_imports_the_others(
    separate_home: Path, tmp_path: Path, file: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    cursor(separate_home / ".cursor/mcp.json", b={"command": "b"})
    write(tmp_path / ".cursor/mcp.json", "{")
    assert mcptui("import", "--from", "cursor", "--config", str(file)) == 2
    said = capsys.readouterr().out
    assert "added    b\n" in said and f"skipped  {tmp_path}/.cursor/mcp.json:1: is not JSON" in said
