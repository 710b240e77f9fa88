"""Arguments of commands, and the placeholders of snippets."""

from hypothesis import given as drawn
from hypothesis import strategies as st

from tests.cases import each_case
from tui.ui.keys.slash_commands import filled, names_in, pair, parse_arguments

CITY_AND_DAYS = ("city", "days")


@each_case(
    ("rest", "values"),
    [
        ("", {}),
        ("city=Beijing", {"city": "Beijing"}),
        ("days=3 city=Beijing", {"city": "Beijing", "days": "3"}),
        ('city="New York" days=3', {"city": "New York", "days": "3"}),
        ("city='New York'", {"city": "New York"}),
        (r'city="a \"b\" \\ c"', {"city": r'a "b" \ c'}),
        ("Beijing 3", {"city": "Beijing", "days": "3"}),
        ("Beijing three days or so", {"city": "Beijing", "days": "three days or so"}),
        ("days=3 New York", {"city": "New York", "days": "3"}),
        ('"New York" 3', {"city": "New York", "days": "3"}),
        ("city=a=b", {"city": "a=b"}),
        ("city=", {"city": ""}),
        ("country=China", {"city": "country=China"}),
        ('city="unclosed days=3', {"city": '"unclosed', "days": "3"}),
    ],
)
def test_values_are_assigned_by_name_and_the_rest_in_order(rest: str, values: dict[str, str]):
    assert parse_arguments(rest, CITY_AND_DAYS).values == values


def test_a_single_argument_takes_the_whole_text():
    assert parse_arguments("what is this, and why?", ("question",)).values == {
        "question": "what is this, and why?"
    }
    assert parse_arguments("a\nb", ("question",)).values == {"question": "a\nb"}


def test_a_required_argument_without_a_value_is_missing():
    assert parse_arguments("days=3 city=", CITY_AND_DAYS, CITY_AND_DAYS).missing == ("city",)


def test_surplus_text_is_reported():
    assert parse_arguments("city=x days=3 and more", CITY_AND_DAYS).unknown == "and more"
    assert parse_arguments("more", ()).unknown == "more"


@drawn(st.text(max_size=60))
def test_a_formatted_pair_is_parsed_back_to_its_value(value: str):
    assert parse_arguments(pair("city", value), CITY_AND_DAYS).values == {"city": value}


@drawn(st.text(max_size=200), st.lists(st.sampled_from(["a", "b", "c"]), unique=True))
def test_any_text_is_parsed_without_an_error(rest: str, names: list[str]):
    assert set(parse_arguments(rest, names).values) <= set(names)


def test_placeholders_are_listed_in_order_and_once():
    assert names_in("{b} and {a} and {b}") == ("b", "a")


@each_case("text", ['{"a": 1}', "{}", "{ x }", "{1}", "{{x}}", "{a b}"])
def test_braces_without_a_name_are_not_placeholders(text: str):
    assert names_in(text) == ()


def test_only_placeholders_are_replaced():
    text = 'Say {what} as {"json": {{what}}} to {whom}'
    assert filled(text, {"what": "{whom}"}) == 'Say {whom} as {"json": {what}} to {whom}'
