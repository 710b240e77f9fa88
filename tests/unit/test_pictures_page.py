"""docs/pictures.md: every screen has a picture, and pictures are small and complete in themselves."""

import re

from tests.gallery import PAGE, SCREENS, page
from tests.pictures import FOLDER
from tui.ui.keys.action_table import ACTIONS, Context

MOST_KB, MOST_KB_OF_ALL, MOST_KB_OF_THE_STORY = 120, 5000, 400


def test_the_page_in_the_repository_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.gallery"


def test_every_context_has_a_picture() -> None:
    shown = {context for screen in SCREENS for context in screen.contexts}
    assert {*Context} - shown == {Context.ANYWHERE}


def test_each_picture_names_the_action_that_opens_it() -> None:
    known = {found.id for found in ACTIONS}
    others = {screen.key for screen in SCREENS} - known
    assert others == {"`mcptui dev`", "opens by itself"}


def test_every_picture_exists_in_both_themes_is_small_and_loads_nothing() -> None:
    sizes = []
    for screen in SCREENS:
        for ending in ("", "-light"):
            svg = (FOLDER / "screens" / f"{screen.name}{ending}.svg").read_text(encoding="utf-8")
            assert not re.search(r"@font-face|url\(|href|<script|<image", svg), screen.name
            sizes.append(len(svg.encode()) / 1000)
            assert sizes[-1] < MOST_KB, screen.name
    assert sum(sizes) < MOST_KB_OF_ALL


def test_the_moving_pictures_are_small_and_stand_still_for_readers_who_prefer_that() -> None:
    for ending in ("", "-light"):
        svg = (FOLDER / f"story{ending}.svg").read_text(encoding="utf-8")
        assert len(svg.encode()) / 1000 < MOST_KB_OF_THE_STORY
        moving = re.sub(r"@media\(prefers-reduced-motion:no-preference\)\{[^}]*\}\}", "", svg)
        assert "animation:" in svg and "animation:" not in moving
