"""Lines about skills for the shell."""

from tests.unit.addons.skills.site import FORMS, REFERENCE, listed, raw_entry
from tui.addons.skills.entry import entry_of
from tui.addons.skills.output import as_object, compared_lines, compared_object, head_lines, listing_lines
from tui.addons.skills.problem import SkillProblem, Why
from tui.addons.skills.server_skills import SkillListing
from tui.core.workbench import CacheHint

NESTED = "skill://forms/inner/SKILL.md"


def listing_of(*raw: object) -> SkillListing:
    return SkillListing("docs", tuple(entry_of("docs", one) for one in raw), (), CacheHint(None, "", 0))


def test_each_skill_has_its_label_its_size_and_its_description():
    other = raw_entry("skill://acme/forms/SKILL.md", {"skill://acme/forms/SKILL.md": "x"})
    lines = listing_lines(listing_of(raw_entry(), other))
    assert lines[::2] == ["forms  2 files, 92 B", "acme/forms  1 file, 1 B"]
    assert lines[1].strip() == "Fill forms"


def test_why_a_skill_is_declined_and_what_it_contains_is_said():
    declined = raw_entry() | {"resources": []}
    assert listing_lines(listing_of(declined))[0] == "forms"
    assert head_lines(entry_of("docs", declined))[-1] == "files: no valid manifest"
    nested = raw_entry(FORMS, {FORMS: "x", NESTED: "y"})
    assert "cannot be loaded: Its manifest does not contain" in listing_lines(listing_of(declined))[2]
    assert listing_lines(listing_of(nested))[2].strip() == "contains 1 other skill"


def test_what_a_server_wrote_is_cleaned():
    hostile = raw_entry(description="a\x1b[2Jb\nc\u202e", **{"x\x1b": "\x1b]0;t\x07"})
    hostile["resources"].append(listed("skill://forms/%1b", "x"))
    entry = entry_of("docs", hostile)
    for line in (*listing_lines(listing_of(hostile)), *head_lines(entry)):
        assert line.isprintable(), line


def test_fields_that_ask_for_permissions_are_marked_as_ignored():
    lines = head_lines(entry_of("docs", raw_entry(**{"allowed-tools": "Bash", "license": "MIT"})))
    assert [line.endswith("(ignored)") for line in lines if "tools" in line or "license" in line] == [
        True,
        False,
    ]


def test_files_are_compared_with_words_that_promise_nothing():
    problem = SkillProblem(Why.MISMATCH, "It differs.")
    late = SkillProblem(Why.LATE, "No answer.")
    lines = compared_lines([("SKILL.md", 10, None), (REFERENCE, 5, problem), ("x", 1, late)])
    assert [line.split()[0] for line in lines] == ["matches", "differs", "It", "not", "No", "1"]
    assert lines[-1] == "1 of 3 files matches the server's manifest"
    assert not any(word in " ".join(lines) for word in ("verified", "safe", "trusted"))


def test_the_result_of_each_file_is_in_the_json():
    entry = entry_of("docs", raw_entry())
    problem = SkillProblem(Why.MISMATCH, "It differs.")
    found = compared_object(entry, [("SKILL.md", 10, None), ("x", 5, problem)], "")
    assert found["matches"] is False and found["files"] == [
        {"path": "SKILL.md", "size": 10, "result": "matches"},
        {"path": "x", "size": 5, "result": "differs", "problem": "It differs."},
    ]
    assert compared_object(entry, [], "dynamic")["matches"] is False


def test_an_entry_is_json_in_the_words_of_the_extension():
    raw = raw_entry()
    assert as_object(entry_of("docs", raw)) == raw
    dynamic = entry_of("docs", raw | {"resources": "dynamic"})
    assert as_object(dynamic)["resources"] == "dynamic"
    assert "declined" in as_object(entry_of("docs", raw | {"resources": None}))
