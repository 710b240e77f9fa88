"""Validates messages against the SDK's models, and values against JSON Schemas. Slow.

Call it in its own thread, never on the event loop: importing the models takes a second, and a server's schema
is applied in a worker process with a timeout (`tui.host.schemas.validation`).
"""

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from tui.core.language.translate import message
from tui.core.library_imports import load_wire_models
from tui.core.schemas.quick_checks import is_plainly_sound, plainly_matches
from tui.core.schemas.schema_faults import schema_fault
from tui.core.text import clean_line
from tui.core.traffic import Direction
from tui.host.schemas.validation import SchemaChecker, is_simple

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MOST_PROBLEMS = 3
MOST_ERRORS = 2_000
"""Maximum number of pydantic errors that are read."""

CLAUSE = 200

_ROUND = "InputRequiredResult"
_ARMS = {"str": "a string", "int": "an integer", "float": "a number", "bool": "true or false"}
_WORDS = {
    "missing": "is missing",
    "string_type": "must be a string",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "list_type": "must be an array",
    "none_required": "must be null",
}

_building = threading.Lock()
"""pydantic builds a model on its first use, and before 2.14 not safely in two threads."""


class _Violation(NamedTuple):
    place: tuple[str | int, ...]
    kind: str
    message: str


class ModelJudge:
    """The linter's `Judge`, with the models of the SDK. Used by one thread; `close()` in the same one.

    Loads the models on first use.
    """

    def __init__(self) -> None:
        self._methods: Any = None
        self._adapters: dict[Any, Any] = {}
        self._checker: SchemaChecker | None = None
        self._runner: asyncio.Runner | None = None

    def problems(
        self, revision: str, direction: Direction, role: str, method: str, value: Mapping[str, Any] | None
    ) -> Sequence[str]:
        """Return at most `MOST_PROBLEMS` clauses about params or a result, none if no model covers it.

        `role` is "request", "notification" (`value`: its params) or "result" (`method`: that of its request).
        """
        if self._methods is None:
            self._methods = load_wire_models()
        from pydantic import ValidationError

        try:
            with _building:
                self._validate(revision, direction, role, method, value)
        except ValidationError as found:
            details = found.errors(include_url=False, include_context=False, include_input=False)
            return _clauses(details, value if role == "result" else {"params": value})
        except (KeyError, RecursionError):  # no such method in this revision: the linter has reported that
            return ()
        return ()

    def schema_problem(self, schema: Any) -> str:
        """Return why a JSON Schema is unusable, as a clause to follow its name, or ""."""
        if fault := schema_fault(schema):
            return fault
        if is_plainly_sound(schema) or not is_simple({}, schema):
            return ""  # large ones are checked when they are used
        return _schema_error(schema)

    def violation(self, schema: Mapping[str, Any], value: Any) -> str:
        """Return why a value does not match a schema; "" if it does, or could not be checked.

        Takes seconds in the worst case: a schema may be made to be slow.
        """
        if is_simple(schema, value) and plainly_matches(schema, value):
            return ""
        if self._runner is None:
            self._runner, self._checker = asyncio.Runner(), SchemaChecker()
        assert self._checker is not None
        return clean_line(self._runner.run(self._checker.check(schema, value)).problem, CLAUSE)

    def close(self) -> None:
        runner, checker, self._runner, self._checker = self._runner, self._checker, None, None
        if runner is not None and checker is not None:
            runner.run(checker.close())
            runner.close()

    def _validate(
        self, revision: str, direction: Direction, role: str, method: str, value: Mapping[str, Any] | None
    ) -> None:
        models, out = self._methods, direction is Direction.OUT
        if role == "result":
            results = models.CLIENT_RESULTS if out else models.SERVER_RESULTS
            self._hold(results[(method, revision)], value)
            return
        head: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if role == "request":
            surface = models.CLIENT_REQUESTS if out else models.SERVER_REQUESTS
            head["id"] = 0
        else:
            surface = models.CLIENT_NOTIFICATIONS if out else models.SERVER_NOTIFICATIONS
        body = head if value is None else {**head, "params": value}
        surface[(method, revision)].model_validate(body, by_name=False)

    def _hold(self, row: Any, result: Mapping[str, Any] | None) -> None:
        """Validate a result; if it may also ask for input, its `resultType` selects the model."""
        arms = get_args(row)
        if not arms:
            row.model_validate(result, by_name=False)
            return
        asks = result is not None and result.get("resultType") == "input_required"
        rounds = [arm for arm in arms if arm.__name__ == _ROUND]
        others = [arm for arm in arms if arm.__name__ != _ROUND]
        wanted = rounds if asks and rounds else others
        target = wanted[0] if len(wanted) == 1 else row
        if target not in self._adapters:
            from pydantic import TypeAdapter

            self._adapters[target] = TypeAdapter(target)
        self._adapters[target].validate_python(result, by_name=False)


