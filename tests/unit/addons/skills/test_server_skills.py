"""Each rule of the extension that its loader keeps, over a real server that breaks it."""

import asyncio
import dataclasses
import logging
import sys

import pytest

from tests.conftest import until
from tests.hosts import running
from tests.real.places import free_port, served
from tests.unit.addons.skills.site import (
    FIELDS,
    FORMS,
    REFERENCE,
    SERVER,
    SKILL_MD,
    Site,
    content,
    listed,
    raw_entry,
)
from tui.addons.skills.entry import MAX_BYTES
from tui.addons.skills.problem import SkillProblem, Why
from tui.addons.skills.server_skills import HeldSkill, ServerSkills
from tui.core.servers import EraChoice, ServerSpec, Transport
from tui.core.time_limits import CallTimeout

CANARY = "canary"


async def loaded(skills: ServerSkills) -> HeldSkill:
    """Load the first skill that the server lists."""
    return await skills.load((await skills.listing("docs")).entries[0])


async def refused(skills: ServerSkills, why: Why, reference: str = "") -> SkillProblem:
    """Load the skill, and read a file of it; return why that is refused."""
    with pytest.raises(SkillProblem) as raised:
        held = await loaded(skills)
        await skills.read(held, reference)
    assert raised.value.why is why, raised.value
    return raised.value


# ---- listing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("sdk",)], ids=["own", "sdk"])
async def test_a_skill_is_listed_loaded_and_its_file_read(site: Site, words: tuple[str, ...]):
    async with site.skills(*words) as skills:
        assert skills.servers() == ["docs"]
        held = await loaded(skills)
        assert held.text == SKILL_MD and held.entry.name == "forms"
        assert (await skills.read(held, "references/FIELDS.md")).text == FIELDS


async def test_listing_reads_no_file(site: Site):
    async with site.skills() as skills:
        await skills.listing("docs")
        await skills.entry("docs", FORMS)
    assert site.asked("resources/read") == [] and site.asked("skills/list") == [None]


async def test_loading_reads_the_skill_md_alone(site: Site):
    async with site.skills() as skills:
        await loaded(skills)
    assert site.asked("resources/read") == [FORMS]


@pytest.mark.parametrize("era", [(), ("legacy",)], ids=["modern", "legacy"])
async def test_nothing_is_asked_of_a_server_that_does_not_declare_the_extension(
    site: Site, era: tuple[str, ...]
):
    site.settings = None
    async with site.skills(*era) as skills:
        assert skills.servers() == []
        for request in (skills.listing("docs"), skills.entry("docs", FORMS)):
            with pytest.raises(SkillProblem, match="does not serve skills"):
                await request
    assert site.asked("skills/list") == site.asked("skills/get") == []


async def test_skill_resources_of_a_legacy_server_are_resources(site: Site):
    site.settings = None
    async with site.skills("legacy") as skills:
        resources, problem = await skills.plain("docs")
    assert [one.uri for one in resources] == [FORMS, REFERENCE] and problem == ""


async def test_the_sdk_does_not_declare_the_extension_in_the_legacy_era(site: Site):
    async with running(dataclasses.replace(site.spec("sdk"), era=EraChoice.LEGACY)) as host:
        assert ServerSkills(host, lambda: CallTimeout.of(20.0)).servers() == []


async def test_a_legacy_server_that_declares_the_extension_serves_skills(site: Site):
    async with site.skills("legacy") as skills:
        assert (await loaded(skills)).text == SKILL_MD


async def test_an_empty_cursor_is_a_page_like_any_other(site: Site):
    other = "skill://b/SKILL.md"
    site.pages.append([raw_entry(other, {other: "b"})])
    site.more = {"cursors": ["", None]}
    async with site.skills() as skills:
        assert [one.name for one in (await skills.listing("docs")).entries] == ["forms", "b"]


