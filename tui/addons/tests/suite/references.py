"""`${NAME}` in a suite: variables of the environment in env, headers and url, saved values everywhere else.

`$${` is a literal `${`, as in the configuration. Pure.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tui.addons.tests.suite.case import UNSET, Case, Expectation
from tui.addons.tests.suite.json_path import leaves_of
from tui.core.comparison.placeholders import Part, Pattern, parts_of, written
from tui.settings.references import NAME, Expanded, escaped, expand, names_in

_WHOLE = re.compile(rf"\$\{{({NAME})\}}")
SAVED_NAME = re.compile(NAME)


class NotSaved(LookupError):
    """No earlier case saved the value of a name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no value of ${{{name}}} was saved")
        self.name = name


def has_references(*values: Any) -> bool:
    """Return whether a text in JSON values may refer to a name."""
    return any("${" in text for text in texts_of([*values]))


def with_needed(cases: Sequence[Case], chosen: Sequence[Case]) -> list[Case]:
    """Return the chosen cases of a suite and the earlier ones that save the values they use, in order."""
    names, used, found = {one.name for one in chosen}, set[str](), list[Case]()
    for one in reversed(cases):
        saves = set[str]() if one.skip else saved_names(one)
        if one.name in names or not used.isdisjoint(saves):
            found.append(one)
            used = used - saves | (set() if one.skip else used_names(one))
    return found[::-1]


def saved_names(case: Case) -> set[str]:
    """Return the names of the values that a case saves."""
    return {name for step in (case, *case.then) for name in step.save}


def used_names(case: Case) -> set[str]:
    """Return the names of the values that a case uses before it saves them itself."""
    used, own = set[str](), set[str]()
    for step in (case, *case.then):
        expected = step.expected
        parts = [step.request.name, step.request.arguments, expected.text, expected.result, expected.content]
        used |= {name for text in texts_of(parts) for name in names_in(text)[0]} - own
        own |= step.save.keys()
    return used


def with_saved(value: Any, saved: Mapping[str, Any]) -> Any:
    """Return arguments or a URI with saved values filled in.

    A text that is one `${NAME}` becomes the value itself, with its type. Raises `NotSaved`.
    """

    def fill(text: str) -> Any:
        whole = _WHOLE.fullmatch(text)
        return _filled(text, saved) if whole is None else _saved(whole[1], saved)

    return _mapped(value, fill)


def expected_with_saved(value: Any, saved: Mapping[str, Any]) -> Any:
    """Return an expectation with saved values filled in, which never become placeholders.

    Raises `NotSaved`.
    """

    def fill(text: str) -> Any:
        whole = _WHOLE.fullmatch(text)
        if whole is not None and not isinstance(found := _saved(whole[1], saved), str):
            return found
        return written(_filled_part(part, saved) for part in parts_of(text))

    return _mapped(value, fill)


def filled_expectation(expected: Expectation, saved: Mapping[str, Any]) -> Expectation:
    """Return an expectation as it is compared: with saved values, and `${` for `$${`. Raises `NotSaved`."""
    result, content = expected.result, expected.content
    if not has_references(expected.text, result, *(content or ())):
        return expected
    return replace(
        expected,
        text=expected_with_saved(expected.text, saved),
        result=result if result is UNSET else expected_with_saved(result, saved),
        content=None if content is None else expected_with_saved([*content], saved),
    )


def without_references(value: Any) -> Any:
    """Return a JSON value with each `${` in its texts escaped."""
    return _mapped(value, escaped)


def _mapped(value: Any, change: Callable[[str], Any]) -> Any:
    """Return a JSON value with each text that has a `${` changed."""
    if isinstance(value, Mapping):
        return {name: _mapped(member, change) for name, member in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return change(value) if isinstance(value, str) and "${" in value else value


def _filled_part(part: Part, saved: Mapping[str, Any]) -> Part:
    if isinstance(part, Pattern):
        return Pattern(_filled(part.regex, {name: _in_pattern(value) for name, value in saved.items()}))
    return _filled(part, saved) if type(part) is str else part


def _in_pattern(value: Any) -> str:
    return re.sub("[<>]", r"\\\g<0>", re.escape(_as_text(value)))


def texts_of(value: Any) -> Iterator[str]:
    """Yield each text in a JSON value."""
    return (one for one in leaves_of(value) if isinstance(one, str))


def _saved(name: str, saved: Mapping[str, Any]) -> Any:
    if name not in saved:
        raise NotSaved(name)
    return saved[name]


def _filled(text: str, saved: Mapping[str, Any]) -> str:
    found: Expanded = expand(text, {name: _as_text(value) for name, value in saved.items()})
    if found.missing:
        raise NotSaved(found.missing[0])
    return str(found.text)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
