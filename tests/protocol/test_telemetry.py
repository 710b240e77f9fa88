"""Telemetry of commands, at a strict collector."""

import json
import sys
from pathlib import Path

import pytest

from tests.configurations import config_file, model, server, table
from tests.endpoint import Endpoint, calls, says
from tests.protocol.command import Done, doubtful, mcptui, python, recordings
from tests.unit.addons.telemetry.collector import Collector, attributes_of, checked_traces, collecting

WEATHER = Path(__file__).parents[2] / "sample_config" / "servers" / "weather.py"
KEY = "tk-4kq9ZtYw7Hs2Vb8XrMd3Jp6c"


def config(folder: Path, collector: Collector, *tables: str, **telemetry: object) -> str:
    headers = {"authorization": "Bearer ${TELEMETRY_KEY}"}
    settings = table("telemetry", **({"endpoint": collector.url, "headers": headers} | telemetry))
    return config_file(folder, settings, server("weather", WEATHER, trusted=True), *tables)


async def called(path: str, *words: str) -> Done:
    return await mcptui("--config", path, "call", "weather", *words, TELEMETRY_KEY=KEY)


async def test_a_call_is_at_the_collector_when_the_command_has_ended(tmp_path: Path):
    async with collecting() as collector:
        done = await called(config(tmp_path, collector), "get_weather", "location=NYC")
        assert (done.code, done.err) == (0, "· starting weather\n")
        found = attributes_of(collector.by_name["tools/call get_weather"])
        assert found["network.transport"] == "pipe"
        assert "NYC" not in str(collector.spans)
        assert sorted(collector.metrics) == ["mcp.client.operation.duration", "mcp.client.session.duration"]
        assert {asked.headers["authorization"] for asked in collector.server.asked} == {f"Bearer {KEY}"}


async def test_content_is_sent_if_it_is_turned_on(tmp_path: Path):
    async with collecting() as collector:
        await called(config(tmp_path, collector, content=True), "get_weather", "location=NYC")
        found = attributes_of(collector.by_name["tools/call get_weather"])
        assert json.loads(found["gen_ai.tool.call.arguments"]) == {"location": "NYC"}


async def test_a_turn_has_one_trace_with_its_requests_and_calls(tmp_path: Path):
    script = [calls(("weather__get_weather", {"location": "NYC"})), says("Sunny.")]
    async with collecting() as collector, Endpoint(script) as endpoint:
        path = config(tmp_path, collector, model(endpoint), "[traffic]\ntraceparent = true\n")
        done = await mcptui("--config", path, "run", "Weather in NYC?", TELEMETRY_KEY=KEY)
        assert done.code == 0, done.err
        root = collector.by_name["invoke_agent mcptui"]
        below = sorted(span.name for span in collector.spans if span.parent_span_id == root.span_id)
        assert below == ["chat m", "chat m", "execute_tool get_weather"]
        assert {span.trace_id for span in collector.spans if span.name in below} == {root.trace_id}
        assert "gen_ai.client.inference.duration" in collector.metrics

        exported = await mcptui("traffic", str(recordings()[-1]), "--export", "otlp")
        spans = [one for line in exported.out.splitlines() for one in checked_traces(json.loads(line))]
        assert {span.span_id for span in spans} == {span.span_id for span in collector.spans}
        body = json.loads(recorded_call())["params"]["_meta"]["traceparent"].split("-")
        call = collector.by_name["execute_tool get_weather"]
        assert [call.trace_id.hex(), call.span_id.hex()] == body[1:3]


def recorded_call() -> bytes:
    from tui.storage.recordings.reader import RecordingReader

    reader = RecordingReader(recordings()[-1])
    seq = next(one.seq for one in reader.columns(0, 1000) if one.method == "tools/call")
    body = reader.body(seq)
    reader.close()
    return body


async def test_a_collector_that_is_gone_is_told_once_and_changes_nothing_else(tmp_path: Path):
    async with collecting() as collector:
        path = config(tmp_path, collector)
    done = await called(path, "get_weather", "location=NYC")
    assert done.code == 0 and "NYC" in done.out
    assert done.err.count("telemetry was not exported") == 1 and KEY not in done.err


