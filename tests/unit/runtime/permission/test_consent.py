"""Which servers may start: nothing runs without consent, whatever the order of operations."""

import asyncio
import dataclasses
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.conftest import until
from tui.core.errors import UsageError
from tui.core.permission.consent import ConsentQuestion, ConsentsQuestion, question_of
from tui.core.ports import DecisionKind, DecisionRecord
from tui.core.questions import Action, Question, QuestionAnswer, Questioner
from tui.core.servers import ServerSpec
from tui.runtime.permission import consent as module
from tui.runtime.permission.consent import RunConsent
from tui.runtime.permission.subjects import launch_of, server_subject
from tui.settings.locations import default_servers
from tui.settings.state.permission.stored_consents import StoredConsents

SPEC = ServerSpec("weather", sys.executable, ("-m", "weather"), source="the file /tmp/mcp.json")


class Person(Questioner):
    """Gives the answers of the test, and records the questions."""

    def __init__(self, *answers: Action) -> None:
        self.answers = list(answers)
        self.asked: list[ConsentQuestion] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def ask(self, question: Question) -> QuestionAnswer:
        self.asked.append(question)
        await self.may_answer.wait()
        return QuestionAnswer(self.answers.pop(0))


class Log:
    def __init__(self) -> None:
        self.records: list[DecisionRecord] = []

    def add(self, record: DecisionRecord) -> None:
        self.records.append(record)


def gate(folder: Path, person: Person, log: Log | None = None, *, trust: bool = False) -> RunConsent:
    return RunConsent(person, log or Log(), StoredConsents(folder / "consents.json"), trust=trust)


async def test_consent_is_asked_for_once_and_kept(tmp_path: Path):
    person, log = Person(Action.ACCEPT), Log()
    consent = gate(tmp_path, person, log)
    assert not consent.allows(SPEC)
    assert await consent.ask(SPEC)
    assert consent.allows(SPEC) and await consent.ask(SPEC)
    assert gate(tmp_path, Person()).allows(SPEC)
    assert len(person.asked) == 1
    (record,) = log.records
    assert (record.kind, record.server) == (DecisionKind.CONSENT, "weather")
    assert record.allowed and record.by == "key"


async def test_a_refusal_lasts_until_the_command_changes_or_consent_is_given(tmp_path: Path):
    assert not await gate(tmp_path, Person(Action.DECLINE)).ask(SPEC)
    again = gate(tmp_path, Person(Action.ACCEPT))
    assert again.refuses(SPEC) and not again.allows(SPEC)
    assert not again.refuses(dataclasses.replace(SPEC, args=("-m", "other")))
    assert not gate(tmp_path, Person(), trust=True).refuses(SPEC)
    assert await again.ask(SPEC)
    assert not again.refuses(SPEC) and not gate(tmp_path, Person()).refuses(SPEC)


async def test_a_question_without_an_answer_is_not_a_refusal(tmp_path: Path):
    assert not await gate(tmp_path, Person(Action.CANCEL)).ask(SPEC)
    assert not gate(tmp_path, Person()).refuses(SPEC)


async def test_without_a_user_there_is_neither_consent_nor_a_decision(tmp_path: Path):
    log = Log()
    consent = RunConsent(Questioner(), log, StoredConsents(tmp_path / "c.json"))
    assert not await consent.ask(SPEC)
    assert log.records == []


async def test_the_question_about_a_changed_server_shows_the_difference(tmp_path: Path):
    person = Person(Action.ACCEPT, Action.DECLINE)
    consent = gate(tmp_path, person)
    await consent.ask(SPEC)
    changed = dataclasses.replace(SPEC, args=("-m", "evil"))
    assert not await consent.ask(changed)
    assert person.asked[1].changes == ("argument 2: was weather, is now evil",)
    assert consent.allows(SPEC) and not consent.allows(changed)


async def test_a_truncated_consent_file_is_reported_with_and_without_a_user(tmp_path: Path):
    assert await gate(tmp_path, Person(Action.ACCEPT)).ask(SPEC)
    path = tmp_path / "consents.json"
    path.write_text(path.read_text()[:-20])
    with pytest.raises(UsageError) as refused:
        gate(tmp_path, Person()).require([SPEC, *THREE])
    assert str(refused.value).count("consents.damaged") == 1
    person = Person(Action.ACCEPT, Action.ACCEPT)
    consent = gate(tmp_path, person)
    assert await consent.ask(SPEC) and await consent.ask(THREE[0])
    first, second = person.asked
    assert "consents.damaged" in first.damage and "never" not in first.head
    assert second.damage == "" and (tmp_path / "consents.damaged").exists()


