"""`mcptui skill` and `mcptui list SERVER skills`, over a real server that may lie."""

import json
from pathlib import Path

import pytest

from tests.configurations import config_file, server
from tests.protocol.command import Done, mcptui
from tests.unit.addons.skills.site import FIELDS, FORMS, REFERENCE, SERVER, SKILL_MD, Site, content, raw_entry

CANARY = "canary"


async def skill(site: Site, *words: str, command: str = "skill", era: str = "modern") -> Done:
    site.save()
    config = config_file(site.folder, server("docs", SERVER, era, env=site.env))
    return await mcptui(
        command, "--config", config, "docs", *words, XDG_STATE_HOME=str(site.folder / "state")
    )


async def test_the_skills_of_a_server_are_listed_without_reading_a_file(site: Site):
    done = await skill(site)
    assert (done.code, done.out) == (0, "forms  2 files, 92 B\n    Fill forms\n")
    assert site.asked("resources/read") == []


async def test_one_skill_is_shown_with_its_manifest_and_its_text(site: Site):
    done = await skill(site, "forms")
    assert done.code == 0
    for said in (FORMS, "description: Fill forms", "references/FIELDS.md", "matches the server's manifest"):
        assert said in done.out
    assert done.out.endswith("Read references/FIELDS.md first.\n") and site.asked("resources/read") == [FORMS]


async def test_a_skill_is_found_by_its_uri(site: Site):
    done = await skill(site, FORMS)
    assert done.code == 0 and site.asked("skills/list") == [] and site.asked("skills/get") == [FORMS]


async def test_an_unknown_name_lists_the_known_ones(site: Site):
    done = await skill(site, "form")
    assert done.code == 2 and "did you mean" in done.err and "forms" in done.err


async def test_a_name_of_two_skills_lists_their_paths(site: Site):
    other = "skill://acme/forms/SKILL.md"
    site.pages[0].append(raw_entry(other, {other: SKILL_MD}))
    done = await skill(site, "forms")
    assert done.code == 2 and "forms, acme/forms" in done.err
    assert (await skill(site, "acme/forms", "--json")).code == 1  # its SKILL.md is not served


async def test_a_file_that_does_not_match_is_never_printed(site: Site):
    site.files[FORMS] = content(FORMS, SKILL_MD.replace("Read", f"{CANARY}: "))
    for words in ((), ("--verify",), ("--json",), ("-o", str(site.folder / "out"))):
        done = await skill(site, "forms", *words)
        assert done.code == 1 and CANARY not in done.out + done.err
    assert not (site.folder / "out").exists()


async def test_every_file_is_compared(site: Site):
    done = await skill(site, "--verify")
    assert done.code == 0 and "2 of 2 files match the server's manifest" in done.out
    assert sorted(site.asked("resources/read")) == [FORMS, REFERENCE]


async def test_a_file_that_differs_is_named_and_the_command_fails(site: Site):
    site.files[REFERENCE] = content(REFERENCE, FIELDS + CANARY)
    done = await skill(site, "forms", "--verify")
    assert done.code == 1 and "differs" in done.out and "1 of 2 files" in done.out
    assert CANARY not in done.out.replace(FIELDS, "")


async def test_comparisons_are_one_json_object(site: Site):
    del site.files[REFERENCE]
    done = await skill(site, "forms", "--verify", "--json")
    (found,) = json.loads(done.out)["skills"]
    assert done.code == 1 and [one["result"] for one in found["files"]] == ["matches", "not read"]


async def test_a_dynamic_skill_cannot_be_compared_or_unpacked(site: Site):
    site.entry["resources"] = "dynamic"
    compared = await skill(site, "forms", "--verify")
    assert compared.code == 1 and "cannot be compared" in compared.out
    unpacked = await skill(site, "forms", "-o", str(site.folder / "out"))
    assert unpacked.code == 1 and "dynamic" in unpacked.err


async def test_a_skill_is_unpacked_into_a_folder_with_its_name(site: Site):
    out = site.folder / "out"
    done = await skill(site, "forms", "-o", str(out))
    assert done.code == 0 and "wrote 2 files" in done.err
    assert {str(path.relative_to(out)): path.read_bytes().decode() for path in out.rglob("*.md")} == {
        "forms/SKILL.md": SKILL_MD,
        "forms/references/FIELDS.md": FIELDS,
    }


async def test_a_folder_is_replaced_only_with_force(site: Site):
    mine = site.folder / "out" / "forms" / "mine"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    refused = await skill(site, "forms", "-o", str(site.folder / "out"))
    assert refused.code == 2 and "--force" in refused.err and mine.exists()
    assert site.asked("resources/read") == []
    forced = await skill(site, "forms", "-o", str(site.folder / "out"), "--force")
    assert forced.code == 0 and not mine.exists()


