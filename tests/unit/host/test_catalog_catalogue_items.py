"""Checking the resources and prompts that servers list."""

import pytest

from tui.core.hidden_text.scan import HiddenText, Sign
from tui.core.workbench import PromptArgument, PromptInfo, ResourceInfo
from tui.host.catalog import MAX_ARGUMENTS, MAX_URI, prompt_infos, resource_infos


def test_the_texts_of_a_resource_are_kept_unchanged():
    raw = {"uri": "a://b", "name": "n\x1b[2J", "title": "t", "mimeType": "text/plain", "size": 3}
    found, fault = resource_infos("s", [raw], template=False)
    escapes = HiddenText(Sign.ESCAPES, "name", "n␛[2J")
    assert found == [ResourceInfo("s", "a://b", "n\x1b[2J", "t", "", "text/plain", 3, hidden=(escapes,))]
    assert fault == ""


def test_a_template_is_recognized_by_its_uri_template():
    found, fault = resource_infos("s", [{"uriTemplate": "a://{b}"}, {"uri": "a://b"}], template=True)
    assert found == [ResourceInfo("s", "a://{b}", template=True)]
    assert fault == "1 of 2 templates are malformed and were omitted."


@pytest.mark.parametrize(
    "raw", [None, [], "a://b", {}, {"uri": ""}, {"uri": 7}, {"uri": "x" * (MAX_URI + 1)}]
)
def test_one_malformed_resource_does_not_affect_the_others(raw):
    found, fault = resource_infos("s", [raw, {"uri": "a://b"}], template=False)
    assert [one.uri for one in found] == ["a://b"]
    assert fault == "1 of 2 resources are malformed and were omitted."


@pytest.mark.parametrize("size", [True, -1, 1.5, "3", None])
def test_an_invalid_size_is_dropped(size):
    found, _ = resource_infos("s", [{"uri": "a://b", "size": size}], template=False)
    assert found[0].size is None


def test_only_named_prompt_arguments_count_and_only_true_means_required():
    listed = [{"name": "a", "required": True}, {"name": "b", "required": "yes"}, {"name": 3}, "c"]
    found, fault = prompt_infos("s", [{"name": "p", "arguments": listed}, {"arguments": []}])
    assert found == [PromptInfo("s", "p", arguments=(PromptArgument("a", "", True), PromptArgument("b")))]
    assert fault == "1 of 2 prompts are malformed and were omitted."


def test_too_many_prompt_arguments_are_truncated():
    listed = [{"name": str(number)} for number in range(MAX_ARGUMENTS + 5)]
    found, _ = prompt_infos("s", [{"name": "p", "arguments": listed}])
    assert len(found[0].arguments) == MAX_ARGUMENTS
