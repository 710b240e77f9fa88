"""Tools are sent as the endpoint accepts them; calls are restored as their servers expect them."""

import json
from typing import Any

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import ModelRequest, ToolSpec
from tui.core.schemas.schema_forms import SchemaForm
from tui.model.endpoints.learned_quirks import Learned
from tui.model.endpoints.provider_traits import Traits
from tui.model.openai_api.request import ToolForms, key_of

ODD = {"type": "object", "properties": {"$top": {"const": 1}}}


def parameters(forms: ToolForms, tool: ToolSpec, traits: Traits, learned: Learned | None = None) -> Any:
    return forms.entries([tool], traits, learned or Learned())[0]["function"]["parameters"]


def test_a_description_is_truncated_to_the_limit_of_the_endpoint() -> None:
    (entry,) = ToolForms().entries([ToolSpec("a", "x" * 5000, {})], Traits(), Learned())
    assert len(entry["function"]["description"]) == 1024


def test_a_schema_is_sent_in_the_form_that_the_endpoint_requires() -> None:
    tool = ToolSpec("a", "", ODD)
    assert parameters(ToolForms(), tool, Traits()) == ODD
    kimi = parameters(ToolForms(), tool, Traits(schema=SchemaForm.KIMI))
    assert kimi["properties"]["$top"] == {"type": "integer", "enum": [1]}


def test_only_a_rejected_tool_is_sent_in_the_strictest_form() -> None:
    forms, odd, other = ToolForms(), ToolSpec("a", "", ODD), ToolSpec("b", "", ODD)
    learned = Learned(strict_tools={key_of(odd)})
    strict, plain = forms.entries([odd, other], Traits(), learned)
    assert list(strict["function"]["parameters"]["properties"]) == ["_top"]
    assert plain["function"]["parameters"] == ODD


def test_a_call_with_changed_argument_names_gets_the_original_ones_back() -> None:
    forms, tool = ToolForms(), ToolSpec("a", "", ODD)
    parameters(forms, tool, Traits(plain_keys=True))
    back = forms.renamed(CallRequest("1", "a", '{"_top": 1}'), back=True)
    assert json.loads(back.arguments) == {"$top": 1}
    assert json.loads(forms.renamed(back, back=False).arguments) == {"_top": 1}


def test_a_truncated_or_invalid_call_is_unchanged() -> None:
    forms = ToolForms()
    parameters(forms, ToolSpec("a", "", ODD), Traits(plain_keys=True))
    broken = ["{oops", '{"_top": 1e999}']
    for call in (
        CallRequest("1", "a", '{"_to', truncated=True),
        *(CallRequest("1", "a", text) for text in broken),
    ):
        assert forms.renamed(call, back=True) is call


def test_a_rejected_tool_is_offered_again_once_its_server_changes_it() -> None:
    before, after = ToolSpec("a", "", ODD), ToolSpec("a", "", {"type": "object"})
    learned = Learned(left_out={key_of(before)})
    assert ToolForms().offered(ModelRequest("", (), [before]), Traits(), learned) == []
    assert ToolForms().offered(ModelRequest("", (), [after]), Traits(), learned) == [after]


def test_a_tool_is_converted_once_and_again_when_it_changes() -> None:
    forms, tool = ToolForms(), ToolSpec("a", "", ODD)
    first = forms.entries([tool], Traits(), Learned())[0]
    assert forms.entries([tool], Traits(), Learned())[0] is first
    assert forms.entries([ToolSpec("a", "new", ODD)], Traits(), Learned())[0] is not first


def test_omitted_tools_are_named_in_a_bounded_sentence() -> None:
    tools = [ToolSpec(f"t{number}", "", {}) for number in range(7)]
    assert ToolForms().left_out(tools, Learned()) == ""
    said = ToolForms().left_out(tools, Learned(left_out={key_of(tool) for tool in tools}))
    assert said == "The endpoint rejects the schema of t0, t1, t2, t3, t4 and 2 more. Not offered."


def test_of_too_many_tools_the_best_ranked_are_sent_in_their_usual_order():
    tools = [ToolSpec(f"t{number}", "", {}) for number in range(40)]
    request = ModelRequest("", (), tools, best=("t39", "t20", "t3"))
    sent = ToolForms().offered(request, Traits(max_tools=4), Learned())
    assert [tool.name for tool in sent] == ["t0", "t3", "t20", "t39"]
