"""The seam at which models without function calling will be wrapped."""

import pytest

from tui.core.errors import ConfigError
from tui.model.dialects import wrap
from tui.model.scripted import ScriptedModel


@pytest.mark.parametrize("protocol", ["auto", "native"])
def test_a_model_with_function_calling_is_left_as_it_is(protocol: str) -> None:
    model = ScriptedModel([])
    assert wrap(model, protocol) is model


def test_a_protocol_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(ConfigError, match=r"mine: tool_protocol 'xml' is not known.+'auto' or 'native'"):
        wrap(ScriptedModel([]), "xml", where="mine")
