"""Entries of untrusted listings: what is dropped, what is declined and why, and what an entry says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.addons.skills.site import FORMS, REFERENCE, listed, raw_entry
from tui.addons.skills.entry import MAX_BYTES, MAX_FILES, SkillEntry, SkillFile, entry_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
FILES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "uri": JSON | st.sampled_from([FORMS, REFERENCE, "skill://forms/../x"]),
            "digest": JSON | st.just(f"sha256:{'0' * 64}"),
            "size": JSON,
        },
    )
)


def entry(**changed: Any) -> SkillEntry:
    return entry_of("docs", raw_entry() | changed)


def test_an_honest_entry_is_taken_whole():
    found = entry()
    assert (found.server, found.name, found.description, found.folder) == (
        *("docs", "forms", "Fill forms"),
        "skill://forms",
    )
    assert found.declined == "" and list(found.by_path) == ["SKILL.md", "references/FIELDS.md"]
    assert found.size == sum(one.size for one in found.files or ())


@each_case(
    "raw",
    [
        *(None, 1, "x", [], {}, {"uri": 1}, {"uri": FORMS}),
        {"uri": FORMS, "frontmatter": {"name": "forms"}},
        {"uri": FORMS, "frontmatter": {"name": "forms", "description": 1}},
        {"uri": FORMS, "frontmatter": {"name": "forms", "description": "x", "y": "x" * 70_000}},
        {"uri": f"skill://{'x' * 9_000}/SKILL.md", "frontmatter": {"name": "x", "description": "x"}},
    ],
)
def test_an_entry_that_describes_no_skill_is_dropped(raw: object):
    with pytest.raises(ValueError, match=r"^(An|The) entry .* omitted"):
        entry_of("docs", raw)


@each_case(
    ("name", "uri"),
    [
        *(("Forms", "skill://Forms/SKILL.md"), ("for ms", "skill://for%20ms/SKILL.md"), ("-forms", FORMS)),
        *(("a--b", "skill://a--b/SKILL.md"), ("a" * 65, f"skill://{'a' * 65}/SKILL.md"), ("..", FORMS)),
        *(("fоrms", "skill://fоrms/SKILL.md"), ("forms\n", FORMS), ("other", FORMS), ("", FORMS)),
    ],
)
def test_a_name_that_is_invalid_or_not_that_of_the_folder_is_declined(name: str, uri: str):
    raw = raw_entry() | {"uri": uri, "frontmatter": {"name": name or "x", "description": "x"}}
    assert entry_of("docs", raw).declined.startswith("Its name")


@each_case(
    "uri",
    [
        *(
            "skill://forms/README.md",
            "forms/SKILL.md",
            "skill://forms/SKILL.md?x",
            "skill://forms/SKILL.md#x",
        ),
        *("skill://x/../forms/SKILL.md", "skill://x//forms/SKILL.md", "skill://x%2fforms/SKILL.md"),
        *("skill://x\u202e/forms/SKILL.md", f"skill://{'x' * 2_100}/forms/SKILL.md", "SKILL.md"),
    ],
)
def test_a_uri_that_is_not_that_of_a_skill_md_is_declined(uri: str):
    assert entry(uri=uri).declined.startswith("Its URI")


@pytest.mark.parametrize(
    "uri", ["file:///home/me/forms/SKILL.md", "github://o/r/forms/SKILL.md", "repo:x/forms/SKILL.md"]
)
def test_no_scheme_is_privileged(uri: str):
    found = entry_of("docs", raw_entry(uri, {uri: "x"}))
    assert found.declined == "" and found.path.endswith("forms")


def test_a_description_beyond_the_limit_is_declined():
    assert "1,024" in entry(frontmatter={"name": "forms", "description": "x" * 1_025}).declined


@each_case("resources", [None, "static", {}, 1, True])
def test_an_entry_without_a_list_of_files_is_declined(resources: object):
    assert entry(resources=resources).declined == "Its entry has no list of files."


OTHER = listed(REFERENCE, "x")


@each_case(
    ("changed", "said"),
    [
        ({"uri": "skill://other/x"}, "outside of its folder"),
        ({"uri": "skill://formsx/x"}, "outside of its folder"),
        ({"uri": "skill://forms"}, "outside of its folder"),
        ({"uri": "skill://forms/../x"}, "contains . or .."),
        ({"uri": "skill://forms/%2e%2e/x"}, "contains . or .."),
        ({"uri": "skill://forms/a%5c..%5cb"}, "encoded slash"),
        ({"uri": FORMS}, "a file twice"),
        ({"uri": "skill://forms/%53KILL.md"}, "a file twice"),
        ({"uri": None}, "without a URI"),
        ({"digest": "sha256:" + "A" * 64}, "no valid SHA-256"),
        ({"digest": "sha1:" + "0" * 40}, "no valid SHA-256"),
        ({"digest": None}, "no valid SHA-256"),
        ({"size": -1}, "no valid size"),
        ({"size": 1.5}, "no valid size"),
        ({"size": True}, "no valid size"),
        ({"size": "1"}, "no valid size"),
        ({"size": None}, "no valid size"),
    ],
)
def test_an_invalid_manifest_is_declined(changed: dict[str, Any], said: str):
    assert said in entry(resources=[listed(FORMS, "x"), OTHER | changed]).declined


def test_a_manifest_without_the_skill_md_is_declined():
    assert "does not contain its SKILL.md" in entry(resources=[OTHER]).declined
    spelled_otherwise = listed("skill://forms/%53KILL.md", "x")
    assert "does not contain its SKILL.md" in entry(resources=[OTHER, spelled_otherwise]).declined


@pytest.mark.parametrize(("files", "declined"), [(MAX_FILES, False), (MAX_FILES + 1, True)])
def test_the_limit_of_files_is_512(files: int, declined: bool):
    more = [listed(f"skill://forms/{number}", "x") for number in range(files - 1)]
    assert bool(entry(resources=[listed(FORMS, "x"), *more]).declined) is declined


@pytest.mark.parametrize(("size", "declined"), [(MAX_BYTES - 1, False), (MAX_BYTES, True)])
def test_the_limit_of_bytes_is_16_mib(size: int, declined: bool):
    found = entry(resources=[listed(FORMS, "x"), OTHER | {"size": size}])
    assert bool(found.declined) is declined and ("16,777,217 bytes" in found.declined) is declined


def test_a_dynamic_skill_has_no_manifest():
    found = entry(resources="dynamic")
    assert found.is_dynamic and found.files is None and found.declined == "" and found.size == 0


def test_the_skill_md_of_others_inside_the_folder_are_nested():
    inner = listed("skill://forms/a/b/SKILL.md", "x")
    assert entry(resources=[listed(FORMS, "x"), inner]).nested == ("a/b/SKILL.md",)


def test_names_do_not_identify_a_skill():
    assert entry() == entry() and entry_of("other", raw_entry()) != entry()


@given(JSON | st.fixed_dictionaries({"uri": st.text(), "frontmatter": JSON, "resources": JSON | FILES}))
def test_any_entry_is_taken_dropped_or_declined(raw: object):
    try:
        found = entry_of("docs", raw)
    except ValueError as error:
        assert str(error).endswith(".")
    else:
        assert found.files is None or found.declined or "SKILL.md" in found.by_path


@given(st.lists(JSON) | FILES)
def test_every_file_of_a_manifest_that_is_accepted_is_in_the_folder(files: list[Any]):
    found = entry(resources=[listed(FORMS, "x"), *files])
    if not found.declined:
        assert all(
            isinstance(one, SkillFile) and one.uri.startswith("skill://forms/") for one in found.files or ()
        )
