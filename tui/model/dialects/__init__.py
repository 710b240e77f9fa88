"""Dialects: how models without function calling write tool calls.

A dialect is a prompt and a parser. `ToolCalls`, a ChatModel around another one, puts the tools into the
system text, rewrites calls and results in the history as text, and lets the dialect parse the calls in the
text of the inner model. The loop sees a model with function calling.

Parsers are pure: text in, pieces out, however the text was split (`dialect_parser.py`). The prompts are text
files in the same folder.
"""

from tui.core.errors import ConfigError
from tui.core.ports import ChatModel, Clock
from tui.core.text import quoted_name
from tui.model.dialects.text_tools import DIALECTS, ToolCalls

PROTOCOLS = ("auto", "native", *DIALECTS)
"""The values of `tool_protocol`."""


FALLBACK = DIALECTS["xml"]
"""The dialect for a model whose endpoint says that it has no function calling."""


def wrap(
    model: ChatModel,
    protocol: str,
    clock: Clock | None = None,
    *,
    where: str = "",
    no_tools: bool = False,
) -> ChatModel:
    """Return a model that accepts and makes native calls, whatever `model` supports.

    `protocol` is the profile's `tool_protocol`, `where` its name for error messages. With a `clock`,
    transient failures are retried. `no_tools`: its endpoint is known to say that it has no function calling.
    Raises ConfigError if there is no such protocol.
    """
    if protocol == "auto":
        return ToolCalls(model, FALLBACK if no_tools else None, FALLBACK, clock)
    if protocol in PROTOCOLS:
        return ToolCalls(model, DIALECTS.get(protocol), clock=clock)
    names = ", ".join(map(quoted_name, PROTOCOLS[:-1]))
    raise ConfigError(
        f"tool_protocol {quoted_name(protocol, 40)} is not known",
        where=where,
        next_step=f"Use {names} or {quoted_name(PROTOCOLS[-1])}.",
    )
