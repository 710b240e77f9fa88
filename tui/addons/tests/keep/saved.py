"""The service "saved calls": saved arguments of the workbench are cases that expect nothing yet.

They are in the test file of their server, with the kept calls. Those that were saved before, in the state
folder, are listed too, and move to the file when the user next saves or keeps a call of the server.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.addons.tests.keep.keeping import KINDS, Moved, remember, saved_case, to_move, without_moved
from tui.addons.tests.keep.target import Target, replaced, target_for, write
from tui.addons.tests.suite.case import Case
from tui.addons.tests.suite.references import NotSaved, with_saved
from tui.core.errors import McptuiError, UsageError
from tui.core.language.translate import message
from tui.core.text import clean_line
from tui.core.workbench import CallKey, SavedCall, name_complaint
from tui.runtime.copies.origin import Origin

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime
    from tui.ui.workbench.saved_calls import SavedCalls


class SuiteSavedCalls:
    """`SavedCalls` in the test file of a server; `remembered` has the others, and those saved before."""

    def __init__(self, runtime: "Runtime", server: str, remembered: "SavedCalls") -> None:
        self._runtime = runtime
        self._server = server
        self._remembered = remembered

    async def of(self, key: CallKey) -> Sequence[SavedCall]:
        remembered = await self._remembered.of(key)
        if key.kind not in KINDS:
            return remembered
        try:
            target = await asyncio.to_thread(self._target)
        except (McptuiError, OSError):
            return remembered
        found = [SavedCall(case.name, _given(case), not _is_saved(case)) for case in cases_of(target, key)]
        names = {one.name for one in found}
        return [*found, *(one for one in remembered if one.name not in names)]

    async def save(self, key: CallKey, name: str, arguments: Any) -> str:
        if key.kind not in KINDS:
            return await self._remembered.save(key, name, arguments)
        if complaint := name_complaint(name):
            raise ValueError(complaint)
        moved, said = await asyncio.to_thread(self._save, key, name, arguments)
        if moved:
            await self._runtime.calls.change(partial(without_moved, moved))
        return said

    async def forget(self, key: CallKey, name: str) -> str:
        if any(one.name == name for one in await self._remembered.of(key)) or key.kind not in KINDS:
            return await self._remembered.forget(key, name)
        await asyncio.to_thread(self._forget, key, name)
        return f"Deleted {name}."

    # ---- in a thread -----------------------------------------------------------------------------------

    def _target(self) -> Target:
        origin, redact = self._origin(), self._runtime.redactor.redact
        return target_for("", origin, Path.cwd(), redact)

    def _origin(self) -> Origin:
        status = self._runtime.host.find(self._server)
        if status is None:
            raise UsageError(message("This server is no longer configured."))
        configured = not self._runtime.is_unconfigured
        return Origin.of_spec(status.spec, str(Path.cwd()), configured=configured)

    def _save(self, key: CallKey, name: str, arguments: Any) -> tuple[Sequence[Moved], str]:
        target, origin = self._target(), self._origin()
        case = saved_case(key, name, arguments)
        there = next((one for one in cases_of(target, key) if one.name == name), None)
        if there is not None and not _is_saved(there):
            raise UsageError(f"{clean_line(name, 60)} is a kept call. Choose another name.")
        if there is not None:
            target = replaced(target, there, case)
        elif name in target.names:
            raise UsageError(f"{clean_line(name, 60)} is the name of another case in {target.path.name}.")
        moved = to_move(self._runtime.calls.memory, self._server, {*target.names, name})
        new = [] if there is not None else [case]
        write(target, [*(one.case for one in moved), *new])
        problem = remember(target, origin, is_own=True)
        said = f"Saved as {name} in {clean_line(target.path.name, 100)}."
        return moved, f"{said} Your consent was not saved: {problem}" if problem else said

    def _forget(self, key: CallKey, name: str) -> None:
        target = self._target()
        for case in cases_of(target, key):
            if case.name == name and _is_saved(case):
                write(replaced(target, case, None), ())


def cases_of(target: Target, key: CallKey) -> list[Case]:
    """Return the cases of a file that request an item."""
    cases = target.suite.cases if target.suite is not None else ()
    kind = KINDS.get(key.kind)
    return [one for one in cases if one.request.kind is kind and one.request.name == key.name]


def _is_saved(case: Case) -> bool:
    return case.expected.is_empty


def _given(case: Case) -> Any:
    try:
        return with_saved(dict(case.request.arguments), {})
    except NotSaved:
        return dict(case.request.arguments)
