"""A server's answer to the handshake, brought into the shape that the SDK takes. Pure.

The SDK refuses a server for any odd field of it (measured on mcp 2.3: no `serverInfo`, `capabilities`
null, icons that are no list). None of that keeps a tool from being called, so what can be read is kept and
the rest is left out. The protocol version alone must be right.
"""

from collections.abc import Mapping
from typing import Any

_OFFERS = ("tools", "resources", "prompts", "completions", "logging")
_SWITCHES = ("listChanged", "subscribe")
_INFO_KEY = "io.modelcontextprotocol/serverInfo"
_NAME_CHARS = 200


def tidy_handshake(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of `initialize` or `server/discover` without what is malformed in it."""
    tidy = dict(answer)
    tidy["capabilities"] = _offers(answer.get("capabilities"))
    if "protocolVersion" in answer:  # the older handshake: there it is a field, and must be there
        tidy["serverInfo"] = _info(answer.get("serverInfo"))
    if "_meta" in tidy:
        said = _entry(answer["_meta"], _INFO_KEY)
        tidy["_meta"] = {} if said is None else {_INFO_KEY: _info(said)}
    if not isinstance(answer.get("instructions", ""), str):
        del tidy["instructions"]
    return tidy


def _offers(said: Any) -> dict[str, Any]:
    if not isinstance(said, dict):
        return {"tools": {}}  # it does not say: asking for tools costs nothing
    return {
        name: {key: flag for key in _SWITCHES if isinstance(flag := _entry(said[name], key), bool)}
        for name in _OFFERS
        if said.get(name) not in (None, False)
    }


def _info(said: Any) -> dict[str, str]:
    read = {key: _entry(said, key) for key in ("name", "title", "version")}
    return {"name": "", "version": ""} | {
        key: value[:_NAME_CHARS] for key, value in read.items() if isinstance(value, str)
    }


def _entry(holder: Any, key: str) -> Any:
    return holder.get(key) if isinstance(holder, dict) else None