async def test_a_hostile_file_name_is_refused_before_anything_is_read(site: Site):
    site.pages[0][0] = raw_entry(FORMS, {FORMS: SKILL_MD, "skill://forms/.git/config": "x"})
    done = await skill(site, "forms", "-o", str(site.folder / "out"))
    assert done.code == 1 and ".git/config" in done.err and site.asked("resources/read") == []


async def test_resources_of_a_legacy_server_are_said_to_have_no_manifest(site: Site):
    site.settings = None
    done = await skill(site, era="legacy")
    assert done.code == 0 and FORMS in done.out and "resources without a manifest" in done.err
    assert (await skill(site, "--verify", era="legacy")).code == 1
    named = await skill(site, "forms", era="legacy")
    assert named.code == 1 and "does not serve skills" in named.err


async def test_hostile_text_is_cleaned(site: Site):
    text = f"{SKILL_MD}\x1b[2J\u202e evil\n"
    site.pages[0][0] = raw_entry(FORMS, {FORMS: text})
    site.files[FORMS] = content(FORMS, text)
    done = await skill(site, "forms")
    assert done.code == 0 and "\x1b" not in done.out and "\u202e" not in done.out and "evil" in done.out


async def test_a_secret_of_the_server_is_redacted(site: Site):
    secret = "sk-0123456789abcdef0123"
    text = SKILL_MD + secret
    site.pages[0][0] = raw_entry(FORMS, {FORMS: text})
    site.files[FORMS] = content(FORMS, text)
    site.save()
    config = config_file(site.folder, server("docs", SERVER, "modern", env=site.env | {"API_KEY": secret}))
    done = await mcptui("skill", "--config", config, "docs", "forms")
    assert done.code == 0 and secret not in done.out + done.err
    unpacked = await mcptui("skill", "--config", config, "docs", "forms", "-o", str(site.folder / "out"))
    assert unpacked.code == 1 and "contains a secret" in unpacked.err and not (site.folder / "out").exists()


@pytest.mark.parametrize("words", [("-o", "x"), ("forms", "--force"), ("forms", "more")], ids="+".join)
async def test_contradicting_arguments_are_refused(site: Site, words: tuple[str, ...]):
    done = await skill(site, *words)
    assert done.code == 2 and not (site.folder / "state").exists()


async def test_a_late_answer_has_its_own_exit_code(site: Site):
    site.files[FORMS] = 30
    assert (await skill(site, "forms", "--seconds", "0.3")).code == 3


async def test_list_shows_skills_with_the_other_kinds(site: Site):
    done = await skill(site, command="list")
    assert done.code == 0 and "resources\n" in done.out and "skills\n  forms  2 files, 92 B" in done.out
    alone = await skill(site, "skills", command="list")
    assert alone.out == "forms  2 files, 92 B\n    Fill forms\n"


async def test_list_has_the_entries_as_json(site: Site):
    done = await skill(site, "skills", "--json", command="list")
    assert json.loads(done.out) == {"skills": [raw_entry()]}


async def test_list_leaves_skills_out_where_there_are_none(site: Site):
    site.settings = None
    everything = await skill(site, "--json", command="list")
    assert "skills" not in json.loads(everything.out)
    alone = await skill(site, "skills", command="list")
    assert alone.code == 0 and "docs does not support skills" in alone.err


async def test_list_says_that_skills_are_turned_off_for_the_server(site: Site):
    site.save()
    off = {"io.modelcontextprotocol/skills": False}
    config = config_file(site.folder, server("docs", SERVER, "modern", env=site.env, extensions=off))
    done = await mcptui("list", "--config", config, "docs", "skills")
    assert done.code == 0 and "docs: Skills is turned off for this server." in done.err


async def test_removing_a_server_removes_its_approvals(site: Site, tmp_path: Path):
    site.save()
    state, config = tmp_path / "state", tmp_path / "config"
    (config / "mcptui").mkdir(parents=True)
    config_file(
        config / "mcptui", server("docs", SERVER, env=site.env), server("other", SERVER, env=site.env)
    )
    (state / "mcptui").mkdir(parents=True)
    kept = {"runs": "x", "uri": FORMS, "files": {}, "revoked": False}
    stored = {"format": 1, "skills": [{"server": name, **kept} for name in ("docs", "other")]}
    file = state / "mcptui" / "approved-skills.json"
    file.write_text(json.dumps(stored))
    done = await mcptui("remove", "docs", XDG_STATE_HOME=str(state), XDG_CONFIG_HOME=str(config))
    assert done.code == 0, done
    assert [one["server"] for one in json.loads(file.read_text())["skills"]] == ["other"]
