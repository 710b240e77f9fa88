"""Accepted definitions: the first list, and those that a person accepted since."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tui.core.permission.definitions import DefinitionRecord, KnownDefinitions, ServerDefinitions, digests_of


def listed(**texts):
    return {name: {"name": name, "description": text} for name, text in texts.items()}


def see(definitions, tools, *, complete=True, probed=False):
    definitions.see(tools, digests_of(tools), complete=complete, probed=probed)


def names(changes):
    return [one.name for one in changes]


def accepted(definitions, tools):
    digests = digests_of(tools)
    return [name for name in tools if definitions.is_accepted(name, digests[name])]


class Memory:
    """Stores definitions in memory."""

    def __init__(self):
        self.kept = {}

    def load(self, key):
        return self.kept.get(key)

    def save(self, key, server, kept):
        before = self.kept.get(key, DefinitionRecord())
        both = {**before.accepted, **kept.accepted}
        self.kept[key] = DefinitionRecord(both, dict(kept.refused), probed=kept.probed)


def test_if_the_accepted_definitions_are_empty_or_cannot_be_read_everything_counts_as_changed():
    memory = Memory()
    memory.kept["k"] = DefinitionRecord(damage="Damaged.")
    definitions = ServerDefinitions("srv", "k", memory)
    see(definitions, listed(a="1", b="1"))
    assert definitions.damage == "Damaged." and accepted(definitions, listed(a="1", b="1")) == []
    assert [(one.name, one.is_new) for one in definitions.changes()] == [("a", False), ("b", False)]
    assert not definitions.is_new("a")
    definitions.accept(definitions.changes()[:1])
    assert accepted(definitions, listed(a="1", b="1")) == ["a"]
    assert memory.kept["k"].damage == "" and names(definitions.changes()) == ["b"]
    memory.kept["k"] = DefinitionRecord()
    definitions = ServerDefinitions("srv", "k", memory)
    see(definitions, listed(a="1"))
    assert names(definitions.changes()) == ["a"]


def test_every_definition_can_count_as_accepted():
    book = KnownDefinitions(accept_all=True)
    definitions = book.of("srv", "k")
    see(definitions, listed(a="1"))
    definitions.called()
    see(definitions, listed(a="2", b="1"))
    assert accepted(definitions, listed(a="2", b="1")) == ["a", "b"] and definitions.changes() == []


def test_changed_and_new_tools_are_changes_but_removed_ones_are_not():
    definitions = ServerDefinitions("srv")
    see(definitions, listed(a="1", b="1", c="1"))
    see(definitions, listed(a="1"), complete=False)  # the list was complete already
    definitions.called()
    see(definitions, listed(b="2", c="1", d="1"))
    assert [(one.name, one.is_new) for one in definitions.changes()] == [("b", False), ("d", True)]
    assert accepted(definitions, listed(b="2", c="1", d="1")) == ["c"]


def test_the_first_session_without_a_probe_may_add_to_a_probed_one_but_change_nothing():
    memory = Memory()
    for _ in range(2):
        probed = ServerDefinitions("srv", "key", memory)
        see(probed, listed(a="1"), probed=True)
        probed.called()
    see(probed, listed(a="1", late="1"), probed=True)
    assert names(probed.changes()) == ["late"]
    whole = ServerDefinitions("srv", "key", memory)
    see(whole, listed(a="2"), complete=False)
    see(whole, listed(a="2", b="1"))
    whole.called()
    see(whole, listed(a="2", b="1", c="1"))
    assert names(whole.changes()) == ["a", "c"]
    later = ServerDefinitions("srv", "key", memory)
    see(later, listed(a="1", b="1", d="1"))
    assert names(later.changes()) == ["d"]


def test_a_probed_session_adds_nothing_to_one_without_a_probe():
    definitions = ServerDefinitions("srv")
    see(definitions, listed(a="1"))
    definitions.called()
    see(definitions, listed(a="1", b="1"), probed=True)
    see(definitions, listed(a="1", b="1"))
    assert names(definitions.changes()) == ["b"]


def test_a_refusal_lasts_until_the_definition_changes_again():
    memory = Memory()
    definitions = ServerDefinitions("srv", "key", memory)
    see(definitions, listed(a="1"))
    see(definitions, listed(a="2"))
    definitions.refuse(definitions.changes())
    again = ServerDefinitions("srv", "key", memory)
    see(again, listed(a="2"))
    (change,) = again.changes()
    assert again.is_refused(change)
    see(again, listed(a="3"))
    (change,) = again.changes()
    assert not again.is_refused(change)


class Pinning(RuleBasedStateMachine):
    """In any sequence of lists, answers and restarts, only what a person accepted is accepted."""

    tools = st.dictionaries(st.sampled_from("abc"), st.sampled_from("123"), max_size=3)

    def __init__(self):
        super().__init__()
        self.memory = Memory()
        self.definitions = ServerDefinitions("srv", "key", self.memory)
        self.now = {}
        self.shown = []
        self.said_yes = {}
        self.open = True
        self.began = self.complete = self.called = False

    @rule(tools=tools, complete=st.booleans())
    def lists(self, tools, complete):
        self.now = listed(**tools)
        see(self.definitions, self.now, complete=complete)
        if self.open:
            for name, digest in digests_of(self.now).items():
                self.said_yes.setdefault(name, digest)
            self.began = self.began or complete or bool(self.now)
            self.complete = self.complete or complete
            self.open = not (self.complete and self.called)

    @rule()
    def a_tool_is_called(self):
        self.definitions.called()
        self.called = True
        self.open = self.open and not self.complete

    @rule()
    def a_person_looks(self):
        self.shown = list(self.definitions.changes())

    @precondition(lambda self: self.shown)
    @rule(data=st.data())
    def a_person_accepts(self, data):
        chosen = data.draw(st.sets(st.sampled_from(range(len(self.shown)))))
        changes = [self.shown[number] for number in sorted(chosen)]
        self.definitions.accept(changes)
        self.said_yes |= {one.name: one.digest for one in changes}

    @precondition(lambda self: self.shown)
    @rule()
    def a_person_refuses(self):
        self.definitions.refuse(self.shown)

    @rule()
    def mcptui_starts_again(self):
        self.definitions = ServerDefinitions("srv", "key", self.memory)
        self.now, self.shown = {}, []
        self.complete = self.called = False
        if self.began:
            self.open = False

    @invariant()
    def only_what_was_accepted_is_offered(self):
        for name, digest in digests_of(self.now).items():
            assert self.definitions.is_accepted(name, digest) is (self.said_yes.get(name) == digest)
            assert (name in names(self.definitions.changes())) is (self.said_yes.get(name) != digest)


TestPinning = Pinning.TestCase
TestPinning.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)


def test_a_server_that_renames_its_tools_each_time_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("tui.core.permission.definitions.MAX_ACCEPTED", 10)
    definitions = ServerDefinitions("srv")
    for number in range(20):
        tools = listed(stays="", **{f"tool{number}_{one}": "" for one in range(4)})
        see(definitions, tools)
        assert accepted(definitions, tools) == list(tools)
    assert len(definitions._accepted) == 10


def test_a_list_longer_than_what_is_remembered_is_accepted_whole(monkeypatch):
    monkeypatch.setattr("tui.core.permission.definitions.MAX_ACCEPTED", 2)
    definitions = ServerDefinitions("srv")
    see(definitions, tools := listed(a="", b="", c=""))
    assert accepted(definitions, tools) == ["a", "b", "c"]
    definitions.called()
    see(definitions, tools := listed(a="1", b="1", c="1"))
    definitions.accept(definitions.changes())
    assert accepted(definitions, tools) == ["a", "b", "c"]
