"""What a server returned for a file, compared with its manifest."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.addons.skills.site import SKILL_MD, content, digest, raw_entry
from tui.addons.skills.entry import SkillFile, entry_of
from tui.addons.skills.verify import SkillContent, mismatch, received, skill_text


def answer(**fields: Any) -> dict[str, Any]:
    return {"contents": [fields]}


@given(st.binary(max_size=200))
def test_a_blob_is_its_decoded_bytes(data: bytes):
    assert received({"contents": [content("x", data)]}, "x", 1_000).data == data


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_a_text_is_its_utf_8_unchanged(text: str):
    found = received({"contents": [content("x", text)]}, "x", 10_000)
    assert found.data == text.encode() and found.text == text


@given(st.binary(max_size=100), st.binary(max_size=100))
def test_only_the_bytes_of_the_manifest_match(data: bytes, other: bytes):
    file = SkillFile("x", digest(data), len(data))
    assert mismatch(data, file) == "" and bool(mismatch(other, file)) is (other != data)


def test_the_size_is_compared_before_the_digest():
    assert mismatch(b"ab", SkillFile("x", digest(b"ab"), 3)).startswith("it has 2 bytes")


@pytest.mark.parametrize(
    "given", [{"text": "abcd"}, {"blob": base64.b64encode(b"abcd").decode()}], ids=["text", "blob"]
)
def test_more_bytes_than_allowed_are_refused(given: dict[str, str]):
    assert len(received(answer(**given), "x", 4).data) == 4
    with pytest.raises(ValueError, match="4 bytes, and 3 are allowed"):
        received(answer(**given), "x", 3)


@each_case("result", [None, [], {}, {"contents": {}}, {"contents": [1]}, answer(text=1), answer(blob="%")])
def test_what_is_no_file_is_refused_without_its_content(result: Any):
    with pytest.raises(ValueError, match="the server returned"):
        received(result, "x", 10)


def test_a_skill_md_that_is_not_text_is_refused():
    with pytest.raises(ValueError, match="not UTF-8"):
        skill_text(SkillContent("SKILL.md", b"---\nname: \xff\n---\n"), entry_of("docs", raw_entry()))


def test_many_differing_fields_are_counted():
    entry = entry_of("docs", raw_entry(**{f"x-{number}": number for number in range(9)}))
    with pytest.raises(ValueError, match="in 9 other fields"):
        skill_text(SkillContent("SKILL.md", SKILL_MD.encode()), entry)


def test_a_hostile_field_name_is_cleaned():
    entry = entry_of("docs", raw_entry(**{"\x1b[2J\u202e": 1}))
    with pytest.raises(ValueError, match="differs") as raised:
        skill_text(SkillContent("SKILL.md", SKILL_MD.encode()), entry)
    assert str(raised.value).isprintable()
