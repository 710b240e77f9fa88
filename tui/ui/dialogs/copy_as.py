"""The dialog that asks how to copy a request: as a command, a script, a test case, or as it is."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from textual.app import App
from textual.content import Content

from tui.core.addons import service
from tui.core.errors import McptuiError
from tui.core.language.translate import _, localized
from tui.traffic.copies.request import METHODS, CopiedRequest, Copy
from tui.traffic.copies.ways import copied, ways
from tui.ui.dialogs.picker import Picker
from tui.ui.widgets.page import copy_text

_CASE = "case"


@dataclass(frozen=True, slots=True)
class ToCopy:
    """What is copied: `what` is its name for the user, `request` None if it cannot be written as one.

    `owner` is the screen, or the `ChatParts`, whose selected call becomes a test case; None if it has no
    response. `others` are further formats, by label. The action `save` saves what is too large.
    """

    what: str
    request: CopiedRequest | None = None
    owner: object = None
    others: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    save: str = ""


def ask_to_copy(app: App[Any], copied: ToCopy) -> None:
    """Ask for a format, and copy in it."""
    request, case = copied.request, service("case text") if copied.owner is not None else None
    labels = dict(ways(request)) if request is not None else {}
    if request is not None and request.method in METHODS and case is not None:
        labels[_CASE] = _("test case")
    labels |= {label: label for label in copied.others}
    if not labels:
        app.notify(_("This cannot be copied as a command or a script."), timeout=4)
        return

    def chosen(way: str | None) -> None:
        if way is not None:
            app.run_worker(_copy(app, copied, way, case), name="copy as", exit_on_error=True)

    app.push_screen(Picker(_("Copy as"), [(way, Content(_(label))) for way, label in labels.items()]), chosen)


async def _copy(
    app: App[Any], to_copy: ToCopy, way: str, case: "Callable[[object], Awaitable[str]] | None"
) -> None:
    try:
        if way == _CASE and case is not None:
            copy = Copy(await case(to_copy.owner))
        elif way in to_copy.others:
            copy = Copy(await asyncio.to_thread(to_copy.others[way]))
        elif to_copy.request is not None:
            copy = await asyncio.to_thread(partial(copied, way, to_copy.request))
    except McptuiError as error:
        app.notify(localized(error), severity="warning", timeout=8, markup=False)
        return
    copy_text(app, copy.text, to_copy.what, to_copy.save)
    if copy.remark:
        app.notify(localized(copy.remark), severity="warning", timeout=10, markup=False)
