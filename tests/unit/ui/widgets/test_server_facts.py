"""The details of a server."""

from tui.core.context.context_parts import DefinitionTokens
from tui.ui.widgets.server_facts import token_facts


def test_details_show_the_tokens_of_instructions_and_whether_they_are_measured():
    estimated = DefinitionTokens({"get": 1_100}, instructions=140)
    assert token_facts(estimated) == "~1.2 k in each request, ~140 of them instructions"
    assert token_facts(DefinitionTokens({"get": 90}, measured=True)) == "90 in each request"
    partly = DefinitionTokens({"get": 20_000}, left_out=12_000)
    assert token_facts(partly) == "~8.0 k in each request, ~12 k more in tools that are not loaded"
