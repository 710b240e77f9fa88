"""The outcome of a contract: what fails, what is noted, and the token budget."""

from pathlib import Path

from tui.addons.tests.contract.check import judged
from tui.addons.tests.contract.listing import Kind, ServerListing
from tui.addons.tests.contract.lock import SHAPE, Lock
from tui.addons.tests.run.outcome import ABSENT, State
from tui.addons.tests.suite.case import Contract, Suite

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
TOOL = {"description": "Adds.", "inputSchema": SCHEMA}


def listing(**tools):
    return ServerListing({Kind.TOOL: tools}, "", {"tools": {}}, "2025-11-25")


def outcome(now, before=None, strength="full", **contract):
    made = Contract("a.lock.json", line=3, strength=strength, **contract)
    lock = Lock(before if before is not None else listing(add=TOOL), contract.get("lock_strength", "full"))
    return judged(Suite(Path("a.mcp.toml"), contract=made), made, lock, now)


def test_equal_definitions_pass():
    found = outcome(listing(add=TOOL))
    assert (found.name, found.line, found.state, found.notes) == ("contract", 3, State.PASSED, ())


def test_each_change_that_fails_is_named_and_the_others_are_noted():
    found = outcome(listing(add={**TOOL, "description": "Sums.", "inputSchema": {"type": "object"}}))
    (one,) = found.mismatches
    assert found.state is State.FAILED
    assert (one.path, one.why) == ("tool add: inputSchema.properties.a", "breaking: argument removed")
    assert one.expected == {"type": "string"} and one.got is ABSENT
    assert found.problem.splitlines() == [
        "1 breaking change since a.lock.json was written",
        "If this is intended, update the lock: mcptui test --lock a.mcp.toml",
    ]
    assert found.notes == ("routing: tool add: description, the model may choose differently",)


def test_the_contract_chooses_the_verdicts_that_fail():
    found = outcome(listing(add={**TOOL, "description": "Sums."}), fail=("routing",))
    assert found.state is State.FAILED and "1 routing change" in found.problem
    assert outcome(listing(), fail=()).state is State.PASSED


def test_too_many_tokens_fail_with_a_table():
    found = outcome(listing(add={**TOOL, "description": "Sums. " * 50}), tokens=20)
    (one,) = found.mismatches
    assert (one.path, one.expected) == ("tokens", 20) and one.got > 20
    head, row, total = found.problem.splitlines()
    assert head == "the definitions take too many tokens"
    assert row.split()[1:] == [row.split()[1], "add"] and total.endswith("total")


def test_enough_tokens_are_noted():
    assert outcome(listing(add=TOOL), tokens=4000).notes[0].endswith(" of 4,000 tokens")


def test_a_shape_does_not_compare_descriptions():
    found = outcome(listing(add={**TOOL, "description": "Sums."}), strength=SHAPE, fail=("routing",))
    assert found.state is State.PASSED
