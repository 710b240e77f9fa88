"""Package boundaries: in the import graph, and in what is actually loaded."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.configurations import config_file, server
from tests.programs import printed_by

ROOT = Path(__file__).parents[2]


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after `statement`."""
    return set(printed_by(f"{statement}\nimport sys\nprint(*sys.modules)").split())


SERVER = ROOT / "tests" / "corpus" / "faults" / "crlf.py"


def test_the_import_contracts_are_kept():
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


HEAVY = {
    *("textual", "rich", "mcp", "mcp_types", "openai", "pydantic", "httpx2", "jsonschema", "anyio", "psutil"),
}
NOT_FOR_SCREENS = {
    *("mcp", "mcp_types", "openai", "pydantic", "jsonschema", "PIL", "psutil", "hashlib", "json"),
}
OF_A_CONVERSATION = {
    *("tui.core.events", "tui.core.servers", "tui.core.conversation.conversation"),
    "tui.ui.keys.slash_commands",
}
AFTER_THE_FIRST_LINES = {
    *("argparse", "tui.ui.app.app", "tui.ui.dialogs.picker", "tui.core.events", "tui.core.servers"),
    *("tui.core.comparison.values", "tui.traffic.lint.lint", "tui.traffic.record.recorder"),
    *("tui.traffic.record.pairing", "tui.traffic.record.redaction", "tui.core.ports"),
    *("tui.core.secrets.secret_shapes", "tui.core.permission.rules", "tui.settings.save"),
}
"""What opening a recording does not need for its first lines."""


@each_case(
    ("statement", "forbidden"),
    [
        ("import tui.cli; from tui.commands.command_line import build_parser; build_parser()", HEAVY),
        (
            "import gc, tui.cli\n"
            "try: tui.cli.main(['--help'])\n"
            "except SystemExit: assert gc.get_freeze_count(), 'a collection at exit takes 2 ms'",
            HEAVY | {"tui.commands.tap.tap", "tui.addons.faults.addon", "tui.addons.tap_hosts.addon"},
        ),
        ("import tui.commands.tap.tap", HEAVY | {"sqlite3", "asyncio", "typing", "dataclasses"}),
        ("import tui.commands.traffic, tui.addons.replay.mock", HEAVY | {"sqlite3"}),
        (
            "import tui.settings.config_file, tui.settings.themes",
            HEAVY | {"tomli_w", "json", "tui.core.servers"},
        ),
        ("import tui.commands.run, tui.commands.servers", {"textual", "rich"}),
        ("import tui.addons.plain.front", {"textual", "rich", "mcp", "openai"}),
        ("import tui.core.turn.loop, tui.runtime.runtime", HEAVY),
        ("import tui.host.host", {"mcp", "mcp_types", "openai", "jsonschema", "psutil"}),
        ("import tui.ui.app.app, tui.ui.app.terminal", NOT_FOR_SCREENS | OF_A_CONVERSATION),
        (
            "import tui.cli, tui.commands.traffic, tui.runtime.recording_file\n"
            "import tui.ui.app.terminal, tui.ui.app.traffic_app",
            AFTER_THE_FIRST_LINES,
        ),
        ("import tui.ui.widgets.pictures", {"PIL"}),
        ("import tui.pytest_plugin", HEAVY | {"asyncio", "tui.addons.tests", "tui.core.errors"}),
    ],
)
def test_only_required_modules_are_loaded(statement: str, forbidden: set[str]):
    assert loaded_by(statement) & forbidden == set()


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_local_server_is_started_listed_called_and_stopped_without_mcp(era: str, tmp_path: Path):
    """The session is our own; the models of `mcp` only judge messages, where findings are read."""
    call = ["call", "echo", "text=hi", "--env", f"FAULT_ERA={era}", "--", sys.executable, str(SERVER)]
    found = printed_by(
        f"import sys, tui.cli\ncode = tui.cli.main({call})\nprint(code, *sys.modules)",
        HOME=str(tmp_path),
    )
    said, _, rest = found.rpartition("\n")
    code, *modules = rest.split()
    assert code == "0" and '"text": "hi"' in said
    packages = {name.partition(".")[0] for name in modules}
    assert packages & {"mcp", "mcp_types", "anyio", "httpx2", "starlette", "opentelemetry"} == set()


def test_a_conversation_with_a_server_without_skills_loads_nothing_of_them(
    separate_home: Path, tmp_path: Path
):
    config = config_file(tmp_path, server("plain", SERVER))
    words = ["run", "--demo", "--config", config, "--trust-config", "hello"]
    loaded = loaded_by(f"import tui.cli\ntry: tui.cli.main({words!r})\nexcept SystemExit: pass")
    assert "tui.core.turn.loop" in loaded
    of_skills = {
        "tui.core.context.skill_tools",
        "tui.addons.skills.loader",
        "tui.addons.skills.server_skills",
    }
    assert loaded & {*of_skills, "yaml"} == set()
