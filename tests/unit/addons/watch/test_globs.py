"""The files that restart a server: patterns, and what a command names."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.watch.globs import folders, guessed, matcher
from tui.core.servers import ServerSpec


@each_case(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/deep/a.py", True),
        ("**/*.py", ".venv/lib/a.py", False),
        (".venv/**/*.py", ".venv/lib/a.py", True),
        ("src/**/*.{ts,js}", "src/a/b.ts", True),
        ("src/**/*.{ts,js}", "src/b.tsx", False),
        ("src", "src/any/thing", True),
        ("data/[ab].json", "data/a.json", True),
        ("data/[!ab].json", "data/a.json", False),
        ("config.?s", "config.js", True),
        ("a+b.py", "a+b.py", True),
        ("{a", "{a", True),
    ],
)
def test_a_pattern_matches_as_in_a_shell(pattern: str, path: str, expected: bool):
    assert matcher([pattern], "/srv/app")(f"/srv/app/{path}") is expected


@given(st.text(st.sampled_from("ab*?[]{},/!."), max_size=12), st.text(st.sampled_from("ab./"), max_size=12))
def test_any_pattern_is_a_valid_one(pattern: str, path: str):
    assert matcher([pattern], "/srv")(f"/srv/{path}") in (True, False)


def spec(folder: Path, *words: str) -> ServerSpec:
    return ServerSpec("srv", words[0], words[1:], cwd=str(folder))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("python", "server.py"), "**/*.py"),
        (("uv", "run", "src/weather/main.py"), "src/weather/**/*.py"),
        (("python", "-m", "weather"), "src/weather/**/*.py"),
        (("fastmcp", "run", "server.py:mcp"), "**/*.py"),
        (("npx", "tsx", "index.ts"), "**/*.{js,mjs,cjs,jsx,ts,mts,cts,tsx,json}"),
        (("uv", "run", "weather"), "**/*.py"),
        (("docker", "run", "weather"), ""),
    ],
)
def test_a_command_names_its_files(tmp_path: Path, words: tuple[str, ...], expected: str):
    (tmp_path / "src" / "weather").mkdir(parents=True)
    for name in ("server.py", "index.ts", "pyproject.toml", "src/weather/main.py"):
        (tmp_path / name).touch()
    assert ", ".join(guessed(spec(tmp_path, *words))) == expected


def test_a_whole_home_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "server.py").touch()
    assert guessed(spec(tmp_path, "python", "server.py")) == ("*.py",)


def test_folders_of_others_are_not_watched(tmp_path: Path):
    for name in ("src/deep", "node_modules/lib", ".git/objects"):
        (tmp_path / name).mkdir(parents=True)
    found = [str(Path(one).relative_to(tmp_path)) for one in folders(["**/*.py"], str(tmp_path))]
    assert found == [".", "src", "src/deep"]
    assert folders(["*.py", "gone/*.py"], str(tmp_path)) == [str(tmp_path)]
