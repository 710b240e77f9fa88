"""The completions offered while a filter is typed."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.traffic.small_traffic import Traffic
from tui.traffic.filter.fields import FIELDS
from tui.traffic.filter.query import MOST_COMPLETIONS, FilterCompletion, complete, parse, seen_names

SEEN = {
    "server": ["weather", "web", "notes", "my server"],
    "method": ["tools/call", "tools/list"],
    "tool": ["get_weather", 'say "hi"', "bad\x1b[31mname"],
}


def offers(text: str) -> list[str]:
    """Return the texts after each completion is selected, with the cursor at `|`."""
    cursor = text.index("|")
    text = text.replace("|", "")
    taken = [offer.applied(text) for offer in complete(text, cursor, SEEN)]
    return [after[:place] + "|" + after[place:] for after, place in taken]


def test_all_fields_are_offered_for_an_empty_filter():
    assert offers("|") == [f"{name}:|" for name in FIELDS]
    assert offers("server:web |")[0] == "server:web server:|"


@each_case(
    ("typed", "first"),
    [
        ("la|", "latency:|"),
        ("LA|", "latency:|"),
        ("outc|", "status:|"),
        ("not ser|", "not server:|"),
        ("-ki|", "-kind:|"),
        ("(tur|", "(turn:|"),
        ("server:web la| size:>1k", "server:web latency:| size:>1k"),
        ("se|rver:web", "server:|web"),
        ("oo|", "tool:|"),
    ],
)
def test_a_field_is_offered_by_its_prefix(typed: str, first: str):
    assert offers(typed)[0] == first


@each_case(
    ("typed", "texts"),
    [
        ("server:we|", ["server:weather|", "server:web|"]),
        ("server:|", ["server:weather|", "server:web|", "server:notes|", 'server:"my server"|']),
        ("server:notes,we|", ["server:notes,weather|", "server:notes,web|"]),
        ("server:we|,notes", ["server:weather|,notes", "server:web|,notes"]),
        ('server:"my|', ['server:"my server"|']),
        ("source:web|", ["source:web|"]),
        ("tool:say|", ['tool:"say \\"hi\\""|']),
        ("tool:weat|", ["tool:get_weather|"]),
        ("kind:not|", ["kind:notification|", "kind:not_rpc|", "kind:not_json|"]),
        ("kind:not-j|", ["kind:not_json|"]),
        ("status:tool|", ["status:tool_error|"]),
        ("marked:|", ["marked:yes|", "marked:no|"]),
        ("latency:>1s|", ["latency:>1s|"]),
        ("since:1|", ["since:1m|", "since:1h|", "since:1d|"]),
        ("sever:a|", []),
        ("turn:|", []),
        ('"free te|', []),
        ("/reg|", []),
    ],
)
def test_the_values_of_a_field_are_offered(typed: str, texts: list[str]):
    assert offers(typed) == texts


def test_a_bare_word_completes_to_names_that_contain_it():
    assert offers("weath|") == ["server:weather|", "tool:get_weather|"]


def test_a_name_with_control_characters_is_not_offered():
    assert offers("tool:bad|") == []


def test_completions_have_a_description_and_a_maximum_number():
    assert complete("kind:not_r", 10, {}) == [FilterCompletion(5, 10, "not_rpc", "not JSON-RPC")]
    assert len(complete("tool:", 5, {"tool": [f"t{number}" for number in range(1000)]})) == MOST_COMPLETIONS
    twice = [f"{letter}_tt{number}" for letter in "ta" for number in range(40)]
    assert len(complete("tool:t", 6, {"tool": twice})) == MOST_COMPLETIONS


def test_the_names_in_a_recording_are_offered():
    traffic = Traffic()
    traffic.call("get")
    assert seen_names(traffic.columns) == {"server": ["weather"], "method": ["tools/call"], "tool": ["get"]}


@given(st.text(st.sampled_from('serv:"w,()/- \\ano'), max_size=20), st.data())
def test_completion_never_raises_and_keeps_a_valid_filter_valid(text: str, data: st.DataObject):
    cursor = data.draw(st.integers(0, len(text)))
    for offer in complete(text, cursor, SEEN):
        assert 0 <= offer.start <= offer.end <= len(text)
        after, place = offer.applied(text)
        if parse(text).is_sound and offer.text[-1] != ":" and place == len(after):
            assert parse(after).is_sound
