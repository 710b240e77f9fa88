"""`mcptui run` with endpoints that stream in unusual ways: a real process, a real server, real HTTP."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import DONE, Answer, Endpoint, chunk, refuses, says
from tests.protocol.command import Done, mcptui

WEATHER_SERVER = Path(__file__).with_name("weather_server.py")
WEATHER = "weather__get_weather"
NYC = '{"location": "NYC"}'


async def run(folder: Path, *replies: Any) -> tuple[Done, Endpoint]:
    async with Endpoint(replies) as endpoint:
        path = folder / "config.toml"
        path.write_text(
            f'[models.scripted]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n'
            f"[servers.weather]\ntrusted = true\ncommand = {json.dumps(sys.executable)}\n"
            f"args = [{json.dumps(str(WEATHER_SERVER))}]\n",
            encoding="utf-8",
        )
        done = await mcptui("run", "--json", "--config", str(path), "go")
    assert "Traceback" not in done.err + done.out
    return done, endpoint


def called(arguments: Any, number: int = 0, name: str = WEATHER) -> Any:
    function = {"name": name, "arguments": arguments}
    return chunk(tool_calls=[{"index": number, "id": f"c{number}", "function": function}])


def text_of(done: Done) -> str:
    return "".join(found["text"] for found in done.of_type("text"))


def told(endpoint: Endpoint) -> list[str]:
    """Return the tool messages sent to the model."""
    return [one["content"] for one in endpoint.requests[-1].json["messages"] if one["role"] == "tool"]


@pytest.mark.parametrize("finish", ["length", "tool_calls"])
async def test_a_truncated_call_is_never_run_and_the_model_is_told_why(tmp_path: Path, finish: str):
    half = Answer([called('{"location": "NY'), chunk(finish)])
    done, endpoint = await run(tmp_path, half, says("I see."))
    assert done.code == 0 and text_of(done) == "I see."
    assert len(told(endpoint)) == 1 and "the arguments were truncated" in told(endpoint)[0]


async def test_a_broken_stream_runs_no_call_keeps_its_text_and_is_not_restarted(tmp_path: Path):
    broken = Answer([chunk(content="Let me look"), called(NYC)], done=False)
    done, endpoint = await run(tmp_path, broken, says("never"))
    assert done.code == 4 and text_of(done) == "Let me look" and len(endpoint.requests) == 1
    assert done.of_type("tool_result") == [] and "ended early" in done.of_type("error")[0]["message"]


async def test_a_failure_before_any_output_is_retried(tmp_path: Path):
    busy = refuses(503, "busy", headers={"Retry-After": "0"})
    broken = Answer(raw=b'data: {"error": {"message": "overloaded", "code": 529}}\n\n')
    done, endpoint = await run(tmp_path, busy, broken, says("Hello"))
    assert done.code == 0 and text_of(done) == "Hello" and len(endpoint.requests) == 3


async def test_parallel_calls_over_the_limit_of_one_reply_are_not_run(tmp_path: Path):
    flood = Answer([*(called(f'{{"location": "place {n}"}}', n) for n in range(2000)), chunk("tool_calls")])
    done, endpoint = await run(tmp_path, flood, says("Enough."))
    assert text_of(done) == "Enough."
    assert sum("not run" not in text for text in told(endpoint)) <= 16 < len(told(endpoint))


async def test_invalid_arguments_are_reported_to_the_model(tmp_path: Path):
    bad = {
        '{"location": NaN}': "not valid JSON",
        '{"location": 1e999}': "not valid JSON (1e999 is out of range)",
        '{"a":' * 50_000 + "1" + "}" * 50_000: "not valid JSON",
        '{"location":' * 900 + "1" + "}" * 900: "not run",
        "[" * 900 + "]" * 900: "expected a JSON object",
        "NYC": "not valid JSON",
    }
    reply = Answer([*(called(text, number) for number, text in enumerate(bad)), chunk("tool_calls")])
    done, endpoint = await run(tmp_path, reply, says("Sorry."))
    assert done.code == 0 and text_of(done) == "Sorry."
    assert all(why in text for why, text in zip(bad.values(), told(endpoint), strict=True))


async def test_calls_without_index_and_under_a_wrong_finish_reason_are_run(tmp_path: Path):
    entry = {"id": "", "function": {"name": WEATHER, "arguments": {"location": "NYC"}}}
    odd = Answer(
        raw=b": wait\r\n\r\ndata:"
        + json.dumps(chunk("stop", tool_calls=[entry])).encode()
        + b"\r\n\r\n"
        + DONE
    )
    done, endpoint = await run(tmp_path, odd, says("Windy."))
    assert done.code == 0 and "windy" in told(endpoint)[0].lower()


async def test_a_completion_that_is_not_a_stream_is_an_answer(tmp_path: Path):
    whole = {"choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}]}
    done, _ = await run(tmp_path, Answer(body=whole))
    assert done.code == 0 and text_of(done) == "Whole."


async def test_an_html_page_instead_of_an_answer_is_reported_with_what_to_check(tmp_path: Path):
    page = Answer(raw=b"<html><title>Sign in</title></html>", headers={"content-type": "text/html"})
    done, _ = await run(tmp_path, page)
    assert done.code == 4 and "Sign in" in str(done.of_type("error")[0])
    assert "base_url" in str(done.of_type("error")[0])
