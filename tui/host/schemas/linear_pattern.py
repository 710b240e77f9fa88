"""Tests text against a pattern of a schema with RE2, in time linear in the text."""

import re
from collections.abc import Callable
from functools import lru_cache

from tui.core.regex import asks_for_boundaries, marked_text, re2_pattern, re2_text

MEMORY = 8 * 1024 * 1024
"""Maximum bytes that RE2 may use for one pattern."""

MAX_PATTERN = 10_000

_UNSUPPORTED = (re.error, RecursionError, OverflowError)
Search = Callable[[bytes], object]


def found_in(pattern: str, text: str) -> bool | None:
    """Return whether a pattern is found in a text; None if RE2 does not support the pattern."""
    if len(pattern) > MAX_PATTERN:
        return None
    try:
        if asks_for_boundaries(pattern) and not text.isascii():
            return bool(_search(pattern, marked=True)(marked_text(re2_text(text))))
        return bool(_search(pattern)(re2_text(text)))
    except _UNSUPPORTED:
        return None


@lru_cache(maxsize=16)
def _search(pattern: str, *, marked: bool = False) -> Search:
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.max_mem = MEMORY
    options.never_capture = True
    options.log_errors = False  # they would go to stderr
    try:
        search: Search = re2.compile(re2_pattern(pattern, ignore_case=False, marked=marked), options).search
    except re2.error as error:
        raise re.error(error.args[0].decode("utf-8", "replace")) from None
    finally:
        re2.purge()  # RE2 would keep 128 patterns
    return search
