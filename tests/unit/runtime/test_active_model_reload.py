"""Reloading models: what was chosen stays, and what needs consent is asked about."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tests.unit.runtime.stage import active
from tui.core.ports import Undecided
from tui.core.questions import Action, Question, QuestionAnswer, Questioner
from tui.runtime import profiles
from tui.runtime.permission.consent import RunConsent
from tui.settings.load import Loaded, load_text

MODELS = "".join(
    f'[models.{name}]\nmodel = "m-{name}"\nbase_url = "http://127.0.0.1:9/v1"\ncontext_window = 9000\n'
    for name in "abc"
)


def loaded(default: str, models: str = MODELS, **fields: Any) -> Loaded:
    found = load_text(f'default_model = "{default}"\n{models}', Path("config.toml"), {})
    return replace(found, **fields)


class Person(Questioner):
    """Answers a question about consent when a test says so."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.open = 0
        self.answer: asyncio.Future[Action] = asyncio.get_running_loop().create_future()

    async def ask(self, question: Question) -> QuestionAnswer:
        self.asked.append(question.server)
        self.open += 1
        try:
            return QuestionAnswer(await asyncio.shield(self.answer))
        finally:
            self.open -= 1


async def test_a_model_selected_while_a_reload_looks_for_the_default_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, go_on, choose = active(), asyncio.Event(), profiles.Profiles.chosen
    await model.begin(loaded("a"))

    async def slow(found: profiles.Profiles, asked: str | None) -> Any:
        await go_on.wait()
        return await choose(found, asked)

    monkeypatch.setattr(profiles.Profiles, "chosen", slow)
    reloading = asyncio.create_task(model.reload(loaded("c")))
    await asyncio.sleep(0)
    switching = asyncio.create_task(model.switch("b"))
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(reloading, switching)
    assert model.label == "m-b"
    assert await model.reload(loaded("a")) == ["Still using m-b, which was selected instead of the default."]
    await model.close()


async def test_a_model_of_the_command_line_that_is_added_later_is_used() -> None:
    model = active(model="late")
    await model.begin(loaded("a"))
    assert model.error is not None and not model.label
    await model.reload(
        loaded("a", MODELS + MODELS.replace("models.a", "models.late").partition("[models.b")[0])
    )
    assert model.profile is not None and model.profile.name == "late" and not model.problems
    await model.close()


async def test_a_default_that_cannot_be_used_is_noted_and_the_current_model_stays() -> None:
    model = active()
    await model.begin(loaded("a"))
    (told,) = await model.reload(loaded("gone"))
    assert "“gone” not found" in told and told.endswith("Still using m-a.")
    assert model.label == "m-a"
    there = MODELS.replace("models.a]", "models.gone]").partition("[models.b")[0]
    await model.reload(loaded("gone", MODELS + there))
    assert model.profile is not None and model.profile.name == "gone"
    await model.close()


@pytest.mark.parametrize("answer", [Action.ACCEPT, Action.DECLINE])
async def test_a_new_default_that_needs_consent_is_used_after_the_answer(
    tmp_path: Path, answer: Action
) -> None:
    person = Person()
    consent = RunConsent(person, Undecided())
    model = active(consent)
    await model.begin(loaded("a"))
    foreign = MODELS.replace("context_window = 9000", 'system = "Be brief"\ncontext_window = 9000')
    assert list(await model.reload(loaded("b", foreign, source="the file x"))) == []
    assert model.needs_consent and model.label == "m-a"
    told: list[str] = []
    model.begin_consent(told.extend)
    await until(lambda: person.open == 1)
    await model.reload(loaded("c", foreign, source="the file x"))
    await until(lambda: person.open == 0, what="the question about b is withdrawn")
    model.begin_consent(told.extend)
    await until(lambda: person.open == 1)
    person.answer.set_result(answer)
    await until(lambda: person.open == 0 and model.needs_consent is (answer is Action.DECLINE))
    assert person.asked == ["models.b", "models.c"]
    await until(lambda: model.label == ("m-c" if answer is Action.ACCEPT else "m-a"))
    assert told == []
    await model.close()


async def test_a_reload_before_the_first_model_was_chosen_is_not_undone() -> None:
    model = active()
    await model.reload(loaded("b"))
    await model.begin(loaded("a"))
    assert model.profile is not None and model.profile.name == "b"
    await model.close()


async def test_a_model_of_the_command_line_stays_when_the_file_has_another_default() -> None:
    model = active(model="b")
    await model.begin(loaded("a"))
    assert await model.reload(loaded("c")) == ["Still using m-b, which was selected instead of the default."]
    await model.close()


async def test_a_chosen_model_that_left_the_file_gives_way_to_the_default() -> None:
    model = active()
    await model.begin(loaded("a"))
    await model.switch("c")
    told = await model.reload(loaded("a", MODELS.partition("[models.c")[0]))
    assert told == ["The model “c” is no longer configured. Using m-a."]
    await model.close()


async def test_a_chosen_model_id_stays_when_its_profile_changes() -> None:
    model = active()
    await model.begin(loaded("a"))
    await model.switch("a", "other")
    await model.reload(loaded("a", MODELS.replace("9000", "8000")))
    assert model.label == "other"
    await model.close()
