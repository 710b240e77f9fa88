"""How a model is wrapped for a `tool_protocol`."""

import pytest

from tests.scripted_model import ScriptedModel
from tui.core.errors import ConfigError
from tui.model.dialects import PROTOCOLS, wrap


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_wrapped_model_keeps_its_label_and_its_notice(protocol: str) -> None:
    model = wrap(ScriptedModel([], label="m", notice="offline"), protocol)
    assert (model.label, model.notice) == ("m", "offline")


def test_an_unknown_protocol_is_rejected_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"mine: tool_protocol “yaml” is not known.+“auto”, .+ or “react”"):
        wrap(ScriptedModel([]), "yaml", where="mine")
