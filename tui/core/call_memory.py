"""What is remembered of calls made by hand: the last values of each tool, and calls with names. Pure.

Nothing that looks like a secret is remembered: neither what stands under a name like that of a secret, nor
a text with a known or configured secret in it.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from tui.core.forms.spec import MISSING, Path
from tui.core.secrets.secret_names import names_a_secret
from tui.core.secrets.secret_shapes import shapes_in

LONGEST_NAME = 32
MAX_LAST = 300
"""Tools, resources and prompts whose last values are kept; the one not used for longest goes first."""
MAX_SAVED = 500
MAX_ARGUMENTS = 64 * 1024
"""Characters of JSON that the arguments of one remembered call may have."""
MAX_DEPTH = 64

_NAME = re.compile(r"[^\W_][\w -]*")


class CallKind(StrEnum):
    """What was called."""

    TOOL = "tool"
    RESOURCE = "resource"
    PROMPT = "prompt"
    REQUEST = "request"


class CallKey(NamedTuple):
    """What can be called by hand: a tool, a resource or prompt, or a raw request by its method."""

    server: str
    kind: CallKind
    name: str


def _nothing() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CallMemory:
    """What is remembered; a value: each change returns another one.

    Attributes:
        last: the arguments of the last call, the newest last.
        saved: arguments by the name under which they were saved.
    """

    last: Mapping[CallKey, Any] = field(default_factory=_nothing)
    saved: Mapping[CallKey, Mapping[str, Any]] = field(default_factory=_nothing)

    def called(self, key: CallKey, arguments: Any) -> "CallMemory":
        """Return this with the last values of `key`, or unchanged if they are too large.

        Args:
            key: what was called.
            arguments: `without_secrets`.
        """
        if not _small(arguments):
            return self
        others = {known: value for known, value in self.last.items() if known != key}
        kept = dict(list(others.items())[-(MAX_LAST - 1) :])
        return CallMemory(MappingProxyType({**kept, key: arguments}), self.saved)

    def with_saved(self, key: CallKey, name: str, arguments: Any) -> "CallMemory":
        """Return this with one more call of that name, or with other arguments for it.

        Args:
            key: what is called.
            name: what the person calls it; one of each name for each key.
            arguments: `without_secrets`.

        Raises:
            ValueError: with a sentence, if it cannot be kept.
        """
        if complaint := name_complaint(name):
            raise ValueError(complaint)
        if not _small(arguments):
            raise ValueError(f"A saved call has at most {MAX_ARGUMENTS // 1024} KiB of arguments.")
        mine = self.saved.get(key, {})
        if name not in mine and sum(map(len, self.saved.values())) >= MAX_SAVED:
            raise ValueError(f"There are {MAX_SAVED} saved calls already; delete one first.")
        saved = {**self.saved, key: MappingProxyType({**mine, name: arguments})}
        return CallMemory(self.last, MappingProxyType(saved))

    def without_saved(self, key: CallKey, name: str) -> "CallMemory":
        """Return this without one saved call."""
        rest = {known: value for known, value in self.saved.get(key, {}).items() if known != name}
        saved = {known: value for known, value in self.saved.items() if known != key}
        if rest:
            saved[key] = MappingProxyType(rest)
        return CallMemory(self.last, MappingProxyType(saved))


def name_complaint(name: str) -> str:
    """Return why a name cannot be used for a saved call, or ""."""
    if not name:
        return "A saved call needs a name."
    if len(name) > LONGEST_NAME:
        return f"The name of a saved call has at most {LONGEST_NAME} characters."
    if not _NAME.fullmatch(name) or name.endswith(" "):
        return "The name of a saved call has letters, digits, spaces, - and _, and begins with no sign."
    return ""


def without_secrets(
    arguments: Any, *, hidden: Collection[Path] = (), redact: Callable[[str], str] = str
) -> Any:
    """Return arguments without everything that is or looks like a secret.

    Args:
        arguments: a JSON value.
        hidden: paths that the form knows to be secret (`FieldSpec.secret`).
        redact: takes configured secrets out of a text; what it changes is left out.
    """

    def kept(value: Any, path: Path, named: bool) -> Any:
        if path in hidden or len(path) > MAX_DEPTH:
            return MISSING
        if isinstance(value, Mapping):
            inner = {
                key: kept(item, (*path, key), named or names_a_secret(str(key)))
                for key, item in value.items()
            }
            return {key: item for key, item in inner.items() if item is not MISSING}
        if isinstance(value, list):
            items = [kept(item, (*path, number), named) for number, item in enumerate(value)]
            return [item for item in items if item is not MISSING]
        if named and isinstance(value, str | int | float) and not isinstance(value, bool):
            return MISSING
        if isinstance(value, str) and (redact(value) != value or _known_shape(value)):
            return MISSING
        return value

    whole = kept(arguments, (), False)
    return {} if whole is MISSING else whole


def _known_shape(text: str) -> bool:
    return any(True for _ in shapes_in(text.encode("utf-8", "surrogatepass")))


def _small(arguments: Any) -> bool:
    try:
        return len(json.dumps(arguments, ensure_ascii=False)) <= MAX_ARGUMENTS
    except (TypeError, ValueError, RecursionError):
        return False
