"""How a model is wrapped for a `tool_protocol`."""

import pytest

from tests.scripted_model import ScriptedModel
from tui.core.errors import ConfigError
from tui.model.dialects import PROTOCOLS, wrap


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_wrapped_model_keeps_its_label_and_its_notice(protocol: str) -> None:
    model = wrap(ScriptedModel([], label="m", notice="offline"), protocol)
    assert (model.label, model.notice) == ("m", "offline")


def test_a_protocol_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(ConfigError, match=r"mine: tool_protocol 'yaml' is not known.+'auto', .+ or 'react'"):
        wrap(ScriptedModel([]), "yaml", where="mine")
