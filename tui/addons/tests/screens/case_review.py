"""Opens the review of the cases that failed, at the selected one."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from textual.widget import Widget

from tui.addons.tests.review.catalog import Listed, ListedFile
from tui.addons.tests.review.decisions import Review
from tui.addons.tests.review.failures import Failure
from tui.addons.tests.review.files import texts_of
from tui.addons.tests.review.recorded import failures_in_recordings
from tui.addons.tests.screens.case_rows import Key
from tui.addons.tests.screens.case_runs import key_of
from tui.addons.tests.screens.review_screen import ReviewScreen
from tui.addons.tests.suite.case import Case
from tui.core.errors import McptuiError
from tui.core.language.translate import _, localized

Cases = Sequence[tuple[ListedFile, Sequence[Listed]]]


async def open_review(
    list: Widget,
    cases: Cases,
    one: Listed,
    here: Mapping[Key, Failure],
    show_messages: Callable[[Failure], None],
    copy: Callable[[Failure], None],
) -> Review | None:
    """Open the review and return it, or say why there is nothing to review.

    `here` are the failures of runs of this screen that are still the last ones of their cases; others are
    read from recordings.
    """
    try:
        failures = await asyncio.to_thread(_failures, cases, one, here)
        texts = await asyncio.to_thread(texts_of, {failure.path for failure in failures})
        review = Review.of(failures, texts)
    except McptuiError as error:
        list.notify(localized(error), severity="warning", markup=False)
        return None
    keys = [key_of(failure) for failure in failures]
    if one.key not in keys:
        why = _("It has no result to compare. Press r to run it.")
        if isinstance(one.what, Case):
            why = _("Its run was not recorded. Press r to run it.")
            if one.last is not None and one.last.recording:
                why = _("The recording of its run was deleted. Press r to run it.")
        list.notify(why, timeout=4)
        return None
    review.at = keys.index(one.key)
    list.app.push_screen(ReviewScreen(review, show_messages, copy))
    return review


def _failures(cases: Cases, one: Listed, here: Mapping[Key, Failure]) -> list[Failure]:
    """Return what is reviewed: the selected case and all that failed. Blocks."""
    found: list[Failure] = []
    for file, listed in cases:
        if file.suite is None:
            continue
        reviewed = [each.key for each in listed if each.key == one.key or _failed(each) or each.key in here]
        known = {key: here[key] for key in reviewed if key in here}
        if len(known) < len(reviewed):
            others = [each for each in listed if each.key not in known]  # some save values for others
            read = failures_in_recordings(file.suite, others)
            known |= {key_of(failure): failure for failure in read}
        found += (known[key] for key in reviewed if key in known)
    return found


def _failed(each: Listed) -> bool:
    return each.last is not None and each.last.state.is_bad