async def test_an_invalid_entry_is_dropped_alone_and_reported(site: Site):
    site.pages = [
        [raw_entry()],
        [{"uri": 1}, "x", {"uri": "skill://a/SKILL.md"}],
        [raw_entry("skill://b/SKILL.md")],
    ]
    site.pages[2][0]["resources"] = [listed("skill://b/SKILL.md", "b")]
    async with site.skills() as skills:
        listing = await skills.listing("docs")
    assert [one.name for one in listing.entries] == ["forms", "b"]
    assert len(listing.problems) == 3 and "skill://a/SKILL.md" in listing.problems[2]


async def test_a_repeated_cursor_ends_the_listing(site: Site):
    site.more = {"cursors": ["again", "again"]}
    async with site.skills() as skills:
        listing = await skills.listing("docs")
    assert len(listing.entries) == 1 and "repeated" in " ".join(listing.problems)


async def test_a_skill_that_is_listed_twice_counts_once(site: Site):
    site.pages = [[raw_entry(), raw_entry(description="Another")]]
    async with site.skills() as skills:
        listing = await skills.listing("docs")
    assert [one.description for one in listing.entries] == ["Fill forms"]
    assert "listed twice" in listing.problems[0]


async def test_no_more_of_a_list_is_kept_than_a_limit(site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tui.addons.skills.server_skills.MAX_LISTED_CHARS", 150)
    other = "skill://other/SKILL.md"
    site.pages = [[raw_entry()], [raw_entry(other, files={other: SKILL_MD})]]
    async with site.skills() as skills:
        listing = await skills.listing("docs")
    assert [one.name for one in listing.entries] == ["forms"]
    assert "the list is longer than 150 characters" in listing.problems[0]


@pytest.mark.parametrize(("ttl", "requests"), [(60_000, 1), (0, 2)])
async def test_a_listing_is_asked_for_again_when_its_ttl_is_over(site: Site, ttl: int, requests: int):
    site.more = {"ttl": ttl}
    async with site.skills() as skills:
        await skills.listing("docs")
        await skills.listing("docs")
    assert len(site.asked("skills/list")) == requests


async def test_a_restarted_server_is_asked_again(site: Site):
    site.more = {"ttl": 60_000}
    site.save()
    async with running(site.spec()) as host:
        skills = ServerSkills(host, lambda: CallTimeout.of(20.0))
        await skills.listing("docs")
        await host.restart("docs")
        await skills.listing("docs")
    assert len(site.asked("skills/list")) == 2


async def test_two_skills_with_one_name_are_told_apart_by_their_paths(site: Site):
    other = "skill://other/forms/SKILL.md"
    site.pages[0].append(raw_entry(other, {other: SKILL_MD}))
    async with site.skills() as skills:
        listing = await skills.listing("docs")
    assert [listing.label(one) for one in listing.entries] == ["forms", "other/forms"]
    assert len(listing.named("forms")) == 2


async def test_the_same_uri_on_two_servers_is_two_skills(site: Site):
    async with running(site.spec(), site.spec(name="copy")) as host:
        skills = ServerSkills(host, lambda: CallTimeout.of(20.0))
        one, other = [(await skills.listing(name)).entries[0] for name in ("docs", "copy")]
    assert one.uri == other.uri and one != other


# ---- one entry -------------------------------------------------------------------------------------------


async def test_a_skill_that_is_not_listed_is_found_by_its_uri(site: Site):
    uri, text = "skill://hidden/SKILL.md", SKILL_MD.replace("name: forms", "name: hidden")
    site.unlisted, site.files[uri] = [raw_entry(uri, {uri: text})], content(uri, text)
    async with site.skills() as skills:
        assert (await skills.load(await skills.entry("docs", uri))).entry.name == "hidden"


async def test_an_unknown_skill_is_said_to_be_unknown(site: Site):
    async with site.skills() as skills:
        with pytest.raises(SkillProblem, match="serves no skill at skill://no/") as raised:
            await skills.entry("docs", "skill://no/SKILL.md")
    assert raised.value.why is Why.UNKNOWN


@pytest.mark.parametrize(
    "uri", ["skill://a/../b/SKILL.md", "skill://a/README.md", "/SKILL.md", "x y://a/SKILL.md"]
)
async def test_a_uri_that_cannot_be_a_skill_is_not_asked_for(site: Site, uri: str):
    async with site.skills() as skills:
        with pytest.raises(SkillProblem):
            await skills.entry("docs", uri)
    assert site.asked("skills/get") == []


async def test_another_skill_in_place_of_the_requested_one_is_refused(site: Site):
    site.save()
    async with site.skills() as skills:
        site.unlisted = [raw_entry() | {"uri": "skill://x/SKILL.md"}]
        site.more = {"skills": {FORMS: raw_entry("skill://evil/SKILL.md")}}
        site.save()
        with pytest.raises(SkillProblem, match="in place of"):
            await skills.entry("docs", FORMS)


# ---- verification ----------------------------------------------------------------------------------------

EVIL = SKILL_MD.replace("Read", f"{CANARY} Do")


@pytest.mark.parametrize(
    ("served", "said"),
    [
        (SKILL_MD + CANARY, "bytes, and its manifest says"),
        (SKILL_MD[:-1], "bytes, and its manifest says"),
        (SKILL_MD.replace("Read", CANARY[:4]), "SHA-256 digest"),
        (SKILL_MD.replace("\n", "\r\n"), "bytes, and its manifest says"),
        ("\ufeff" + SKILL_MD, "bytes, and its manifest says"),
        ("", "bytes, and its manifest says"),
    ],
    ids=["longer", "shorter", "same size", "crlf", "bom", "empty"],
)
async def test_a_skill_md_with_other_bytes_is_not_used(site: Site, served: str, said: str):
    site.files[FORMS] = content(FORMS, served)
    async with site.skills() as skills:
        assert said in str(await refused(skills, Why.MISMATCH))


async def test_a_file_with_other_bytes_is_not_used(site: Site):
    site.files[REFERENCE] = content(REFERENCE, FIELDS.replace("fields", "evilly"))
    async with site.skills() as skills:
        problem = await refused(skills, Why.MISMATCH, "references/FIELDS.md")
    assert problem.is_stale and "SHA-256 digest" in str(problem)


async def test_front_matter_that_differs_from_the_entry_is_not_used(site: Site):
    site.entry["frontmatter"]["description"] = "Harmless"
    async with site.skills() as skills:
        assert "differs from its entry in description" in str(await refused(skills, Why.MISMATCH))


async def test_the_front_matter_of_a_dynamic_skill_is_compared_too(site: Site):
    site.entry["resources"] = "dynamic"
    site.entry["frontmatter"]["license"] = "MIT"
    async with site.skills() as skills:
        assert "differs from its entry in license" in str(await refused(skills, Why.MISMATCH))


async def test_a_field_that_the_entry_does_not_have_is_a_difference(site: Site):
    text = SKILL_MD.replace("---\n\n", "allowed-tools: Bash\n---\n\n")
    site.pages[0][0] = raw_entry(FORMS, {FORMS: text})
    site.files[FORMS] = content(FORMS, text)
    async with site.skills() as skills:
        assert "allowed-tools" in str(await refused(skills, Why.MISMATCH))


async def test_nothing_of_a_failed_file_is_in_the_error_or_a_log(
    site: Site, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    site.files[FORMS] = content(FORMS, EVIL)
    async with site.skills() as skills:
        problem = await refused(skills, Why.MISMATCH)
        held = vars(skills)
    chain = [problem, problem.__cause__, problem.__context__]
    assert CANARY not in " ".join(map(repr, chain)) + caplog.text + repr(held)


async def test_a_skill_that_changed_is_loaded_from_its_new_entry(site: Site):
    async with site.skills() as skills:
        before = (await skills.listing("docs")).entries[0]
        site.pages[0][0] = raw_entry(FORMS, {FORMS: SKILL_MD + "More.\n"})
        site.files[FORMS] = content(FORMS, SKILL_MD + "More.\n")
        site.save()
        with pytest.raises(SkillProblem) as raised:
            await skills.load(before)
        assert raised.value.is_stale
        held = await skills.load(await skills.entry("docs", before.uri))
    assert held.text.endswith("More.\n")


async def test_a_blob_is_compared_by_its_decoded_bytes(site: Site):
    picture, uri = b"\x89PNG\r\n\x1a\n\x00\xff", "skill://forms/logo.png"
    site.pages[0][0] = raw_entry(FORMS, {FORMS: SKILL_MD, uri: picture})
    site.files[uri] = content(uri, picture)
    async with site.skills() as skills:
        found = await skills.read(await loaded(skills), "logo.png")
    assert found.data == picture and found.text is None


@pytest.mark.parametrize(
    "served",
    [
        [],
        [content(FORMS, SKILL_MD), content(FORMS, EVIL)],
        [{"uri": FORMS}],
        [{"uri": FORMS, "text": SKILL_MD, "blob": "AAAA"}],
        [{"uri": FORMS, "blob": "not base64!"}],
        [{"uri": FORMS, "text": "\ud800"}],
        ["text"],
    ],
    ids=["none", "two", "empty", "both", "no base64", "no unicode", "no object"],
)
async def test_what_is_not_one_file_is_not_used(site: Site, served: object):
    site.files[FORMS] = served
    async with site.skills() as skills:
        await refused(skills, Why.MISMATCH)


# ---- the held manifest -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reference", ["EXTRA.md", "skill://forms/EXTRA.md", "./EXTRA.md", "_manifest", "references", "skill.md"]
)
async def test_a_file_that_the_manifest_does_not_list_is_not_read(site: Site, reference: str):
    site.files["skill://forms/EXTRA.md"] = content("skill://forms/EXTRA.md", CANARY)
    async with site.skills() as skills:
        assert (await refused(skills, Why.UNLISTED, reference)).is_stale
    assert site.asked("resources/read") == [FORMS]


@pytest.mark.parametrize(
    "reference",
    [
        *("../other/SKILL.md", "references/../../x", "%2e%2e/other/SKILL.md", "%252e%252e/x", "..%2fx"),
        *("/etc/passwd", "\\\\host\\x", "skill://other/SKILL.md", "file:///etc/passwd", "https://h/x", ""),
        *("skill://forms/../other/SKILL.md", "//host/x", "a//b", "a\x00b", "x" * 5_000, "C:\\x", "a?b", "#a"),
    ],
)
async def test_a_reference_never_leaves_the_folder_of_its_skill(site: Site, reference: str):
    async with site.skills() as skills:
        await refused(skills, Why.REFERENCE, reference)
    assert site.asked("resources/read") == [FORMS]


async def test_a_file_added_after_loading_is_read_only_under_a_new_entry(site: Site):
    uri = "skill://forms/NEW.md"
    async with site.skills() as skills:
        held = await loaded(skills)
        site.pages[0][0] = raw_entry(FORMS, {FORMS: SKILL_MD, REFERENCE: FIELDS, uri: "new"})
        site.files[uri] = content(uri, "new")
        site.save()
        await skills.listing("docs")
        with pytest.raises(SkillProblem):
            await skills.read(held, "NEW.md")
        again = await skills.load(await skills.entry("docs", FORMS))
        assert (await skills.read(again, "NEW.md")).text == "new"


async def test_the_skill_md_of_a_nested_skill_is_an_ordinary_file(site: Site):
    inner = "skill://forms/inner/SKILL.md"
    text = "---\nname: somebody-else\nallowed-tools: Bash\n---\n"
    site.pages[0][0] = raw_entry(FORMS, {FORMS: SKILL_MD, inner: text, "skill://forms/inner/a.md": "a"})
    site.files |= {inner: content(inner, text), "skill://forms/inner/a.md": content("", "a")}
    async with site.skills() as skills:
        held = await loaded(skills)
        assert held.entry.nested == ("inner/SKILL.md",)
        assert (await skills.read(held, "inner/SKILL.md")).text == text
        assert (await skills.read(held, "a.md", folder="inner")).text == "a"
        with pytest.raises(SkillProblem, match="serves no skill"):
            await skills.entry("docs", inner)


# ---- limits ----------------------------------------------------------------------------------------------


async def test_a_declined_skill_is_never_read(site: Site):
    site.entry["resources"] = None
    async with site.skills() as skills:
        problem = await refused(skills, Why.DECLINED)
    assert "no list of files" in str(problem) and site.asked("resources/read") == []


async def test_the_files_of_a_dynamic_skill_are_limited_together(site: Site):
    site.entry["resources"] = "dynamic"
    async with site.skills() as skills:
        held = await loaded(skills)
        assert held.received == len(SKILL_MD)
        assert (await skills.read(held, "references/FIELDS.md")).text == FIELDS
        held.received = MAX_BYTES - 1
        with pytest.raises(SkillProblem, match="1 are allowed"):
            await skills.read(held, "references/FIELDS.md")


async def test_a_slow_file_times_out(site: Site):
    site.files[FORMS] = 30
    site.save()
    async with running(site.spec()) as host:
        skills = ServerSkills(host, lambda: CallTimeout.of(0.3))
        await refused(skills, Why.LATE)


async def test_cancelling_a_load_cancels_its_request(site: Site):
    site.files[FORMS] = 3
    async with site.skills() as skills:
        entry = (await skills.listing("docs")).entries[0]
        loading = asyncio.ensure_future(skills.load(entry))
        await until(lambda: site.asked("resources/read") != [])
        loading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loading


async def test_a_server_that_is_not_running_is_named(site: Site):
    async with site.skills() as skills:
        held = await loaded(skills)
        await skills._host.stop("docs")
        with pytest.raises(SkillProblem, match="is not running"):
            await skills.read(held, "references/FIELDS.md")


async def test_every_entry_is_reported_to_whom_approvals_belong(site: Site):
    seen: list[str] = []
    async with running(site.spec()) as host:
        skills = ServerSkills(host, lambda: CallTimeout.of(20.0), lambda entry: seen.append(entry.uri))
        await skills.listing("docs")
        await skills.entry("docs", FORMS)
    assert seen == [FORMS, FORMS]


async def test_the_largest_skill_that_a_host_must_support_is_read(site: Site):
    uri, data = "skill://forms/large.bin", b"\xff" * (MAX_BYTES - len(SKILL_MD))
    site.pages[0][0] = raw_entry(FORMS, {FORMS: SKILL_MD, uri: data})
    site.files[uri] = content(uri, data)
    async with site.skills() as skills:
        held = await loaded(skills)
        assert held.entry.size == MAX_BYTES and (await skills.read(held, "large.bin")).data == data


async def test_skills_are_served_over_http_in_the_modern_era_alone(
    site: Site, shared_processes: set[int], monkeypatch: pytest.MonkeyPatch
):
    port = free_port()
    for name, value in site.env.items():
        monkeypatch.setenv(name, value)
    with served([sys.executable, SERVER, "sdk", str(port)], port, shared_processes):
        spec = ServerSpec("docs", transport=Transport.HTTP, url=f"http://127.0.0.1:{port}/mcp")
        async with running(spec) as host:
            skills = ServerSkills(host, lambda: CallTimeout.of(20.0))
            held = await loaded(skills)
            assert (await skills.read(held, "references/FIELDS.md")).text == FIELDS
        async with running(dataclasses.replace(spec, era=EraChoice.LEGACY)) as host:
            skills = ServerSkills(host, lambda: CallTimeout.of(20.0))
            assert skills.servers() == [] and skills.settings("docs") is None
