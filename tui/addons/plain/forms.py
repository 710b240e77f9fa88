"""Fills in a form line by line: each field with its type, its default, and whether it is required."""

import json
from collections.abc import Iterator, Sequence

from tui.addons.plain.asking import Asking
from tui.core.forms.form import Form
from tui.core.forms.spec import (
    BOOLEANS,
    HOLDERS,
    MAX_DESCRIPTION,
    MAX_TITLE,
    FieldKind,
    FieldState,
    FormField,
    Path,
    type_words,
)
from tui.core.language.translate import N_, _, localized, n_, sentences
from tui.core.questions import Action
from tui.core.text import clean_line, compact, quoted_name

SKIP, DECLINE, CANCEL = "/skip", "/decline", "/cancel"
_ENDS = {DECLINE: Action.DECLINE, CANCEL: Action.CANCEL}


async def fill(asking: Asking, form: Form, *, declines: bool) -> Action | None:
    """Ask for each field of a form; return what the user types to end it, None at the end of input.

    Nested objects and lists of them are typed as JSON. `declines`: the user can decline, not only cancel.
    """
    paths = [one.path for one in form.fields() if len(one.path) <= 1]
    ends = _("{one} or {other}", one=DECLINE, other=CANCEL) if declines else CANCEL
    count = n_("{n} field.", "{n} fields.", len(paths))
    rule = N_("An empty line keeps the default. {skip} leaves a field out. {ends} ends the form.")
    asking.say(sentences(count, _(rule, skip=SKIP, ends=ends)))
    for number, path in enumerate(paths, 1):
        if (field := form.field(path)) is None:
            continue
        asking.show(_about(field, number, len(paths)))
        while (line := await asking.line()) is not None:
            word = line.strip()
            if word in _ENDS and (declines or word == CANCEL):
                return _ENDS[word]
            if not (problem := _set(form, path, line)):
                break
            name, what = quoted_name(field.name, MAX_TITLE), clean_line(localized(problem), 300)
            asking.say(_("{name} {problem}. Try again.", name=name, problem=what))
        if line is None:
            return None
    return Action.ACCEPT


def review(form: Form) -> Iterator[str]:
    """Yield the values of a form, one line each, and its problems."""
    value, problems = form.value()
    values = value if isinstance(value, dict) else {"": value}
    for name, one in values.items():
        yield f"{clean_line(name, MAX_TITLE)} = {compact(one, 2_000)}"
    if not values:
        yield _("No values.")
    for path, problem in problems.items():
        yield f"! {clean_line(' '.join(map(str, path)), 120)} {clean_line(localized(problem), 300)}"


def _about(field: FormField, number: int, count: int) -> Iterator[str]:
    spec = field.spec
    name, title = clean_line(field.name, MAX_TITLE), clean_line(spec.title, MAX_TITLE)
    facts = [type_words(field), _("required") if field.required else _("optional")]
    named = quoted_name(name, MAX_TITLE) + (f" ({title})" if title and title != name else "")
    yield _(
        "Field {number} of {count}: {name}, {facts}.",
        number=number,
        count=count,
        name=named,
        facts=_(", ").join(facts),
    )
    if about := clean_line(spec.description, MAX_DESCRIPTION):
        yield about
    for place, label in enumerate(_labels(field), 1):
        yield f"{place}. {clean_line(label, 200)}"
    if switches := _switches(field):
        chosen = [str(place) for place, one in enumerate(switches, 1) if one.text == BOOLEANS[0]]
        yield _(
            "Answer with numbers, separated by commas. Now: {chosen}.", chosen=", ".join(chosen) or _("none")
        )
    elif field.kind is FieldKind.ARRAY:
        yield _("Answer with values separated by commas, or a JSON array.")
    elif field.kind in HOLDERS or field.kind is FieldKind.JSON:
        yield _("Answer with JSON.")
    if field.state in (FieldState.SET, FieldState.RAW) and field.kind not in HOLDERS:
        yield _("Default: {value}", value=clean_line(field.text, 300) or '""')


def _labels(field: FormField) -> Sequence[str]:
    return [str(one.path[-1]) for one in _switches(field)] or (() if field.kind in HOLDERS else field.labels)


def _switches(field: FormField) -> list[FormField]:
    """Return the values of a multiple choice, which are shown as fields of their own."""
    found = list(field.children.values()) if field.kind is FieldKind.OBJECT else []
    return found if field.spec.format.startswith("any of") else []


def _set(form: Form, path: Path, line: str) -> str:
    """Set a field to a typed line; return the problem, which follows the name of the field, or ""."""
    field = form.field(path)
    if field is None:
        return ""
    word = line.strip()
    if not word or word == SKIP:
        if word and not field.required:
            form.clear(path)
        field = form.field(path)
        missing = field is not None and field.required and field.state is FieldState.ABSENT
        return _("is required") if missing or (word and field is not None and field.required) else ""
    if switches := _switches(field):
        places = [int(one) if one.strip().isdigit() else 0 for one in word.split(",")]
        if not all(1 <= place <= len(switches) for place in places):
            return _("needs numbers from 1 to {n}, separated by commas", n=len(switches))
        for place, one in enumerate(switches, 1):
            form.set(one.path, BOOLEANS[0 if place in places else 1])
        return ""
    labels = field.labels if field.kind not in HOLDERS else ()
    if labels and word.isascii() and word.isdigit() and 1 <= int(word) <= len(labels):
        line = labels[int(word) - 1]
    elif labels and word not in labels:
        return _("needs a number from 1 to {n}", n=len(labels))
    elif field.kind is FieldKind.ARRAY and not word.startswith("["):
        line = json.dumps([one.strip() for one in word.split(",")])
    before = (field.state, field.text)
    problem = form.set(path, line)
    found = form.field(path)
    problem = problem or (found.problem if found is not None else "")
    if problem and before[0] is FieldState.ABSENT:
        form.clear(path)
    elif problem and field.kind not in HOLDERS:
        form.set(path, before[1])
    return problem
