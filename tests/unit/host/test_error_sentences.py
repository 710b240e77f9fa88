"""The message when a server does not start, exits, or rejects a call."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.cases import each_case
from tui.core.errors import ServerError
from tui.core.servers import EraChoice, ServerSpec, StopReason
from tui.host import error_sentences as explain
from tui.host.frames.id_gate import NO_RESPONSE, RESULT_TOO_LARGE
from tui.host.frames.link import NO_ANSWER, NoCommonVersion, RequestError
from tui.host.process.stderr import StderrTail

SPEC = ServerSpec("weather", "/usr/bin/python", ("weather.py", "--token", "a b"))


def transport(**more):
    usual = {
        "exit": None,
        "stderr": StderrTail(),
        "messages": SimpleNamespace(noise=0, invalid_words="", first_noise=""),
        "gate": SimpleNamespace(stray=""),
        "incomplete": 0,
        "noise_hint": "",
        "fatal": "",
        "next_step": "",
        "reach": None,
        "leftovers": (),
        "is_reopening": False,
    }
    return SimpleNamespace(**(usual | more))


def ended(code=1, signal="", words="exited with code 1 after 0.3 s"):
    return SimpleNamespace(code=code, signal=signal, sentence=lambda: words)


def log(*lines):
    tail = StderrTail()
    tail.feed("\n".join(lines).encode())
    return tail


def failure(given, error=None, seconds=None, died=False, theirs=(), spec=SPEC):
    return explain.start_failure(
        spec,
        given,
        error,
        seconds=seconds,
        died=died,
        waiting_for="initialize",
        versions=(theirs, ("2026-07-28", "2025-11-25")),
    )


def test_an_exit_during_startup_is_reported_with_command_exit_code_and_last_line():
    given = transport(exit=ended(), stderr=log("ModuleNotFoundError: No module named 'httpx'"))
    found = failure(given, died=True)
    assert found.reason is StopReason.FAILED_TO_START
    assert found.detail == (
        "`python weather.py --token '[redacted:token]'` exited with code 1 after 0.3 s."
        " Last line: ModuleNotFoundError: No module named 'httpx'"
    )
    assert found.next_step == "Press l for its log, r to retry."


def test_the_log_line_with_the_cause_is_quoted_instead_of_advice():
    said = log("npm error code E404", "npm error 404 Not Found", "npm error A complete log is in: x.log")
    found = failure(transport(exit=ended(), stderr=said), died=True)
    assert found.detail.endswith(" Log: npm error 404 Not Found")


def test_output_that_is_not_json_rpc_is_quoted():
    invalid = "2 invalid messages, first: a response without a result"
    messages = SimpleNamespace(noise=12, invalid_words=invalid, first_noise="Starting…")
    found = failure(transport(messages=messages), seconds=60)
    assert found.detail == (
        "no response to initialize within 60 s."
        " It sent 2 invalid messages, first: a response without a result."
        " It wrote text to stdout that is not JSON-RPC (12 lines, first: “Starting…”)."
    )


def test_an_error_of_the_transport_is_told_with_its_next_step():
    error = ServerError("`foo` was not found on PATH.", where="x", next_step="Check command.")
    found = failure(transport(), error)
    assert (found.detail, found.next_step) == ("`foo` was not found on PATH.", "Check command.")


def test_unsupported_versions_of_both_sides_are_named():
    error = NoCommonVersion(-32603, "unsupported protocol version")
    found = failure(transport(), error, theirs=("2099-01-01", "2099-01-01"))
    assert found.detail == (
        "no common protocol version. The server supports 2099-01-01, mcptui supports 2026-07-28, 2025-11-25."
    )


def test_versions_of_another_host_are_not_called_those_of_mcptui():
    error = NoCommonVersion(-32603, "unsupported protocol version")
    found = failure(transport(), error, theirs=("2099-01-01",), spec=replace(SPEC, act_as="codex"))
    assert "codex supports" in found.detail and "mcptui" not in found.detail
    assert found.next_step == "Update the server, or remove `act_as`."


def test_an_invalid_response_is_reported_without_its_payload():
    found = failure(transport(), RequestError(-32603, f"{NO_ANSWER}: it names no protocol version"))
    assert found.detail == "its response to initialize is invalid: it names no protocol version."


def test_a_process_that_mcptui_ended_is_not_reported_as_exited():
    found = failure(
        transport(exit=ended(None, "SIGTERM", "was terminated by SIGTERM")), ValueError("nonsense")
    )
    assert found.detail == "nonsense."
    assert (found.code, found.signal) == (None, "")


def test_the_model_reads_how_a_server_exited_and_its_last_log_lines():
    given = transport(exit=ended(17, words="exited with code 17 after 2 s"), stderr=log("a", "panic"))
    text = explain.died_in_call("weather", given)
    assert text == (
        "The server “weather” exited with code 17 after 2 s during the call."
        " The call may or may not have taken effect.\n"
        "Last lines of its log:\na\npanic"
    )


@pytest.mark.parametrize("fatal", ["HTTP 502 (Bad Gateway)", "the server closed it (code 1008, “no!”)."])
def test_the_model_reads_why_a_connection_failed_as_a_sentence(fatal):
    text = explain.died_in_call("far", transport(fatal=fatal))
    why = fatal.rstrip(".")
    assert text == (
        f"The server “far” failed during the call: {why}. The call may or may not have taken effect."
    )


def test_a_long_last_line_is_cut_between_words_so_that_no_partial_secret_remains():
    given = transport(exit=ended(17), stderr=log("first", "last " + "configured-value" * 30))
    assert explain.died_in_call("weather", given).endswith(":\nfirst\nlast…")


def test_a_protocol_error_is_bounded_and_cleaned():
    error = RequestError(-32000, "\x1b[2J" + "x" * 100_000)
    text = explain.protocol_failure(error)
    assert text.startswith("The server returned error -32000: ␛[2Jxxx")
    assert len(text) < 400


def test_an_unusable_response_is_reported_as_invalid():
    error = RequestError(-32603, f"{NO_ANSWER}: not JSON")
    assert explain.protocol_failure(error) == "The server's response is invalid: not JSON."


def test_a_long_command_is_truncated_in_the_middle():
    spec = ServerSpec("s", "npx", ("-y", "x" * 200, "end"))
    shown = explain.command_line(spec)
    assert len(shown) == 80
    assert shown.startswith("npx -y xxx") and shown.endswith("end")


@pytest.mark.parametrize(("left", "words"), [((), ""), ((5,), "process 5"), ((5, 6), "2 processes")])
def test_leftover_processes_are_reported(left, words):
    assert words in explain.left_behind(transport(leftovers=left))


@pytest.mark.parametrize(
    "error", [KeyError("method"), RuntimeError("dictionary changed size"), ImportError("no")]
)
def test_errors_of_our_own_are_internal_errors(error):
    assert explain.is_defect(error)


@each_case(
    "error",
    [
        RequestError(-32000, "Connection closed"),
        ServerError("`x` was not found on PATH."),
        NoCommonVersion(-32603, "unsupported protocol version"),
        TimeoutError(),
        BrokenPipeError(),
    ],
)
def test_errors_caused_by_a_server_are_not_internal_errors(error):
    assert not explain.is_defect(error)


@pytest.mark.parametrize(
    ("era", "why"),
    [
        (EraChoice.MODERN, 'initialize was not tried because era is "modern".'),
        (EraChoice.LEGACY, 'server/discover was not tried because era is "legacy".'),
    ],
)
def test_a_configured_era_is_named_before_the_servers_own_output(era, why):
    given = transport(exit=ended(), stderr=log("Starting..."), is_final=False)
    found = failure(given, died=True, spec=replace(SPEC, era=era))
    assert found.detail.endswith(f"exited with code 1 after 0.3 s. {why} Last line: Starting...")


def test_an_error_from_the_server_is_unchanged():
    answer = explain.failed_answer(RequestError(-32002, "no such thing", {"uri": "a://b"}))
    assert answer.error == {"code": -32002, "message": "no such thing", "data": {"uri": "a://b"}}
    assert not answer.problem and not answer.lost


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-32600, NO_ANSWER + " JSON nested too deeply"),
        (RESULT_TOO_LARGE, "result too large: 9"),
        (NO_RESPONSE, "HTTP 503."),
    ],
)
def test_an_error_created_by_mcptui_is_not_reported_as_one_from_the_server(code, message):
    answer = explain.failed_answer(RequestError(code, message))
    assert answer.error is None and answer.problem and answer.failure