async def test_two_starts_of_a_server_ask_one_question(tmp_path: Path):
    person = Person(Action.ACCEPT)
    consent = gate(tmp_path, person)
    assert await asyncio.gather(consent.ask(SPEC), consent.ask(SPEC)) == [True, True]
    assert len(person.asked) == 1


class Several(Person):
    """Also answers questions about several servers."""

    def __init__(self, answer: Action, *answers: Action, each: bool = False) -> None:
        super().__init__(*answers)
        self.answer = QuestionAnswer(answer, each=each)
        self.asked_together: list[list[str]] = []

    async def ask(self, question: Question) -> QuestionAnswer:
        if not isinstance(question, ConsentsQuestion):
            return await super().ask(question)
        self.asked_together.append([one.server for one in question.questions])
        await self.may_answer.wait()
        return self.answer


THREE = [dataclasses.replace(SPEC, name=name, args=("-m", name)) for name in ("a", "b", "c")]


async def started(consent: RunConsent, specs: list[ServerSpec]) -> list[bool]:
    consent.together(specs)
    return await asyncio.gather(*(consent.ask(one) for one in specs))


@pytest.mark.parametrize(("answer", "is_yes"), [(Action.ACCEPT, True), (Action.DECLINE, False)])
async def test_servers_of_one_file_share_a_question_and_each_has_a_decision(
    tmp_path: Path, answer: Action, is_yes: bool
):
    person, log = Several(answer), Log()
    consent = gate(tmp_path, person, log)
    assert await started(consent, THREE) == [is_yes] * 3
    assert person.asked_together == [["a", "b", "c"]] and not person.asked
    assert [(one.server, one.allowed, one.by, one.asked) for one in log.records] == [
        (name, is_yes, "key", True) for name in "abc"
    ]
    later = gate(tmp_path, Person())
    assert [(later.allows(one), later.refuses(one)) for one in THREE] == [(is_yes, not is_yes)] * 3


async def test_servers_put_off_do_not_start_and_no_answer_is_saved(tmp_path: Path):
    log = Log()
    consent = gate(tmp_path, Several(Action.CANCEL), log)
    assert await started(consent, THREE) == [False] * 3
    assert not log.records and not any(gate(tmp_path, Person()).refuses(one) for one in THREE)


async def test_choosing_one_by_one_asks_about_each_server(tmp_path: Path):
    person = Several(Action.CANCEL, Action.ACCEPT, Action.DECLINE, Action.ACCEPT, each=True)
    assert await started(gate(tmp_path, person), THREE) == [True, False, True]
    assert [one.server for one in person.asked] == ["a", "b", "c"]


async def test_only_servers_of_one_file_without_consent_share_a_question(tmp_path: Path):
    person = Several(Action.ACCEPT, *[Action.ACCEPT] * 3)
    consent = gate(tmp_path, person)
    assert await consent.ask(THREE[0])
    other = dataclasses.replace(THREE[1], source="the file /tmp/other.json")
    assert await started(consent, [THREE[0], other, THREE[2]]) == [True] * 3
    assert person.asked_together == [] and len(person.asked) == 3


async def test_withdrawing_a_server_keeps_the_question_about_the_others(tmp_path: Path):
    person = Several(Action.ACCEPT)
    person.may_answer.clear()
    consent = gate(tmp_path, person)
    starting = asyncio.create_task(started(consent, THREE))
    await until(lambda: person.asked_together)
    consent.withdraw("b")
    await until(lambda: len(person.asked_together) == 2)
    person.may_answer.set()
    assert await starting == [True, False, True]
    assert person.asked_together[1] == ["a", "c"]
    assert not consent.allows(THREE[1])


async def test_a_server_that_changes_during_the_shared_question_gets_a_new_one(tmp_path: Path):
    person = Several(Action.ACCEPT, Action.DECLINE)
    consent = gate(tmp_path, person)
    consent.together(THREE[:2])
    changed = dataclasses.replace(THREE[0], args=("-m", "evil"))
    assert await asyncio.gather(consent.ask(changed), consent.ask(THREE[1])) == [False, True]
    assert len(person.asked) == 1 and not consent.allows(changed)


async def test_an_answer_about_several_servers_is_not_used_for_a_later_start(tmp_path: Path):
    person = Several(Action.ACCEPT, Action.DECLINE)
    consent = gate(tmp_path, person)
    consent.together(THREE[:2])
    assert await consent.ask(THREE[0])
    assert not await consent.ask(THREE[1])


async def test_a_server_too_long_for_the_shared_question_gets_its_own(tmp_path: Path):
    long = [dataclasses.replace(one, args=("x" * 15_000, one.name)) for one in THREE]
    person = Several(Action.ACCEPT, Action.DECLINE)
    assert await started(gate(tmp_path, person), long) == [True, True, False]
    assert person.asked_together == [["a", "b"]] and [one.server for one in person.asked] == ["c"]


