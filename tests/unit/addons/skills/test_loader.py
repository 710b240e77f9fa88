"""Loading skills: which one is meant, what is held, and what a preview is good for."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.configurations import server
from tests.conftest import until
from tests.protocol.skill_stage import NO, YES, ScriptedQuestioner, skill_stage
from tests.unit.addons.skills.site import FORMS, REFERENCE, SERVER, SKILL_MD, Site, content, raw_entry
from tui.addons.skills import server_skills
from tui.addons.skills.loader import SkillLoader
from tui.core.context.skill_texts import SkillMark
from tui.core.errors import McptuiError
from tui.core.questions import Action, Question, QuestionAnswer
from tui.runtime.runtime import Runtime

ACME, OTHER = "skill://acme/forms/SKILL.md", "skill://other/forms/SKILL.md"


@pytest.fixture
def site(tmp_path: Path, separate_home: Path) -> Site:
    return Site(tmp_path)


@asynccontextmanager
async def loading(
    site: Site, *answers: QuestionAnswer, second: bool = False
) -> AsyncIterator[tuple[SkillLoader, Runtime]]:
    tables = [server("second", SERVER, env=site.env)] if second else []
    async with skill_stage(site, answers=answers or (YES,), tables=tables) as stage:
        if second:
            await stage.runtime.host.start("second")
        loader: SkillLoader = stage.runtime.skill_loader
        await loader.list_now()
        yield loader, stage.runtime


@pytest.mark.parametrize("typed", ["forms", "docs/forms", FORMS, f"docs/{FORMS}"])
async def test_a_skill_is_meant_by_its_name_its_server_or_its_uri(site: Site, typed: str):
    async with loading(site) as (loader, _):
        entry = await loader.find(*await loader.meant(typed))
        assert entry.uri == FORMS


async def test_a_name_on_two_servers_needs_the_server(site: Site):
    async with loading(site, second=True) as (loader, _):
        with pytest.raises(McptuiError, match="Use one of: /skills docs/forms, /skills second/forms"):
            await loader.meant("forms")
        assert await loader.meant("second/forms") == ("second", "forms")


async def test_skills_with_one_name_are_told_apart_by_their_paths(site: Site):
    site.pages = [[raw_entry(uri, {uri: SKILL_MD}) for uri in (ACME, OTHER)]]
    async with loading(site) as (loader, _):
        assert [one.name for one in loader.skills()] == ["acme/forms", "other/forms"]
        with pytest.raises(McptuiError, match="Use a path: acme/forms, other/forms"):
            await loader.find("docs", "forms")
        assert (await loader.find("docs", "acme/forms")).uri == ACME


async def test_an_unknown_skill_names_those_that_are_listed(site: Site):
    async with loading(site) as (loader, _):
        with pytest.raises(McptuiError, match=r"The server “docs” has no skill “x”. It lists: forms"):
            await loader.find("docs", "x")
        with pytest.raises(McptuiError, match="no running server lists this skill"):
            await loader.meant("x")


async def test_a_server_without_skills_is_named(site: Site):
    async with loading(site) as (loader, _):
        with pytest.raises(McptuiError, match=r"“other” serves no skills. Servers with skills: docs"):
            await loader.find("other", "forms")


async def test_a_preview_approves_nothing(site: Site):
    async with loading(site, NO) as (loader, _):
        entry = await loader.find("docs", "forms")
        assert await loader.preview(entry) == SKILL_MD
        with pytest.raises(McptuiError, match="declined"):
            await loader.load("docs", "forms")


async def test_what_was_read_before_the_yes_is_what_is_loaded(site: Site):
    """A dynamic skill may be another one at each read."""
    site.entry["resources"] = "dynamic"
    async with loading(site) as (loader, _):
        entry = await loader.find("docs", "forms")
        await loader.preview(entry, for_answer=True)
        site.files[FORMS] = content(FORMS, SKILL_MD + "Something else.")
        site.save()
        assert (await loader.load("docs", "forms")).text == SKILL_MD


async def test_what_was_only_looked_at_is_read_again_when_it_is_loaded(site: Site):
    site.entry["resources"] = "dynamic"
    async with loading(site) as (loader, _):
        await loader.preview(await loader.find("docs", "forms"))
        site.files[FORMS] = content(FORMS, SKILL_MD + "Something else.")
        site.save()
        assert (await loader.load("docs", "forms")).text.endswith("Something else.")


async def test_a_dynamic_skill_that_changes_before_the_yes_is_asked_about_again(site: Site):
    site.entry["resources"] = "dynamic"

    class Changing(ScriptedQuestioner):
        async def ask(self, question: Question) -> QuestionAnswer:
            site.entry["frontmatter"]["description"] = "Else"
            site.files[FORMS] = content(FORMS, SKILL_MD.replace("Fill forms", "Else"))
            site.save()
            await loader.begin_listing("docs", again=True)
            return await super().ask(question)

    async with loading(site) as (loader, runtime):
        asked = runtime.questioner = Changing(YES)
        assert await loader.refusal("docs", "forms") == ""
        await loader.load("docs", "forms")
        assert [one.description for one in asked.asked] == ["Fill forms", "Else"]


@pytest.mark.parametrize(
    ("uris", "labels"),
    [([FORMS], ["forms"]), ([ACME, OTHER], ["acme/forms", "other/forms"])],
)
async def test_a_question_names_a_skill_by_what_no_other_has(site: Site, uris: list[str], labels: list[str]):
    site.pages = [[raw_entry(uri, files={uri: SKILL_MD}) for uri in uris]]
    evil = "skill://evil/forms/SKILL.md"
    site.unlisted = [raw_entry(evil, files={evil: SKILL_MD})]
    async with loading(site) as (loader, _):
        entries = [await loader.find("docs", uri) for uri in (*uris, evil)]
        found = [loader.question(one, by_model=True).label for one in entries]
    assert found == [*labels, evil]


async def test_whoever_stops_waiting_for_a_list_stops_nobody_else(site: Site):
    async with loading(site) as (loader, _):
        loader._servers._listings.clear()
        first, second = (asyncio.create_task(loader.find("docs", "forms")) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert (await second).name == "forms"


async def test_a_changed_skill_is_asked_about_once_even_while_its_new_list_is_examined(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    examined = threading.Event()

    def scan(*_args: object) -> tuple[()]:
        examined.wait(20)
        return ()

    async with skill_stage(site) as stage:
        loader: SkillLoader = stage.runtime.skill_loader
        await loader.attach("docs", "forms")
        monkeypatch.setattr(server_skills, "scan", scan)
        text = f"{SKILL_MD}Then call write.\n"
        site.pages, site.files[FORMS] = [[raw_entry(files={FORMS: text})]], content(FORMS, text)
        site.save()
        listed = site.asked("skills/list")
        listing = loader.begin_listing("docs", again=True)
        await until(lambda: site.asked("skills/list") > listed)
        loading_again = asyncio.create_task(loader.attach("docs", "forms"))
        await until(lambda: len(site.asked("skills/get")) > 0)
        examined.set()
        await asyncio.gather(listing, loading_again)
        assert [bool(one.changes) for one in stage.asked] == [False, True]
        assert "SKILL.md changed" in stage.asked[1].changes


async def test_many_skills_are_labelled_by_one_look_at_each(site: Site):
    def entry(number: int) -> dict[str, object]:
        uri = f"skill://s{number}/SKILL.md"
        return raw_entry(uri, files={uri: ""})

    site.pages = [[entry(number) for number in range(5_000)]]
    async with loading(site) as (loader, _):
        begun = time.process_time()
        assert len(loader.skills()) == len(loader.rows()) == 5_000
        assert time.process_time() - begun < 5.0, "about 0.5 s, and a minute if each is compared with all"


async def test_an_approval_by_an_option_lasts_for_one_load(site: Site):
    option = QuestionAnswer(Action.ACCEPT, by="option --approve-skill docs/forms")
    async with loading(site, option) as (loader, _):
        await loader.load("docs", "forms")
        assert loader.state(await loader.find("docs", "forms")).approval == "new"


async def test_a_skill_of_an_earlier_run_is_held_again_only_if_it_is_approved(site: Site):
    async with loading(site) as (loader, _):
        found = await loader.load("docs", "forms")
        loader.revoke(await loader.find("docs", "forms"))
        loader._held.clear()
        with pytest.raises(McptuiError, match="has changed since it was loaded"):
            await loader.read(found.mark, "references/FIELDS.md")


async def test_a_dynamic_skill_of_an_earlier_run_is_not_held_again(site: Site):
    site.entry["resources"] = "dynamic"
    async with loading(site) as (loader, _):
        with pytest.raises(McptuiError, match="was loaded in another run"):
            await loader.read(SkillMark("docs", "forms", FORMS, "dynamic"), "references/FIELDS.md")


async def test_a_file_that_is_no_text_is_named_and_not_given_to_the_model(site: Site):
    site.pages = [[raw_entry(files={FORMS: SKILL_MD, REFERENCE: b"\x89PNG\r\n\xff"})]]
    site.files[REFERENCE] = content(REFERENCE, b"\x89PNG\r\n\xff")
    async with loading(site) as (loader, _):
        found = await loader.load("docs", "forms")
        with pytest.raises(McptuiError, match=r"FIELDS.md is not text \(image/png, 7 B\)"):
            await loader.read(found.mark, "references/FIELDS.md")


async def test_secrets_of_the_configuration_reach_no_model(site: Site):
    secret = "sk-1234567890abcdefSECRET"
    text = SKILL_MD + f"Use {secret}.\n"
    site.pages = [[raw_entry(files={FORMS: text})]]
    site.files = {FORMS: content(FORMS, text)}
    async with loading(site) as (loader, runtime):
        runtime.redactor.add({"KEY": secret})
        assert secret not in (await loader.load("docs", "forms")).text


async def test_secrets_in_the_names_of_files_reach_no_model(site: Site):
    secret = "sk-1234567890abcdefSECRET"
    site.pages = [[raw_entry(files={FORMS: SKILL_MD, f"skill://forms/{secret}.md": ""})]]
    async with loading(site) as (loader, runtime):
        runtime.redactor.add({"KEY": secret})
        assert secret not in (await loader.attach("docs", "forms")).data


async def test_a_server_that_does_not_list_its_skills_delays_only_one_turn(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    async def never(*_: object, **__: object) -> None:
        await asyncio.get_running_loop().create_future()

    async with loading(site) as (loader, _):
        loader._awaited.clear()
        monkeypatch.setattr(loader._servers, "listing", never)
        monkeypatch.setattr("tui.addons.skills.loader.PATIENCE_SECONDS", 0.01)
        await loader.list_now()
        monkeypatch.setattr("tui.addons.skills.loader.PATIENCE_SECONDS", 1_000.0)
        await asyncio.wait_for(loader.list_now(), 20)
        assert [one.name for one in loader.skills()] == ["forms"], "the last list stays"
