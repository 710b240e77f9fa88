"""The answer of a turn as JSON that matches a schema: instructions for the model, and parsing. Pure."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tui.core.jsonrpc.reader import loads

_FENCE = re.compile(r"(?:```|~~~)\w*[ \t]*\r?\n(.*?)(?:```|~~~)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """A JSON Schema for the answer. `check` returns why a value does not match it, or ""."""

    schema: Mapping[str, Any]
    check: Callable[[Any], Awaitable[str]]

    @property
    def instruction(self) -> str:
        """The instruction for the system text, for endpoints that accept no schema."""
        schema = json.dumps(self.schema, ensure_ascii=False, separators=(",", ":"))
        return (
            "Give your final answer as one JSON value that matches this JSON Schema, without any other text "
            f"and without a code fence:\n{schema}"
        )

    async def problem(self, text: str) -> str:
        """Return the problem of an answer, or ""."""
        try:
            value = answer_value(text)
        except ValueError as error:
            return str(error)
        return await self.check(value)

    @staticmethod
    def correction(problem: str) -> str:
        """Return the message to the model about an answer that does not match."""
        return (
            f"Your answer does not match the JSON Schema: {problem}. "
            "Answer again with the corrected JSON value only."
        )


def answer_value(text: str) -> Any:
    """Return the JSON value of an answer, even in a code fence or after a sentence.

    Raises ValueError if there is none.
    """
    fenced = _FENCE.search(text)
    begins = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    for candidate in (text, fenced[1] if fenced else "", text[begins:] if begins >= 0 else ""):
        if candidate.strip():
            try:
                return loads(candidate.strip().lstrip("\ufeff"))
            except (ValueError, RecursionError):
                continue
    if begins >= 0:
        try:
            return json.JSONDecoder(parse_constant=_refuse).raw_decode(text, begins)[0]
        except (ValueError, RecursionError):
            pass
    raise ValueError("not JSON")


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