async def test_the_question_about_a_long_command_is_prepared_in_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    where: list[bool] = []

    def question(*given: Any) -> ConsentQuestion:
        where.append(threading.current_thread() is threading.main_thread())
        return question_of(*given)

    monkeypatch.setattr(module, "question_of", question)
    consent = gate(tmp_path, Person(Action.ACCEPT, Action.ACCEPT))
    long = dataclasses.replace(SPEC, name="long", args=("\u200b" * 100_000,))
    consent.together([long, SPEC])
    assert await consent.ask(long) and await consent.ask(SPEC)
    assert where == [True, False, True]


async def test_a_start_that_is_cancelled_withdraws_its_question(tmp_path: Path):
    person = Person(Action.ACCEPT, Action.ACCEPT)
    person.may_answer.clear()
    consent = gate(tmp_path, person)
    asking = asyncio.create_task(consent.ask(SPEC))
    await until(lambda: person.asked)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    person.may_answer.set()
    assert not consent.allows(SPEC)
    assert await consent.ask(SPEC)


async def test_consent_that_cannot_be_saved_lasts_until_the_end_of_the_run(tmp_path: Path):
    (tmp_path / "consents.json").mkdir()
    consent = gate(tmp_path, Person(Action.ACCEPT))
    assert await consent.ask(SPEC)
    assert consent.allows(SPEC)
    assert not gate(tmp_path, Person()).allows(SPEC)


def test_without_a_user_the_recorded_refusal_shows_the_command_and_the_flag(tmp_path: Path):
    log = Log()
    consent = gate(tmp_path, Person(), log)
    with pytest.raises(UsageError) as refused:
        consent.require([SPEC, ServerSpec("own", "x")])
    said = str(refused.value)
    assert "  weather\n" in said and f"{sys.executable} -m weather\n" in said
    assert "/tmp/mcp.json" in said and "--trust-config" in said
    assert "own" not in said.replace("your own", "").replace("its own", "")
    consent.require([ServerSpec("own", "x")])
    assert [(one.server, one.allowed, one.by) for one in log.records] == [
        ("weather", False, "default (no screen to ask on)")
    ]


def test_a_refusal_shows_all_servers_that_one_flag_would_start(tmp_path: Path):
    specs = [dataclasses.replace(SPEC, name=f"weather{number}") for number in range(25)]
    with pytest.raises(UsageError) as refused:
        gate(tmp_path, Person()).require(specs)
    assert all(f"  {spec.name}\n" in str(refused.value) for spec in specs)


def test_the_shipped_samples_are_recognized_by_their_command(tmp_path: Path):
    weather, notes, _ = default_servers()
    foreign = dataclasses.replace(weather, name="anything", source="the file /tmp/mcp.json")
    assert gate(tmp_path, Person()).allows(foreign)
    assert server_subject(dataclasses.replace(notes, source="x")) is None


def sample(**fields: Any) -> ServerSpec:
    return dataclasses.replace(default_servers()[0], source="x", **fields)


def test_a_server_that_only_resembles_a_sample_needs_consent(tmp_path: Path):
    script = default_servers()[0].args[0]
    copy = tmp_path / "sample_config" / "servers" / "weather.py"
    copy.parent.mkdir(parents=True)
    copy.write_text("")
    assert server_subject(sample(args=(str(copy),))) is not None
    assert server_subject(sample(args=(script, "more"))) is not None
    assert server_subject(sample(args=("-c", script))) is not None
    assert server_subject(sample(command="/tmp/python3")) is not None
    assert server_subject(sample(env={"PYTHONPATH": "/tmp"})) is not None
    assert server_subject(sample(env={"MCPTUI_NOTES_FILE": "/home/x/.bashrc"})) is not None
    assert server_subject(sample(cwd="/tmp")) is not None
    link = tmp_path / "servers" / "weather.py"
    link.parent.mkdir()
    link.symlink_to(copy)
    assert server_subject(sample(args=(str(link),))) is not None


def test_the_program_is_resolved_as_when_it_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "bin" / "tool"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "bin")
    assert launch_of(ServerSpec("s", "tool")).program == ""  # a relative folder is not searched
    monkeypatch.setenv("PATH", str(program.parent))
    assert launch_of(ServerSpec("s", "tool")).program == str(program)
    assert launch_of(ServerSpec("s", "tool", env={"PATH": "/nowhere"})).program == ""
    assert launch_of(ServerSpec("s", "./bin/tool", cwd=str(tmp_path))).program == str(program)