def _schema_error(schema: Mapping[str, Any]) -> str:
    """Return what is wrong with a schema by the rules of its dialect."""
    from jsonschema import exceptions  # type: ignore[import-untyped]  # ships no types

    from tui.host.schemas.validation_worker import dialect_of

    if (dialect := dialect_of(schema)) is None:
        return ""  # the spec allows any dialect
    try:
        dialect.check_schema(schema)
    except exceptions.SchemaError as error:
        where = clean_line(".".join(str(step) for step in error.absolute_path), 100)
        said = clean_line(error.message, 120)
        return message("is not a valid JSON Schema: {reason}", reason=f"{where}: {said}" if where else said)
    except Exception:  # a schema can break the library in many ways; an error shows when it is used
        return ""
    return ""


def _clauses(errors: "Sequence[ErrorDetails]", whole: Any) -> list[str]:
    """Format pydantic's errors as clauses, for the intended member of each union."""
    faults = [_Violation(tuple(error["loc"]), error["type"], error["msg"]) for error in errors[:MOST_ERRORS]]
    clauses: dict[str, None] = {}
    for fault in _best_errors(faults, whole):
        where = ".".join(str(step) for step in fault.place)
        where = clean_line(where.removeprefix("params."), 100) or "it"
        said = clean_line(fault.message, 120).replace("Input should be", "must be")
        clauses.setdefault(f"{where} {_WORDS.get(fault.kind) or said[:1].lower() + said[1:]}")
    return list(clauses)[:MOST_PROBLEMS]


def _best_errors(faults: list[_Violation], whole: Any) -> Iterator[_Violation]:
    """Keep for each union only the errors of the best matching member, without its name in the place."""
    unions: dict[tuple[str | int, ...], dict[str | int, list[_Violation]]] = {}
    for fault in faults:
        at = _arm(fault, whole)
        if at < 0:
            yield fault
            continue
        bare = fault._replace(place=fault.place[:at] + fault.place[at + 1 :])
        unions.setdefault(fault.place[:at], {}).setdefault(fault.place[at], []).append(bare)
    for place, arms in unions.items():
        best = min(arms.values(), key=lambda found: (_tags(found), len(found)))
        if _tags(best):
            tags = [fault for found in arms.values() for fault in found if _tag(fault)]
            named = [clean_line(fault.message.removeprefix("Input should be "), 60) for fault in tags]
            wanted = " or ".join(dict.fromkeys(named))
            tag = next(fault for fault in best if _tag(fault))
            yield _Violation(tag.place, "tag", f"must be {wanted}")
        elif len(arms) > 1 and all(len(found) == 1 and found[0].place == place for found in arms.values()):
            members = ", ".join(_ARMS.get(str(name), str(name)) for name in arms)
            yield _Violation(place, "arms", f"is not one of {members}")
        else:
            yield from _best_errors(best, whole)


def _arm(fault: _Violation, whole: Any) -> int:
    """Return the step of a place that names the union's member: the first that is not a key of the value."""
    node = whole
    for at, step in enumerate(fault.place):
        if isinstance(node, dict) and step in node:
            node = node[step]
        elif isinstance(node, list) and isinstance(step, int) and step < len(node):
            node = node[step]
        else:
            is_last = at == len(fault.place) - 1
            return -1 if is_last and fault.kind == "missing" else at
    return -1


def _tag(fault: _Violation) -> bool:
    return fault.kind == "literal_error" and fault.place[-1:] in (
        ("type",),
        ("method",),
        ("mode",),
        ("resultType",),
    )


def _tags(faults: list[_Violation]) -> int:
    return sum(_tag(fault) for fault in faults)
