"""Saved arguments of tools, resources and prompts: in the state folder, or in test files by an add-on."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tui.core.addons import service
from tui.core.language.translate import _
from tui.core.workbench import CallKey, SavedCall

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime


class SavedCalls(Protocol):
    """The saved calls of one server. Arguments are from `arguments_to_keep`."""

    async def of(self, key: CallKey) -> Sequence[SavedCall]:
        """Return the saved calls of an item."""

    async def save(self, key: CallKey, name: str, arguments: Any) -> str:
        """Save arguments, in place of those of that name, and return what to say.

        Raises McptuiError, or ValueError with a sentence.
        """

    async def forget(self, key: CallKey, name: str) -> str:
        """Delete saved arguments, and return what to say. Raises McptuiError."""


class RememberedCalls:
    """`SavedCalls` in the state folder."""

    def __init__(self, runtime: "Runtime") -> None:
        self._calls = runtime.calls

    async def of(self, key: CallKey) -> Sequence[SavedCall]:
        return [SavedCall(*one) for one in self._calls.memory.saved.get(key, {}).items()]

    async def save(self, key: CallKey, name: str, arguments: Any) -> str:
        await self._calls.change(lambda memory: memory.with_saved(key, name, arguments))
        return _("Saved as {name}.", name=name)

    async def forget(self, key: CallKey, name: str) -> str:
        await self._calls.change(lambda memory: memory.without_saved(key, name))
        return _("Deleted {name}.", name=name)


def saved_calls(runtime: "Runtime", server: str) -> SavedCalls:
    """Return the saved calls of a server."""
    remembered = RememberedCalls(runtime)
    make: Callable[..., SavedCalls] | None = service("saved calls")
    return make(runtime, server, remembered) if make is not None else remembered
