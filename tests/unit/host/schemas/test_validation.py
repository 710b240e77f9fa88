"""Values are checked in bounded time, whatever the schema."""

import asyncio
import gc
import subprocess
import sys
import time

import pytest

from tui.host.schemas import validation
from tui.host.schemas.validation import SIMPLE_NODES, SchemaChecker, SchemaVerdict, is_simple

WEATHER = {
    "type": "object",
    "properties": {"location": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["location"],
}
LINKED = {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}
REDOS = {"type": "object", "properties": {"s": {"type": "string", "pattern": "^(a+)+$"}}}
BACKTRACKING = {"s": "a" * 40 + "!"}


@pytest.fixture
async def checker():
    made = SchemaChecker()
    yield made
    await made.close()


def worker_pid(checker):
    return checker._worker.pid if checker._worker is not None else None


async def test_an_invalid_value_is_reported_with_its_path(checker):
    assert (await checker.check(WEATHER, {"location": 5})).problem == "location: 5 is not of type 'string'"


async def test_a_simple_schema_needs_no_worker_process(checker):
    await checker.check(WEATHER, {})
    assert worker_pid(checker) is None


async def test_a_schema_with_references_is_checked_in_a_worker_process(checker):
    assert (await checker.check(LINKED, {"n": "x"})).problem == "n: 'x' is not of type 'integer'"
    assert worker_pid(checker) is not None


async def test_an_expensive_schema_times_out_and_the_next_check_works(checker, monkeypatch):
    monkeypatch.setattr(validation, "CHECK_SECONDS", 0.2)
    started = time.monotonic()
    assert await checker.check(REDOS, BACKTRACKING) == SchemaVerdict(unchecked="the schema is too complex")
    assert time.monotonic() - started < 15
    monkeypatch.setattr(validation, "CHECK_SECONDS", 10)
    assert await checker.check(LINKED, {"n": 1}) == SchemaVerdict()


async def test_a_schema_that_timed_out_twice_is_not_tried_again(checker, monkeypatch):
    monkeypatch.setattr(validation, "CHECK_SECONDS", 0.2)
    verdicts = await asyncio.gather(*(checker.check(REDOS, BACKTRACKING) for _ in range(30)))
    assert {verdict.unchecked for verdict in verdicts} == {"the schema is too complex"}


async def test_the_worker_is_reused_for_the_next_check(checker):
    await checker.check(LINKED, {"n": 1})
    first = worker_pid(checker)
    await checker.check(LINKED, {"n": 2})
    assert worker_pid(checker) == first


async def test_a_worker_that_was_killed_is_replaced_and_its_broken_pipe_is_not_reported(checker):
    ignored = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: ignored.append(context))
    await checker.check(LINKED, {"n": 1})
    checker._worker.kill()
    assert (await checker.check(LINKED, {"n": "x" * 1_000_000})).unchecked == "the checker ended"
    assert await checker.check(LINKED, {"n": 1}) == SchemaVerdict()
    gc.collect()
    assert not ignored


async def test_remote_references_are_not_fetched(checker):
    schema = {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/canary"}}}
    verdict = await checker.check(schema, {"x": 1})
    assert verdict.unchecked == "the schema has an external $ref"


@pytest.mark.parametrize(
    "schema",
    [{"type": "potato"}, {"type": 7}, {"properties": []}, {"$ref": "#"}, {"required": 5}],
    ids=repr,
)
async def test_an_invalid_schema_rejects_nothing(checker, schema):
    verdict = await checker.check(schema, {"a": 1})
    assert verdict.problem == "" and verdict.unchecked


async def test_an_unknown_dialect_is_treated_as_the_newest(checker):
    schema = {"$schema": "https://example.test/dialect", "type": "string"}
    assert "not of type 'string'" in (await checker.check(schema, 5)).problem


@pytest.mark.parametrize(
    ("schema", "said"),
    [({"type": "integer"}, "is not of type 'integer'"), ({"maxLength": 50}, "is too long")],
)
async def test_a_long_value_is_truncated_in_the_message_but_not_what_is_wrong_with_it(checker, schema, said):
    verdict = await checker.check(schema, "x" * 100_000)
    assert len(verdict.problem) < 500 and verdict.problem.endswith(f"xx…' {said}")


async def test_no_worker_is_started_after_close(checker):
    await checker.close()
    assert (await checker.check(LINKED, {"n": 1})).unchecked == "the checker ended"
    assert worker_pid(checker) is None


def test_schemas_or_values_with_many_nodes_are_not_simple():
    assert not is_simple({"enum": list(range(SIMPLE_NODES))}, 1)
    assert not is_simple({"items": {"type": "integer"}}, list(range(50_000)))


def test_a_property_named_like_a_slow_keyword_makes_the_schema_not_simple():
    assert not is_simple({"properties": {"pattern": {"type": "string"}}}, {})


async def test_a_value_too_large_to_send_to_the_worker_is_not_checked(checker):
    assert (await checker.check(LINKED, {"n": "x" * 3_000_000})).unchecked == "the value is too large"
    assert (await checker.check(LINKED, {"n": list(range(60_000))})).unchecked == "the value is too large"


async def test_a_large_text_under_a_simple_schema_is_checked(checker):
    assert await checker.check(WEATHER, {"location": "x" * 3_000_000}) == SchemaVerdict()


def test_an_everyday_call_is_checked_without_the_library():
    check = (
        "import asyncio, sys\n"
        "from tui.host.schemas.validation import SchemaChecker, SchemaVerdict\n"
        f"schema = {WEATHER!r}\n"
        "assert asyncio.run(SchemaChecker().check(schema, {'location': 'Oslo'})) == SchemaVerdict()\n"
        "assert 'jsonschema' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
