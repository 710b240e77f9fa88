"""Shipped themes are readable. A theme of the user is checked and never stops the program."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.settings.themes import (
    ANSI_COLOURS,
    DEFAULT_THEME,
    ROLES,
    ThemeSpec,
    all_themes,
    contrast,
    load_theme,
    parse_colour,
    theme_from,
)

SHIPPED, SHIPPED_PROBLEMS = all_themes()
GOOD = dict.fromkeys(ROLES, "#fff") | {"surface": "#000", "panel": "#000", "dark": True}


def write_theme(folder: Path, name: str, table: dict[str, object]) -> Path:
    import tomli_w

    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(tomli_w.dumps(table), encoding="utf-8")
    return path


def test_the_shipped_themes_have_no_problems_and_include_dark_light_and_high_contrast_ones():
    assert SHIPPED_PROBLEMS == ()
    names = [theme.name for theme in SHIPPED]
    assert names[0] == DEFAULT_THEME
    assert {"harbor", "quay", "contrast-dark", "contrast-light", "ansi"} <= set(names)
    assert {theme.dark for theme in SHIPPED} == {True, False}


@each_case("theme", [t for t in SHIPPED if not t.ansi])
def test_a_shipped_theme_is_readable_on_both_of_its_backgrounds(theme: ThemeSpec):
    for background in (theme.surface, theme.panel):
        assert contrast(theme.text, background) >= 7
        for role in set(ROLES) - {"text", "rule", "surface", "panel"}:
            assert contrast(getattr(theme, role), background) >= 4.5, role


@pytest.mark.parametrize("name", ["contrast-dark", "contrast-light"])
def test_a_high_contrast_theme_has_a_contrast_of_seven_for_text_and_three_for_lines(name: str):
    theme, _ = load_theme(name)
    for background in (theme.surface, theme.panel):
        assert contrast(theme.rule, background) >= 3
        for role in set(ROLES) - {"rule", "surface", "panel"}:
            assert contrast(getattr(theme, role), background) >= 7, role


@each_case("theme", [t for t in SHIPPED if t.syntax])
def test_a_shipped_theme_names_an_existing_code_style(theme: ThemeSpec):
    from pygments.styles import get_style_by_name

    assert get_style_by_name(theme.syntax)


def test_contrast_is_one_for_equal_colours_and_twenty_one_for_black_on_white():
    assert contrast("#123456", "#123456") == 1
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize(
    ("text", "colour"),
    [("#FFF", "#ffffff"), ("#1a2B3c", "#1a2b3c"), (" ansi_bright_red ", "ansi_bright_red")],
)
def test_a_colour_is_hex_of_three_or_six_digits_or_an_ansi_name(text: str, colour: str):
    assert parse_colour(text) == colour


@each_case("text", ["", "#12", "#12345g", "red", "#1234567", "#١٢٣", 7, None, ["#fff"]])
def test_anything_else_is_not_a_colour(text: object):
    assert parse_colour(text) is None


def test_an_unknown_role_is_reported_with_the_nearest_valid_one():
    spec, wrong = theme_from(GOOD | {"acent": "#fff"}, "mine")
    assert spec is None
    assert wrong == "`acent` is not a role, did you mean “accent”?"


def test_all_problems_are_reported_at_once():
    table = GOOD | {"ok": "green", "dark": "yes"}
    del table["text"]
    _, wrong = theme_from(table, "mine")
    assert "`text` is missing. " in wrong
    assert "`ok`: “green” is not a color" in wrong
    assert ". `dark` must be true or false" in wrong and ";" not in wrong


def test_ansi_and_rgb_colours_are_not_mixed():
    spec, wrong = theme_from(GOOD | {"ok": "ansi_green"}, "mine")
    assert spec is None
    assert "use ANSI names for all colors, or for none" in wrong


def test_a_theme_with_low_contrast_is_used_with_a_warning(tmp_path: Path):
    write_theme(tmp_path, "fog", GOOD | {"text": "#444"})
    theme, problem = load_theme("fog", tmp_path)
    assert theme.name == "fog"
    assert problem is not None
    assert problem.warning
    assert "low contrast: text has" in problem.message


def test_a_user_theme_is_added_to_the_shipped_ones_or_replaces_one(tmp_path: Path):
    write_theme(tmp_path, "mine", GOOD)
    write_theme(tmp_path, "quay", GOOD)
    themes, problems = all_themes(tmp_path)
    assert problems == ()
    assert {theme.name for theme in themes} == {theme.name for theme in SHIPPED} | {"mine"}
    assert load_theme("quay", tmp_path)[0].text == "#ffffff"


def test_an_invalid_user_theme_is_one_problem_and_affects_no_other(tmp_path: Path):
    (tmp_path / "broken.toml").write_text("accent = ", encoding="utf-8")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "dir.toml").mkdir()
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "gone.toml").symlink_to(tmp_path / "nowhere")
    write_theme(tmp_path, "mine", GOOD)
    themes, problems = all_themes(tmp_path)
    assert "mine" in {theme.name for theme in themes}
    assert [Path(problem.file).stem for problem in problems] == ["broken", "bytes", "dir", "gone", "pipe"]


def test_a_damaged_copy_of_a_shipped_theme_gives_the_shipped_one_and_a_problem(tmp_path: Path):
    (tmp_path / "quay.toml").write_text("dark = 3", encoding="utf-8")
    theme, problem = load_theme("quay", tmp_path)
    assert theme == load_theme("quay")[0]
    assert problem is not None
    assert "theme ignored" in problem.message


def test_a_folder_of_themes_that_cannot_be_read_counts_as_empty(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    stat = Path.stat

    def refuse(path: Path, **more: bool) -> os.stat_result:
        if path.is_relative_to(tmp_path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, **more)

    monkeypatch.setattr(Path, "stat", refuse)
    assert {theme.name for theme in all_themes(tmp_path)[0]} == {theme.name for theme in SHIPPED}
    assert load_theme("harbr", tmp_path)[0].name == DEFAULT_THEME


def test_an_unknown_theme_gives_the_default_and_names_the_nearest():
    theme, problem = load_theme("harbr")
    assert theme.name == DEFAULT_THEME
    assert problem is not None
    assert str(problem) == "ui.theme: theme “harbr” not found, did you mean “harbor”?"


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a/b", "\x1b[31m", "x" * 5000, "\0"])
def test_an_invalid_theme_name_gives_the_default(name: str, tmp_path: Path):
    theme, problem = load_theme(name, tmp_path)
    assert theme.name == DEFAULT_THEME
    assert problem is not None
    assert "\x1b" not in str(problem)


values = st.one_of(st.text(max_size=12), st.integers(), st.booleans(), st.sampled_from(sorted(ANSI_COLOURS)))


@given(st.dictionaries(st.one_of(st.sampled_from(ROLES), st.text(max_size=8)), values))
def test_any_table_is_checked_without_an_exception(table: dict[str, object]):
    spec, wrong = theme_from(table, "any")
    assert spec is not None or wrong
