"""Arguments that Hypothesis generates from a schema, some of them invalid. Needs the extra `fuzz`.

Runs as a process, because Hypothesis seeds the random numbers of its own, and a schema may cost any time. It
reads lines of JSON, `[schema, runs, seed]`, and writes for each a line with the size of the JSON after it.

hypothesis-jsonschema is not used: its newest release does not run with current Hypothesis, and with an older
one took 82 s for 50 arguments of a tool of a common server.
"""

import json
import re
import string
import sys
from collections.abc import Mapping
from math import ceil, floor
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir

from tui.addons.tests.fuzz.edges import COUNTS, LENGTHS, MOST_DEPTH, UNKNOWN, WRONG, limits_of, simplest
from tui.core.schemas.schemas import arms_of, by_position, listed, merged, own_kind, strings
from tui.core.text import object_in
from tui.core.units import whole

Values = st.SearchStrategy[Any]

ANY: Values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)
"""Any JSON."""

_DOMAIN = st.text(string.ascii_lowercase, min_size=1, max_size=12).map("{}.com".format)
FORMATS: Mapping[str, Values] = {
    "date": st.dates().map(str),
    "date-time": st.datetimes(timezones=st.just(None)).map(lambda moment: f"{moment.isoformat()}Z"),
    "time": st.times().map(lambda moment: f"{moment.isoformat()}Z"),
    "email": st.builds("{}@{}".format, st.text(string.ascii_letters, min_size=1), _DOMAIN),
    "hostname": _DOMAIN,
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "uri": st.builds("https://{}/{}".format, _DOMAIN, st.text(string.ascii_letters)),
    "uuid": st.uuids().map(str),
}


def arguments(schema: Mapping[str, Any], runs: int, number: int) -> list[dict[str, Any]]:
    """Return arguments for a plain schema, the same ones for a seed `number`."""
    found: list[dict[str, Any]] = []

    @seed(number)
    @settings(
        max_examples=runs,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(with_faults(schema))
    def collect(made: dict[str, Any]) -> None:
        found.append(made)

    collect()
    return found


def with_faults(schema: Mapping[str, Any]) -> Values:
    """Return a strategy of arguments, of which about half have a fault."""
    valid = values({**schema, "type": "object"}, 0)
    members = object_in(schema, "properties")

    @st.composite
    def faulty(draw: st.DrawFn) -> dict[str, Any]:
        made = dict(draw(valid))
        name = draw(st.sampled_from([*members, UNKNOWN]))
        if name in made and draw(st.booleans()):
            del made[name]
        else:
            wrong = WRONG.get(own_kind(merged(object_in(members, name))), ())
            made[name] = draw(st.one_of(ANY, st.sampled_from(wrong)) if wrong else ANY)
        return made

    return st.one_of(valid, faulty())


def values(schema: Any, depth: int) -> Values:
    """Return a strategy for a plain schema. Its values are valid except for unusual keywords."""
    node = merged(schema) if isinstance(schema, Mapping) else {}
    if found := listed(node):
        return st.sampled_from(found)
    if arms := arms_of(node):
        return st.one_of([values(arm, depth) for arm in arms])
    match own_kind(node):
        case "string":
            return _texts(node)
        case "integer":
            low, high = limits_of(node)
            return st.integers(None if low is None else ceil(low), None if high is None else floor(high))
        case "number":
            return st.floats(*limits_of(node), allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array" if depth < MOST_DEPTH:
            return _arrays(node, depth)
        case "object" if depth < MOST_DEPTH:
            return _objects(node, depth)
    return ANY if depth < MOST_DEPTH else st.just(simplest(node))


def _texts(node: Mapping[str, Any]) -> Values:
    if isinstance(pattern := node.get("pattern"), str):
        try:
            return st.from_regex(re.compile(pattern))
        except (re.error, OverflowError, RecursionError):
            return st.text()
    if (known := FORMATS.get(str(node.get("format")))) is not None:
        return known
    least, most = min(whole(node.get("minLength")) or 0, LENGTHS[-1]), whole(node.get("maxLength"))
    return st.text(min_size=least, max_size=None if most is None else max(least, most))


def _arrays(node: Mapping[str, Any], depth: int) -> Values:
    first, rest = by_position(node)
    least = min(whole(node.get("minItems")) or 0, COUNTS[-1])
    most = max(least, min(whole(node.get("maxItems")) or least + 5, least + 5))
    if first:
        return st.tuples(*(values(one, depth + 1) for one in first)).map(list)
    is_unique = node.get("uniqueItems") is True
    unique_by = repr if is_unique else None
    return st.lists(values(rest, depth + 1), min_size=least, max_size=most, unique_by=unique_by)


def _objects(node: Mapping[str, Any], depth: int) -> Values:
    members = object_in(node, "properties")
    needed = {name for name in strings(node.get("required")) if name in members}
    made = {name: values(inner, depth + 1) for name, inner in members.items()}
    fixed = st.fixed_dictionaries(
        {name: made[name] for name in members if name in needed},
        optional={name: made[name] for name in members if name not in needed},
    )
    others = node.get("additionalProperties", not members)
    if others is False or (members and not isinstance(others, Mapping)):
        return fixed
    more = st.dictionaries(st.text(max_size=8), values(others, depth + 1), max_size=3)
    return st.builds(lambda one, other: {**other, **one}, fixed, more)


def main() -> None:
    """Answer until stdin ends."""
    with TemporaryDirectory() as folder:  # not `.hypothesis` in the current one
        set_hypothesis_home_dir(folder)
        for line in sys.stdin.buffer:
            made = json.dumps(arguments(*json.loads(line))).encode()
            sys.stdout.buffer.write(b"%d\n%b" % (len(made), made))
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