async def test_somebody_elses_configuration_sends_nothing(tmp_path: Path):
    async with collecting() as collector:
        path = config(tmp_path, collector)
        args = ("--config", path, "config", "check")
        done = await doubtful(*args, TELEMETRY_KEY=KEY)
        assert "telemetry" in done.out + done.err
        with_server = (
            "--config",
            path,
            "call",
            "get_weather",
            "location=NYC",
            "--",
            sys.executable,
            str(WEATHER),
        )
        called = await doubtful(*with_server, TELEMETRY_KEY=KEY)
        assert called.code == 0, called.err
        assert collector.server.asked == []


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [("http://collector.example:4318", "is not encrypted"), ("ws://127.0.0.1:1", "https or http")],
)
async def test_an_endpoint_is_encrypted_or_on_this_machine(endpoint: str, said: str, tmp_path: Path):
    path = config_file(tmp_path, table("telemetry", endpoint=endpoint))
    done = await mcptui("--config", path, "config", "check")
    assert done.code != 0 and said in done.out + done.err


async def test_a_key_in_an_answer_is_in_no_span_even_with_content(tmp_path: Path):
    async with collecting() as collector, Endpoint([says(f"The key is {KEY}.", pieces=1)]) as endpoint:
        path = config(tmp_path, collector, model(endpoint, api_key_env="MY_KEY"), content=True)
        keys = {"MY_KEY": KEY, "TELEMETRY_KEY": "other-k3y-2Vb8XrMd3"}
        done = await mcptui("--config", path, "run", f"Is it {KEY}?", **keys)
        assert done.code == 0
        assert collector.by_name["chat m"] and KEY not in str(collector.spans)
        exported = await mcptui("traffic", "--export", "otlp", "--with-content")
        assert "gen_ai.output.messages" in exported.out and KEY not in exported.out


async def test_an_export_needs_the_flag_of_its_own_format(tmp_path: Path):
    done = await mcptui("traffic", "--export", "jsonl", "--with-content")
    assert (done.code, done.err) == (2, "mcptui: --with-content requires --export otlp\n")


async def test_values_are_replaced_in_an_export_that_is_shared(tmp_path: Path):
    await mcptui("call", "get_weather", "location=NYC", "--", sys.executable, str(WEATHER))
    done = await mcptui("traffic", "--export", "otlp", "--with-content", "--redact")
    assert "get_weather" in done.out and "NYC" not in done.out


async def test_what_a_file_contains_is_said_as_it_is(tmp_path: Path):
    await mcptui("call", "get_weather", "location=NYC", "--", sys.executable, str(WEATHER))
    export = ("traffic", "--export", "otlp", "-o", str(tmp_path / "spans.jsonl"))
    assert "entries without arguments and results, " in (await mcptui(*export)).err
    said = (await mcptui(*export, "--with-content")).err
    assert " values, from the server “weather”" in said and "without" not in said


COUNTING = """
import sys
from opentelemetry import trace
import tui.host.sign_in.provider
from tui import cli

class Provider(trace.NoOpTracerProvider):
    def get_tracer(self, *args, **more):
        return Tracer()

class Tracer(trace.NoOpTracer):
    def start_span(self, name, *args, **more):
        print("span", name)
        return super().start_span(name, *args, **more)

    def start_as_current_span(self, name, *args, **more):
        print("span", name)
        return super().start_as_current_span(name, *args, **more)

trace.set_tracer_provider(Provider())
trace.get_tracer("t").start_span("of the test")
code = cli.main(["call", "get_weather", "location=NYC", "--", sys.executable, sys.argv[1]])
print("code", code)
"""


async def test_the_sdk_makes_no_spans_beside_those_of_mcptui():
    """Its sessions make some as soon as a program sets up OpenTelemetry, but mcptui uses none of them."""
    done = await python("-c", COUNTING, str(WEATHER))
    assert [line for line in done.out.splitlines() if line.startswith("span")] == ["span of the test"]
    assert done.out.endswith("code 0\n"), done
