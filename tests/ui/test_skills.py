"""Skills on screen: /skills, @, the tab of the workbench, and the questions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.configurations import model, server
from tests.endpoint import Endpoint, Reply, says
from tests.protocol.skill_stage import loads
from tests.ui.app_stage import send
from tests.ui.question_stage import painted, ripe
from tests.ui.real_stage import RealApp, real_app
from tests.unit.addons.skills.site import FIELDS, FORMS, REFERENCE, SERVER, SKILL_MD, Site, content, raw_entry

__all__ = ["ripe"]

pytestmark = pytest.mark.usefixtures("ripe")

QUESTION = "Load the skill “forms” from the server “docs”"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@asynccontextmanager
async def skilled(
    home: Path, site: Site, *replies: Reply, era: tuple[str, ...] = (), size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[RealApp, Endpoint]]:
    """Open the app over a server of skills."""
    site.save()
    async with Endpoint([*replies, says("All done.")]) as endpoint:
        config = "\n".join(
            [
                'default_model = "scripted"',
                model(endpoint, api_key="none"),
                server("docs", SERVER, *era, env=site.env),
            ]
        )
        async with real_app(home, config, size=size) as app:
            await app.has_state("docs", "RUNNING")
            yield app, endpoint


async def command(app: RealApp, text: str) -> None:
    await send(app.pilot, text)
    app.app.main.parts.approvals.typed_at = -1e9


async def answer(app: RealApp, key: str) -> None:
    """Answer the question about the skill, once all of it was on screen."""
    app.app.main.parts.approvals.typed_at = -1e9
    await app.shows(QUESTION)
    await painted(app.app, whole=True)
    await app.press(key)


async def test_a_skill_is_loaded_by_its_name_and_sent_with_the_next_message(separate_home: Path, site: Site):
    async with skilled(separate_home, site) as (app, endpoint):
        await command(app, "/skills forms")
        await app.shows(QUESTION, "asked by  you", "2 files", "references/FIELDS.md")
        await answer(app, "ctrl+s")
        await app.shows("[@skill forms from docs]")
        await app.press("enter")
        await app.shows("All done.", "Loaded the skill “forms”", "/skills off turns it off")
        assert SKILL_MD.splitlines()[-1] in endpoint.requests[-1].json["messages"][-1]["content"]


async def test_the_list_shows_states_and_loads_the_selected_skill(separate_home: Path, site: Site):
    site.pages[0].append({**raw_entry("skill://x/SKILL.md", {}), "resources": []})
    async with skilled(separate_home, site) as (app, _):
        await command(app, "/skills")
        await app.shows("docs/forms  new", "docs/x      cannot be loaded")
        await app.press("enter")
        await answer(app, "ctrl+x")
        await app.shows("The skill “forms” was not loaded")


async def test_the_model_loads_a_skill_and_the_conversation_says_how_to_turn_it_off(
    separate_home: Path, site: Site
):
    async with skilled(separate_home, site, loads()) as (app, _):
        await command(app, "Fill it.")
        await app.shows(QUESTION, "asked by  the model")
        await answer(app, "ctrl+s")
        await app.shows("All done.", "mcptui › load_skill", "/skills off turns it off")
        await command(app, "/skills off")
        await app.shows("Skills turned off: forms.")


async def test_a_skill_is_attached_with_an_at_sign_and_asked_about_on_sending(
    separate_home: Path, site: Site
):
    async with skilled(separate_home, site) as (app, endpoint):
        await app.runtime.skill_loader.list_now()
        app.app.main.composer.insert("@docs:sk")
        await app.shows("docs:skill://forms/SKILL.md", "skill: Fill forms")
        await app.press("tab")
        await app.press("enter")
        await answer(app, "ctrl+s")
        await app.shows("All done.")
        assert "[Skill “forms” from the server “docs”" in str(endpoint.requests[-1].json["messages"][-1])


async def test_names_are_completed(separate_home: Path, site: Site):
    async with skilled(separate_home, site) as (app, _):
        app.app.main.composer.insert("/skills ")
        await app.shows("docs/forms", "Fill forms", "Turn off the loaded skills")


async def test_without_a_server_of_skills_the_command_says_so(separate_home: Path, site: Site):
    site.settings = None
    async with skilled(separate_home, site) as (app, _):
        await command(app, "/skills")
        await app.shows("no running server serves skills")


async def in_tab(app: RealApp) -> None:
    app.app.main.parts.navigator.open_server("docs")
    await app.shows("8 skills")
    await app.press("8")


async def test_the_tab_shows_state_and_manifest(separate_home: Path, site: Site):
    async with skilled(separate_home, site, size=(80, 24)) as (app, _):
        await in_tab(app)
        await app.shows("1 skill", "forms", "new", "2 files", "references/FIELDS.md", FORMS)


async def test_the_tab_loads_a_skill_shows_its_change_and_revokes_its_approval(
    separate_home: Path, site: Site
):
    async with skilled(separate_home, site) as (app, _):
        await in_tab(app)
        await app.shows("Fill forms")
        await app.press("a")
        await answer(app, "ctrl+s")
        await app.shows("state           approved", "is attached to the next message")
        await app.press("ctrl+d")
        await app.shows("Approval revoked.", "state           new")
        await app.press("a")
        await answer(app, "ctrl+s")
        await app.shows("state           approved")
        text = SKILL_MD + "More.\n"
        site.pages = [[raw_entry(files={FORMS: text, REFERENCE: FIELDS})]]
        site.files[FORMS] = content(FORMS, text)
        site.save()
        await app.press("R")
        await app.shows("state           changed", "SKILL.md changed")


async def test_the_tab_shows_the_text_of_a_skill_but_not_one_that_does_not_match(
    separate_home: Path, site: Site
):
    async with skilled(separate_home, site) as (app, _):
        await in_tab(app)
        await app.shows("Fill forms")
        await app.press("enter")
        await app.shows("forms / SKILL.md", "Read references/FIELDS.md first.")
        await app.press("escape")
        site.files[FORMS] = content(FORMS, SKILL_MD + "CANARY")
        site.save()
        await app.press("enter")
        await app.shows("SKILL.md was not used")
        assert "CANARY" not in app.text


async def test_a_server_without_skills_has_no_tab_and_its_files_are_said_to_be_unverified(
    separate_home: Path, site: Site
):
    site.settings = None
    async with skilled(separate_home, site, era=("legacy",)) as (app, _):
        app.app.main.parts.navigator.open_server("docs")
        await app.shows("7 tests")
        await app.press("1")
        await app.press("8")
        await app.shows("This server serves no skills")
        await app.press("3")
        await app.shows("skill, not verified")


async def test_the_tab_and_the_question_survive_the_removal_of_their_server(separate_home: Path, site: Site):
    async with skilled(separate_home, site) as (app, _):
        await in_tab(app)
        await app.shows("Fill forms")
        await app.press("a")
        app.app.main.parts.approvals.typed_at = -1e9
        await app.shows(QUESTION)
        app.write(app.config.read_text().partition("[servers.docs]")[0])
        await app.runtime.configuration.reload()
        await app.shows("The question was withdrawn.", "is no longer configured")
        await app.press("R", "enter", "a", "ctrl+d")
        await app.shows("serves no skills")
