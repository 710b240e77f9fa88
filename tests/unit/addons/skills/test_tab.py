"""The tab of the workbench: what it says in place of skills."""

from pathlib import Path

import pytest

from tests.ui.test_skills import in_tab, skilled
from tests.unit.addons.skills.site import Site, raw_entry


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


async def test_an_empty_list_says_how_to_load_a_skill_that_is_not_listed(separate_home: Path, site: Site):
    site.pages = [[]]
    async with skilled(separate_home, site) as (app, _):
        await in_tab(app)
        await app.shows("0 skills", "This server lists no skills.", "/skills URI")


async def test_a_failed_list_says_why_and_how_to_try_again(separate_home: Path, site: Site):
    site.more = {"pages": []}
    async with skilled(separate_home, site) as (app, _):
        await in_tab(app)
        await app.shows("Press R to try again.", "did not list its skills")


async def test_a_skill_that_cannot_be_loaded_says_why(separate_home: Path, site: Site):
    site.pages = [[{**raw_entry(), "resources": []}]]
    async with skilled(separate_home, site) as (app, _):
        await in_tab(app)
        await app.shows("cannot be loaded", "Its manifest does not contain its SKILL.md.")


async def test_texts_of_a_server_are_only_text(separate_home: Path, site: Site):
    site.pages = [[raw_entry(description="[b]Fill[/b] \x1b[31mforms\nnow")]]
    async with skilled(separate_home, site) as (app, _):
        await in_tab(app)
        await app.shows("[b]Fill[/b] ␛[31mforms now")
