"""Manifests of bundles as servers of the configuration."""

from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from tests.bundles import manifest
from tests.foreign import IN_JSON
from tui.addons.packages.bundle import bundle_of, folder_name
from tui.addons.packages.server_inputs import values_of
from tui.core.errors import UsageError
from tui.settings.load import load_text

FOLDER = Path("/data/bundles/x")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")


def table_of(said: dict[str, Any], platform: str = "linux", **values: str) -> dict[str, Any]:
    found = bundle_of(said, platform)
    return found.table(FOLDER, values_of(found.inputs, list(values.items())))


def test_placeholders_for_the_folder_the_home_and_user_values_are_replaced():
    config = {
        "args": [
            "${__dirname}/main.py",
            "--dirs",
            "${user_config.dirs}",
            "--level=${user_config.level}",
            "${HOME}/x",
        ],
        "env": {"KEY": "Bearer ${user_config.key}", "UNSET": "${user_config.other}", "SEP": "a${/}b"},
    }
    asked = {
        "dirs": {"type": "directory", "multiple": True, "default": ["${HOME}/a", "/b"]},
        "level": {"type": "number", "default": 3, "min": 1, "max": 5},
        "key": {"type": "string", "sensitive": True, "required": True},
        "other": {"type": "string"},
    }
    home = str(Path.home())
    assert table_of(manifest(config, user_config=asked), key="s3") == {
        "command": "python3",
        "args": [f"{FOLDER}/main.py", "--dirs", f"{home}/a", "/b", "--level=3", "/home/me/x"],
        "env": {"KEY": "Bearer s3", "SEP": "a/b"},
        "cwd": str(FOLDER),
    }


def test_a_bundled_program_runs_from_the_folder_of_the_bundle():
    said = manifest({"command": "server/run", "args": []})
    said["server"]["type"] = "binary"
    assert table_of(said)["command"] == f"{FOLDER}/server/run"
    assert bundle_of(said).program() == "server/run"
    assert bundle_of(manifest({"command": "${__dirname}/bin/x"})).program() == "bin/x"
    assert bundle_of(manifest()).program() == ""


def test_a_platform_has_its_own_configuration_or_is_refused():
    said = manifest({"platform_overrides": {"darwin": {"command": "python3.12"}}})
    assert (table_of(said, "darwin")["command"], table_of(said)["command"]) == ("python3.12", "python3")
    with pytest.raises(UsageError, match=r"the bundle requires darwin, win32\. This is linux"):
        bundle_of(manifest(compatibility={"platforms": ["darwin", "win32"]}), "linux")


HOSTILE = "${OPENAI_API_KEY}"


def test_text_in_a_manifest_never_becomes_a_reference_to_an_environment_variable():
    asked = {"a": {"type": "string", "default": HOSTILE}, "d": {"type": "string", "default": "$"}}
    config = {
        "args": [HOSTILE, "${user_config.a}", f"x{HOSTILE}"],
        "env": {"B": HOSTILE, "C": "${user_config.a}"},
    }
    text = tomli_w.dumps({"servers": {"x": table_of(manifest(config, user_config=asked))}})
    loaded = load_text(text, Path("config.toml"), {"OPENAI_API_KEY": "s3cr3t"})
    assert loaded.settings.servers["x"].args == [HOSTILE, HOSTILE, f"x{HOSTILE}"]
    assert "s3cr3t" not in repr(loaded.settings)
    with pytest.raises(UsageError, match="before a value would turn it into a variable reference"):
        table_of(manifest({"args": ["${user_config.d}{HOME}"]}, user_config=asked))


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ([], "is not a JSON object"),
        ({}, "has no manifest_version"),
        (manifest(name=""), "has no name"),
        (manifest({"command": ""}), "has no command"),
        (manifest({"args": "x"}), "args that are not an array of strings"),
        (manifest({"env": {"A=B": "x"}}), "env that is not an object of strings"),
        (manifest({"args": ["\x1b[2J"]}), "contains invalid characters"),
        (manifest(user_config={"a": {"type": "code"}}), "requires “a” in an unsupported way"),
        (manifest(user_config={"a b": {"type": "string"}}), "requires “a b”"),
        (manifest(user_config=[]), "user_config that is not an object"),
    ],
)
def test_an_unusable_manifest_is_rejected_with_the_reason(said: Any, problem: str):
    with pytest.raises(UsageError, match=problem):
        bundle_of(said)


@pytest.mark.parametrize("number", IN_JSON)
def test_any_number_of_a_manifest_can_be_a_limit(number: Any):
    said = {"n": {"type": "number", "min": number, "max": number, "default": number}}
    (found,) = bundle_of(manifest(user_config=said)).inputs
    assert isinstance(found.problem("3"), str)


def test_several_values_inside_a_longer_argument_are_refused():
    asked = {"a": {"type": "file", "multiple": True, "default": ["/1", "/2"]}}
    with pytest.raises(UsageError, match="a can only have one value"):
        table_of(manifest({"args": ["--x=${user_config.a}"]}, user_config=asked))


def test_the_folder_is_named_after_name_version_and_digest():
    found = bundle_of(manifest(name="../../etc", version="1/2"))
    assert folder_name(found, "a" * 64) == f"etc-1-2-{'a' * 12}"


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5),
        lambda one: st.lists(one) | st.dictionaries(st.text(), one),
        max_leaves=5,
    )
)
def test_a_manifest_of_any_shape_raises_nothing_but_a_usage_error(odd: Any):
    for said in (
        odd,
        manifest(user_config=odd),
        manifest(odd if isinstance(odd, dict) else {"env": odd}),
        manifest(compatibility=odd),
    ):
        try:
            bundle_of(said)
        except UsageError as error:
            assert str(error)


@pytest.mark.parametrize(
    "config", [{"args": ["x${user_config.nope}"]}, {"env": {"A": "${user_config.nope}"}}]
)
def test_a_value_that_the_manifest_does_not_declare_is_refused(config: dict[str, Any]):
    with pytest.raises(UsageError, match=r"\$\{user_config\.nope\}, which its user_config does not define"):
        bundle_of(manifest(config))


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        ((), "server/main.py"),
        (("server/main.py",), ""),
        (("server/main.py.exe",), ""),
        (("main.py",), "server/main.py"),
    ],
)
def test_the_entry_point_must_be_among_the_files(names: tuple[str, ...], missing: str):
    assert bundle_of(manifest()).missing(names) == missing


@pytest.mark.parametrize(
    ("command", "missing"), [("${__dirname}/bin/run", "bin/run"), ("/usr/bin/run", "")], ids=["own", "other"]
)
def test_the_program_of_a_binary_bundle_must_be_among_the_files(command: str, missing: str):
    said = {"type": "binary", "mcp_config": {"command": command}}
    assert bundle_of({**manifest(), "server": said}).missing(("bin/other",)) == missing
