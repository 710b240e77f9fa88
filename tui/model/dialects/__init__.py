"""How models without function calling write a tool call.

A dialect is a wrapper: a ChatModel around another ChatModel. It puts the tools into the system text,
rewrites calls and results in the history as text, and turns what the inner model writes back into
calls. The loop never knows: to it every model has function calling.

So far there is none: "auto" and "native" both leave a model as it is.
"""

from tui.core.errors import ConfigError
from tui.core.ports import ChatModel

PROTOCOLS = ("auto", "native")
"""The values of `tool_protocol` that work."""


def wrap(model: ChatModel, protocol: str, *, where: str = "") -> ChatModel:
    """Return a model that takes and makes calls in the native form, whatever `model` speaks.

    Args:
        model: the model.
        protocol: the profile's `tool_protocol`.
        where: the profile's name, for the message.

    Raises:
        ConfigError: there is no such protocol.
    """
    if protocol in PROTOCOLS:
        return model
    known = " or ".join(map(repr, PROTOCOLS))
    raise ConfigError(
        f"tool_protocol {protocol[:40]!r} is not known",
        where=where,
        next_step=f"Use {known}; models without function calling are not supported yet.",
    )
