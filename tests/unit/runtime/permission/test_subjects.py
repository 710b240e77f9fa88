"""Which models of files from elsewhere may be used."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.unit.runtime.permission.test_consent import Log, Person
from tui.core.permission.consent import ConsentQuestion
from tui.core.questions import Action
from tui.runtime.permission.consent import RunConsent, question_about
from tui.runtime.permission.subjects import model_subject
from tui.runtime.profiles import Profiles
from tui.settings.load import Loaded, load_text
from tui.settings.state.permission.stored_consents import StoredConsents, Subject

ENV = {"OPENAI_API_KEY": "sk-canary-5512abc", "OTHER": "sk-other-5512abc"}


def foreign(lines: str, env: Mapping[str, str] = ENV) -> Loaded:
    loaded = load_text(f'[models.x]\nmodel = "m"\n{lines}', Path("f.toml"), env)
    assert not loaded.errors
    return dataclasses.replace(loaded, source="the file /tmp/f.toml")


@each_case(
    "lines",
    [
        'base_url = "http://127.0.0.1:1/v1"\napi_key = "${OPENAI_API_KEY}"',
        'base_url = "http://127.0.0.1:1/v1"\napi_key_env = "OPENAI_API_KEY"',
        'base_url = "http://127.0.0.1:1/v1"\napi_key = "keyring:a/b"',
        'base_url = "http://127.0.0.1:1/v1"\nheaders = { X = "${OTHER}" }',
        'base_url = "http://127.0.0.1:1/v1"\nsystem = "${OTHER}"',
        'base_url = "http://127.0.0.1:1/${OTHER}"',
        'base_url = "http://10.0.0.1/v1"',
        'base_url = "https://api.openai.com/v1"',
        'base_url = "https://e.example/v1"',
    ],
)
def test_a_profile_that_needs_consent_gets_nothing_from_the_environment(lines: str):
    (profile,) = Profiles(foreign(lines), ENV).configured()
    assert profile.blocked and not profile.api_key and not profile.keychain and not profile.headers
    assert "5512abc" not in repr(dataclasses.asdict(profile))
    assert not Profiles(foreign(lines), ENV, trust=True).configured()[0].blocked


@pytest.mark.parametrize("host", ["127.0.0.1:11434", "localhost:1234", "[::1]:80", "app.localhost:1234"])
def test_a_local_endpoint_without_a_key_needs_no_consent_unless_its_name_may_resolve_elsewhere(host: str):
    subject = model_subject("x", foreign(f'base_url = "http://{host}/v1"'), ENV)
    assert (subject is None) is not host.startswith("app.")


def test_the_users_own_configuration_needs_no_consent():
    own = dataclasses.replace(foreign('base_url = "https://e.example/v1"'), source="")
    assert not Profiles(own, ENV).configured()[0].blocked


def gate(answer: Action, log: Log, *, trust: bool = False) -> RunConsent:
    person = Person(answer)
    return RunConsent(person, log, trust=trust)


def missing(loaded: Loaded, env: Mapping[str, str] = ENV) -> list[tuple[Subject, ConsentQuestion]]:
    store = StoredConsents()
    found = (model_subject(name, loaded, env) for name in loaded.settings.models)
    return [(one, question_about(one, store)) for one in found if one and not store.has(one.digest)]


async def test_consent_is_kept_for_the_address_and_the_source_of_the_key():
    lines = 'base_url = "https://e.example/v1"\napi_key = "${OPENAI_API_KEY}"'
    log = Log()
    assert not await gate(Action.DECLINE, log).ask_model(model_subject("x", foreign(lines), ENV))
    assert await gate(Action.ACCEPT, log).ask_model(model_subject("x", foreign(lines), ENV))
    assert [one.allowed for one in log.records] == [False, True]
    rotated = {"OPENAI_API_KEY": "sk-new-1234567", "OTHER": "y"}
    assert missing(foreign(lines, rotated), rotated) == []
    for changed in (lines.replace("OPENAI_API_KEY", "OTHER"), lines.replace("e.example", "f.example")):
        ((_, question),) = missing(foreign(changed))
        assert question.changes


async def test_a_refusal_lasts_until_the_model_changes_or_consent_is_given():
    loaded = foreign('base_url = "https://e.example/v1"')
    assert not await gate(Action.DECLINE, Log()).ask_model(model_subject("x", loaded, ENV))
    again = gate(Action.ACCEPT, Log())
    assert again.refused(model_subject("x", loaded, ENV))
    assert not again.refused(model_subject("x", foreign('base_url = "https://f.example/v1"'), ENV))
    assert not gate(Action.DECLINE, Log(), trust=True).refused(model_subject("x", loaded, ENV))
    assert await again.ask_model(model_subject("x", loaded, ENV))
    assert not again.refused(model_subject("x", loaded, ENV))


def test_the_question_shows_what_is_sent_where():
    lines = 'base_url = "https://e.example/v1"\napi_key = "${OPENAI_API_KEY}"\nheaders = { A = "${OTHER}" }'
    ((_, question),) = missing(foreign(lines))
    said = "\n".join((*question.lines(), *question.outcomes))
    assert "The model “models.x” comes from the file /tmp/f.toml" in said and "Use it?" in said
    assert "address  https://e.example/v1" in said and "key      value of OPENAI_API_KEY" in said
    assert "A = value of OTHER" in said and "5512abc" not in said
    assert "api_key gets the value of OPENAI_API_KEY, which looks like one of your keys." in said


def test_consent_covers_the_system_text_and_extra_body_which_are_shown():
    lines = 'base_url = "https://e.example/v1"\nsystem = "Obey ${OTHER}"\n'
    lines += 'extra_body = { a = [1], k = "${OTHER}" }'
    ((subject, question),) = missing(foreign(lines))
    said = "\n".join(question.lines())
    assert "model       m\n" in said and "system      Obey ${OTHER}\n" in said
    assert 'extra_body  {"a": [1], "k": "${OTHER}"}' in said and "5512abc" not in said
    assert "5512abc" not in str(subject.launch.summary("salt"))
    for old, new in (("Obey", "Hi"), ("[1]", "[2]")):
        assert model_subject("x", foreign(lines.replace(old, new)), ENV).digest != subject.digest


async def test_a_changed_system_prompt_needs_new_consent_and_is_shown():
    lines = 'base_url = "https://e.example/v1"\nsystem = "Be brief"'
    assert await gate(Action.ACCEPT, Log()).ask_model(model_subject("x", foreign(lines), ENV))
    assert missing(foreign(lines)) == []
    ((_, question),) = missing(foreign(lines.replace("brief", "evil")))
    assert list(question.changes) == ["system: was Be brief, is now Be evil"]


@pytest.mark.parametrize("line", ['system = "Be brief"', "extra_body = { a = 1 }"])
def test_a_local_model_with_additional_request_content_needs_consent(line: str):
    assert model_subject("x", foreign(f'base_url = "http://127.0.0.1:1/v1"\n{line}'), ENV) is not None


async def test_a_model_allowed_by_the_flag_is_recorded_once_without_a_question():
    log = Log()
    consent = gate(Action.ACCEPT, log, trust=True)
    lines = 'base_url = "https://e.example/v1"\napi_key = "${OPENAI_API_KEY}"'
    assert not await consent.ask_model(model_subject("x", foreign(lines), ENV))
    consent.has(model_subject("x", foreign(lines), ENV))
    consent.has(model_subject("x", foreign(lines), ENV))
    assert [(one.server, one.subject, one.by) for one in log.records] == [
        ("models.x", "use", "option --trust-config")
    ]


def test_without_the_flag_using_a_model_records_no_decision():
    log = Log()
    gate(Action.ACCEPT, log).has(model_subject("x", foreign('base_url = "https://e.example/v1"'), ENV))
    assert log.records == []
