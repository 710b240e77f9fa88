"""References between the files of a skill."""

from urllib.parse import unquote

from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.skills.uris import fully_decoded, path_below, path_of, resolved, uri_fault, uri_of

FOLDER = "skill://acme/forms"


@each_case(
    ("reference", "path"),
    [
        ("references/GUIDE.md", "references/GUIDE.md"),
        ("./references/GUIDE.md", "references/GUIDE.md"),
        ("references/GUIDE.md#part", "references/GUIDE.md"),
        ("my%20file.md", "my file.md"),
        ("my file.md", "my file.md"),
        (f"{FOLDER}/a.md", "a.md"),
        ("..a/b", "..a/b"),
    ],
)
def test_a_reference_is_relative_to_the_folder(reference: str, path: str):
    assert resolved(FOLDER, reference) == path


@given(st.text() | st.text("./%2eEfF5cC\\:#?ax", max_size=12))
@example("%252e%252e/x")
@example("..%5cx")
def test_a_resolved_reference_never_leaves_the_folder(reference: str):
    try:
        path = resolved(FOLDER, reference)
    except ValueError as error:
        assert str(error)
        return
    parts = fully_decoded(path).split("/")
    assert not {"", ".", ".."} & set(parts) and "\\" not in fully_decoded(path)
    assert path_below(FOLDER, uri_of(FOLDER, path)) == path


@given(st.text("./%2eEfF5cC\\:#?ax", max_size=20).map(lambda end: f"{FOLDER}/{end}"))
def test_a_uri_without_fault_stays_in_its_folder(uri: str):
    if not uri_fault(uri):
        parts = unquote(path_of(uri)).split("/")
        assert not {"", ".", ".."} & set(parts) and parts[:2] == ["acme", "forms"]


def test_a_file_of_another_folder_is_not_below():
    assert path_below(FOLDER, "skill://acme/forms2/a") == path_below(FOLDER, FOLDER) == ""
