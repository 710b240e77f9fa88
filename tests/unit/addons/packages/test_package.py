"""Values of a bundle, asked for on a terminal. The rest is in tests/protocol/test_bundle_command.py."""

import argparse
from pathlib import Path

import pytest

from tests.bundles import bundle, manifest
from tui.addons.packages.package import from_bundle, is_bundle
from tui.commands.command_line import build_parser

ASKED = {
    "key": {"type": "string", "sensitive": True},
    "folder": {"type": "directory", "default": "/default"},
}


def args(*words: str) -> argparse.Namespace:
    return build_parser().parse_args(["add", *words, "x.mcpb"])


def test_a_bundle_is_recognized_by_its_suffix():
    assert [is_bundle(word) for word in ("a.mcpb", "b.DXT", "c.zip", "npx")] == [True, True, False, False]


def test_every_value_is_asked_for_on_a_terminal_and_enter_keeps_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tui.addons.packages.server_inputs.is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: "")
    monkeypatch.setattr("getpass.getpass", lambda prompt: "se${cret}")
    config = {"args": ["${user_config.folder}"], "env": {"KEY": "${user_config.key}"}}
    path = bundle(tmp_path / "x.mcpb", manifest(config, user_config=ASKED))
    found = from_bundle(args(), str(path))
    assert found.table["args"] == ["/default"]
    assert found.table["env"] == {"KEY": "se$${cret}"}  # a typed secret is never a reference


def test_a_secret_can_be_a_reference_and_a_folder_can_be_relative(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = {"args": ["${user_config.folder}"], "env": {"KEY": "${user_config.key}"}}
    path = bundle(tmp_path / "x.mcpb", manifest(config, user_config=ASKED))
    found = from_bundle(args("--set", "key=${MY_KEY}", "--set", "folder=sub"), str(path))
    assert (found.table["args"], found.table["env"]) == ([f"{tmp_path}/sub"], {"KEY": "${MY_KEY}"})
