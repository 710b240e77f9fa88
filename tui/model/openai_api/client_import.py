"""Loads the client of openai without the types of its API. The only module that imports openai.

`import openai` loads over 500 modules of pydantic models and typed dictionaries, half of its time and 12 MB
(measured). The client uses them as types of arguments and results, which mcptui neither passes nor decodes.
It gets empty classes with these names instead (seen with openai 3.57). The same applies to the clients for
clouds with their own API, which no profile uses.
"""

from types import ModuleType

from tui.core.library_imports import import_without

LEFT_OUT = (
    "openai.types",
    "openai.lib.streaming",
    "openai.lib.azure",
    "openai.lib.bedrock",
    "openai.lib._bedrock_auth",
    "openai.providers",
)


def load_openai() -> ModuleType:
    """Import openai and its modules for chat requests, unless they are imported already. Thread-safe."""
    import_without("openai", ["openai", "openai.resources.chat.completions.completions"], LEFT_OUT)
    import openai

    loaded: ModuleType = openai
    return loaded
