"""Validates a value against a JSON Schema, also as a process that can be killed.

Speaks JSON lines: `[schema, value]` in, `[problem, unchecked]` out, after one line when it is ready.
"""

import json
import signal
import sys
from typing import Any

from jsonschema import exceptions, validators  # type: ignore[import-untyped]  # ships no types
from jsonschema.protocols import Validator  # type: ignore[import-untyped]
from referencing import Registry
from referencing.exceptions import Unresolvable

from tui.core.schemas.quick_checks import DIALECTS
from tui.core.text import clean_line

MOST_SAID, MOST_SHOWN = 300, 160
"""Characters of a sentence, and of the value that it begins with."""

LAST_RESORT_SECONDS = 5
"""A worker whose host was killed during a check ends itself after this long."""


def explain(schema: Any, value: Any) -> tuple[str, str]:
    """Return (what is wrong with `value`, why it could not be checked); at most one is not empty.

    References are resolved inside the schema only; nothing is fetched.
    """
    try:
        error = exceptions.best_match(_validator(schema).iter_errors(value))
    except Unresolvable:
        return "", "the schema has an external $ref"
    except RecursionError:
        return "", "the schema has a circular reference"
    except Exception as problem:  # an invalid schema can break the library in many ways
        return "", f"the schema is invalid ({type(problem).__name__})"
    if error is None:
        return "", ""
    where = ".".join(str(step) for step in error.absolute_path)
    said = clean_line(_with_short_value(error), MOST_SAID)
    return (f"{clean_line(where, 120)}: {said}" if where else said), ""


def _with_short_value(error: exceptions.ValidationError) -> str:
    """Return the sentence of an error, with only the start of a long value: what is wrong follows it."""
    message, shown = str(error.message), repr(error.instance)
    if len(shown) <= MOST_SHOWN or not message.startswith(shown):
        return message
    return f"{shown[:MOST_SHOWN]}…{shown[-1]}{message[len(shown) :]}"


def dialect_of(schema: Any) -> Any:
    """Return the class that validates a schema's dialect, 2020-12 by default; None if it is unknown."""
    named = schema.get("$schema", DIALECTS[0]) if isinstance(schema, dict) else DIALECTS[0]
    return validators.validator_for({"$schema": named}, default=None) if isinstance(named, str) else None


def _validator(schema: Any) -> Validator:
    kind = dialect_of(schema) or validators.Draft202012Validator
    made: Validator = kind(schema, registry=Registry())
    return made


def main() -> None:
    """Answer until stdin ends."""
    out = sys.stdout
    out.write("ready\n")
    out.flush()
    for line in sys.stdin:
        if hasattr(signal, "setitimer"):
            # SIGALRM's default action ends the process even inside a regular expression.
            signal.setitimer(signal.ITIMER_REAL, LAST_RESORT_SECONDS)
        schema, value = json.loads(line)
        out.write(json.dumps(explain(schema, value)) + "\n")
        out.flush()
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
