"""What the model is offered."""

from tui.core.offer import MAX_TOOLS, Offer
from tui.core.tools import Tool


def test_tools_are_offered_under_their_qualified_names():
    offer = Offer([Tool("weather", "get", description="Say the weather.", digest="1")])
    assert [(spec.name, spec.server, spec.tool) for spec in offer.specs] == [
        ("weather__get", "weather", "get")
    ]
    assert offer.notice == ""


def test_more_tools_than_a_model_takes_are_left_out_with_a_notice():
    offer = Offer([Tool("many", f"t{n}", digest=str(n)) for n in range(200)])
    assert len(offer) == MAX_TOOLS and "72 tools were not offered" in offer.notice


def test_one_schema_that_is_too_large_costs_only_its_own_tool():
    defs = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 4} for n in range(20)}
    bad = Tool("s", "bad", schema={"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs}, digest="b")
    offer = Offer([bad, Tool("s", "good", digest="g")])
    assert [spec.tool for spec in offer.specs] == ["good"] and "schemas are too large" in offer.notice


def test_the_same_tools_are_the_same_offer():
    offer = Offer([Tool("s", "a", digest="1")])
    assert offer.renewed([Tool("s", "a", digest="1")]) is offer
    assert offer.renewed([Tool("s", "a", digest="2")]) is not offer


def test_hostile_descriptions_are_cleaned_and_bounded():
    spec = Offer([Tool("s", "a", description="x\x1b[2J" + "y" * 100_000, digest="1")]).specs[0]
    assert "\x1b" not in spec.description and len(spec.description) <= 1024