def linked(folder: Path) -> tuple[ServerSpec, dict[str, Path]]:
    """Return a server whose program, folder and script are symbolic links, and the links."""
    folder = folder.resolve()
    for name in ("one", "two"):
        (folder / name).mkdir()
        for file in ("tool", "script.py"):
            (folder / name / file).write_text("#!/bin/sh\n")
            (folder / name / file).chmod(0o755)
    links = {"program": folder / "tool", "folder": folder / "here", "argument 2": folder / "s.py"}
    links["program"].symlink_to(folder / "one/tool")
    links["folder"].symlink_to(folder / "one")
    links["argument 2"].symlink_to(folder / "one/script.py")
    args = ("-u", str(links["argument 2"]), "script.py")
    return ServerSpec("s", str(links["program"]), args, cwd=str(links["folder"]), source="x"), links


@pytest.mark.parametrize("place", ["program", "folder", "argument 2"])
async def test_a_symlink_to_another_target_needs_new_consent_and_the_target_is_shown(
    tmp_path: Path, place: str
):
    spec, links = linked(tmp_path)
    person = Person(Action.ACCEPT, Action.DECLINE)
    consent = gate(tmp_path, person)
    assert await consent.ask(spec)
    target = links[place].readlink()
    links[place].unlink()
    links[place].symlink_to(str(target).replace("/one", "/two"))
    assert not consent.allows(spec) and not await consent.ask(spec)
    here = str(Path(spec.command).parent)
    asked = next(one for one in person.asked[1].changes if place in one)
    assert here + "/one" in asked and "leads now to " + here + "/two" in asked


def test_the_question_shows_the_targets_of_symlinks(tmp_path: Path):
    spec, _ = linked(tmp_path)
    facts = dict(question_of(spec.name, spec.source, launch_of(spec)).facts)
    assert "argument 2 resolves to " in facts["links"] and "/one/script.py" in facts["links"]
    assert "folder resolves to " in facts["links"] and "program resolves to " in facts["links"]


async def test_a_symlink_changed_during_the_question_needs_new_consent(tmp_path: Path):
    spec, links = linked(tmp_path)
    person = Person(Action.ACCEPT, Action.DECLINE)
    person.may_answer.clear()
    consent = gate(tmp_path, person)
    asking = asyncio.create_task(consent.ask(spec))
    await until(lambda: person.asked)
    links["program"].unlink()
    links["program"].symlink_to(tmp_path / "two/tool")
    person.may_answer.set()
    assert not await asking
    assert len(person.asked) == 2 and "program" in person.asked[1].changes[0]


CHANGES: list[dict[str, Any]] = [
    {"args": ("-m", "weather")},
    {"args": ("-m", "evil")},
    {"env": {"A": "1"}},
    {"env": {"A": "2"}},
    {"cwd": "/"},
    {"command": "/bin/sh"},
    {"url": "https://example.com"},
    {"headers": {"A": "1"}},
]


class ConsentMachine(RuleBasedStateMachine):
    """Servers change, start, are answered and withdrawn, and mcptui restarts: whatever runs has consent."""

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.spec = SPEC
        self.agreed: set[str] = set()
        self.consent = gate(Path(self.folder.name), Person())

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(change=st.sampled_from(CHANGES), name=st.sampled_from(("weather", "notes")))
    def change(self, change: dict[str, Any], name: str) -> None:
        self.spec = dataclasses.replace(SPEC, name=name, **change)

    @rule(more=st.sampled_from(CHANGES))
    def change_more(self, more: dict[str, Any]) -> None:
        self.spec = dataclasses.replace(self.spec, **more)

    @rule(answer=st.sampled_from(Action))
    def start(self, answer: Action) -> None:
        person = Person(answer)
        self.consent.questioner = person
        allowed = asyncio.run(self.consent.ask(self.spec))
        digest = launch_of(self.spec).digest()
        assert len(person.asked) == (digest not in self.agreed)
        if person.asked and answer is Action.ACCEPT:
            self.agreed.add(digest)
        assert allowed == (digest in self.agreed)

    @rule()
    def withdraw(self) -> None:
        async def withdrawn() -> bool:
            person = Person(Action.ACCEPT)
            person.may_answer.clear()
            self.consent.questioner = person
            asking = asyncio.create_task(self.consent.ask(self.spec))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self.consent.withdraw(self.spec.name)
            return await asking

        assert asyncio.run(withdrawn()) == (launch_of(self.spec).digest() in self.agreed)

    @rule()
    def start_mcptui_again(self) -> None:
        self.consent = gate(Path(self.folder.name), Person())

    @invariant()
    def only_what_was_agreed_to_may_run(self) -> None:
        assert self.consent.allows(self.spec) == (launch_of(self.spec).digest() in self.agreed)


TestConsentMachine = ConsentMachine.TestCase
TestConsentMachine.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
