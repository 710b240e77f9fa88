"""The models that a case is run with, on a real runtime, server and endpoint."""

from pathlib import Path
from typing import Any

from tests.configurations import model
from tests.endpoint import Endpoint, calls, says
from tests.protocol.turn_stage import asks, kept_recording, turns
from tui.addons.tests.run.outcome import State
from tui.addons.tests.turns.case_models import CaseModel
from tui.core.ports import Usage
from tui.model.endpoints.profile import ModelProfile

CALLED = calls(("kept__get_weather", {"location": "Hangzhou"}))
RAIN = says("Light rain, 22 °C.")
EXPECTED = ("get_weather location~hangzhou",)
EMPTY = "[models]\n"


async def test_a_model_that_does_not_exist_is_an_error_with_its_name_and_the_others_run(tmp_path: Path):
    async with Endpoint([CALLED, RAIN]) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        missing, found = await stage.run(asks(models=("scriptet", "scripted", "scripted"), name="rain"))
    assert (missing.name, missing.state) == ("rain (scriptet)", State.ERROR)
    assert "“scriptet” not found. Did you mean “scripted”?" in missing.problem
    assert (found.name, found.state) == ("rain (scripted)", State.PASSED)


async def test_without_a_model_a_case_is_skipped_and_says_how_to_set_one_up(tmp_path: Path):
    async with turns(tmp_path, EMPTY) as stage:
        found = await stage.one(asks(calls=EXPECTED))
    assert (found.state, found.problem) == (State.SKIPPED, "no model: set up a profile, or use --demo")


async def test_a_profile_without_its_key_is_no_model_unless_the_case_names_it(tmp_path: Path):
    async with Endpoint([RAIN]) as endpoint:
        async with turns(tmp_path, model(endpoint, api_key_env="NOWHERE_KEY")) as stage:
            skipped, error = await stage.run(asks(), asks(models=("scripted",)))
    why = "scripted has no key: the environment variable NOWHERE_KEY is not set"
    assert (skipped.state, skipped.problem) == (State.SKIPPED, f"no model: {why}")
    assert (error.state, error.problem) == (State.ERROR, why)
    assert not endpoint.requests


async def test_the_demo_model_answers_if_the_command_line_says_so(tmp_path: Path):
    async with turns(tmp_path, EMPTY, demo=True) as stage:
        question = 'call get_weather {"location": "Hangzhou"}'
        found = await stage.one(asks(question, calls=EXPECTED, models=("other",), runs=2, cost=0.0))
    assert (found.state, found.problem) == (State.PASSED, "")
    assert found.cell is not None and (found.cell.model, found.cell.passed) == ("demo", 2)


async def test_a_model_of_the_command_line_replaces_those_of_the_case(tmp_path: Path):
    async with Endpoint([CALLED, RAIN]) as endpoint:
        tables = (model(endpoint, "one"), model(endpoint, "two"))
        async with turns(tmp_path, *tables, model="two") as stage:
            (found,) = await stage.run(asks(models=("one",)))
    assert found.cell is not None and found.cell.model == "two"


async def test_a_question_that_was_not_recorded_is_an_error(tmp_path: Path):
    async with Endpoint([CALLED, RAIN]) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        await stage.one(asks())
    recording = kept_recording(stage, tmp_path / "models.mcptrace")
    async with turns(tmp_path, EMPTY, replay=recording) as stage:
        other, named = await stage.run(asks("And in Beijing?"), asks(models=("gpt",)))
    assert other.state is State.ERROR
    assert "no reply to this question" in other.problem and "--record" in other.problem
    assert "no replies of gpt. It has replies of scripted" in named.problem


async def test_fewer_recorded_runs_than_wanted_are_noted(tmp_path: Path):
    async with Endpoint([CALLED, RAIN]) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        await stage.one(asks())
    recording = kept_recording(stage, tmp_path / "models.mcptrace")
    async with turns(tmp_path, EMPTY, replay=recording) as stage:
        found = await stage.one(asks(calls=EXPECTED, runs=5, passing=0.8, cost=1.0))
    assert found.state is State.PASSED
    assert found.notes == [
        "the cost was not compared: the model has no prices here",
        "the recording has 1 run of 5",
    ]


def test_the_demo_costs_nothing_and_a_profile_what_its_prices_say() -> None:
    profiles = (None, ModelProfile("p", "", "m"), ModelProfile("p", "", "m", price_in=2.0))
    chat: Any = object()
    costs = [CaseModel("m", one, chat).cost_of(Usage(1_000_000, 0)) for one in profiles]
    assert costs == [0.0, None, 2.0]
