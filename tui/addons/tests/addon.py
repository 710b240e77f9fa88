"""What this add-on brings: `mcptui test`, `keep` and `diff`. Loads the standard library only."""

import argparse

from tui.commands.help_text import invalid
from tui.commands.shared_options import (
    RECORDING,
    add_common,
    add_question_options,
    add_unconfigured,
    add_wide,
    count,
    fill_addon_flags,
    flag,
    option,
    repeatable,
    report,
    seconds,
)

_TEST_USAGE = """\
mcptui test [FILE|FOLDER ...] [OPTION ...]
       mcptui test [FILE|FOLDER ...] [OPTION ...] -- COMMAND [ARG ...]"""
_TEST_ABOUT = """\
Run the kept calls of *.mcp.toml files and compare the results. Without names, run every file below the
current directory. A test file is never changed, except with --review and --init.

  mcptui test                              every file below this directory
  mcptui test -k rain -x                   until the first failure
  mcptui test a.mcp.toml -- python new.py  the cases with another server
  mcptui test --report junit=report.xml    a report for CI
  mcptui test --review                     accept what changed, one by one
  mcptui test --fault flaky                which cases survive faults
  mcptui test --fuzz -- python server.py   arguments that break its tools
  mcptui test --load 20 -- python s.py     20 calls at once for 30 s

--fuzz [TOOL ...] calls read-only tools with valid, extreme and invalid arguments. --load N [TOOL NAME=VALUE
...] calls a tool, the kept calls of a file, or read-only tools whose schemas have examples. Both take the
server of a test file, --server NAME or URL, or a command after --.

Commands, URLs and variables of a file from elsewhere are shown and need your consent. Without a terminal, use
--trust-config or a command after --.
"""
_TEST_EPILOG = """\
exit codes:
  0    all passed
  1    a case failed or could not be run, --fuzz found a fault, or a call
       of --load failed
  2    invalid usage or file, a report cannot be written, or nothing was run
  5    a server could not be started
  130  interrupted
"""


_KEEP_ABOUT = """\
Keep the newest call of mcptui call, read, prompt or list as a test, with its result. What varies from call to
call becomes a placeholder, such as <number>. The case is added to the test file of its server. Of a list, the
names are kept.

  mcptui call get_weather location=Hangzhou -- python server.py
  mcptui keep                                    adds a case to server.mcp.toml
  mcptui test                                    runs it

To find what varies, a tool that is marked read-only or idempotent is called twice more, if you agree. If the
file already has the call, its case gets the new expectation, if you agree.
"""
_KEEP_EPILOG = """\
exit codes:
  0    the call was kept, or is kept already
  2    no such call, it has a secret, the file cannot be written, or a case
       was not replaced
"""


def _fill_keep(keep: argparse.ArgumentParser) -> None:
    option(keep, "recording", "RECORDING", f"keep the newest call in it: {RECORDING}", nargs="?")
    option(keep, "-o --output", "FILE", "the test file (default: that of the server, in its project)")
    option(
        keep, "--entry", "N", "keep this call of RECORDING, by the number of one of its entries", type=count
    )
    option(keep, "--name", "NAME", "the name of the case (default: made of the call)")
    text = "do not ask: call a read-only or idempotent tool twice more, and replace what a case expects"
    flag(keep, "--yes", text)
    add_common(keep, model=False)


def _fill_test(test: argparse.ArgumentParser) -> None:
    option(test, "words", "FILE|FOLDER", "test files, or folders with them (default: this folder)", nargs="*")
    text = "only cases with all these words in their name, and those whose values they use"
    option(test, "-k", "WORDS", text, dest="matching")
    repeatable(test, "--tag", "TAG", "only cases with this tag (repeatable: any of them)")
    flag(test, "-x", "stop at the first failure")
    text = "protocol era: as the server supports (default), legacy, modern, or both, one after the other"
    option(test, "--era", None, text, choices=("both", "legacy", "modern"))
    option(test, "--server", "NAME", "use this configured server instead of the server of the file")
    flag(test, "--fresh", "start a process for each case")
    option(test, "--jobs", "N", "files to run at the same time (default: 2)", type=count, default=2)
    flag(test, "--strict-time", "a case that takes longer than its `within` fails")
    option(test, "--record", "FILE", "also write the recording of the run to FILE (.mcptrace)")
    fill_addon_flags(test, "test")
    add_common(test)
    reports = test.add_argument_group("reports")
    text = "write a report: junit, md, … (repeatable)"
    option(reports, "--report", "KIND=FILE", text, action="append", default=[], type=report)
    add_wide(reports)
    flag(reports, "--json", "print one JSON object per line")
    flag(reports, "--coverage", "print which tools, arguments and values the cases use")
    option(reports, "--min-coverage", "PERCENT", "fail if the coverage is lower", type=_percent)
    turns = test.add_argument_group("turn cases")
    option(turns, "--replay-models", "FILE", "answer as the models did in this recording, without a key")
    other = test.add_argument_group("instead of a run")
    others = other.add_mutually_exclusive_group()
    flag(others, "--review", "run, then show each difference and ask whether to accept it")
    flag(others, "--init", "write a test file with one case for each read-only tool of a server")
    option(others, "--to", None, "write a Python test with the same cases", choices=("pytest",))
    flag(others, "--lock", "write the locks of the files, or show what changed and update them")
    flag(others, "--schema", "print the JSON Schema of test files")
    flag(others, "--fuzz", "call tools with generated arguments, and shrink those that break them")
    text = "make N calls at once for a time, and print throughput, percentiles and errors"
    option(others, "--load", "N", text, type=count)
    text = "with --init: also try tools of this name, though the server does not mark them as read-only"
    repeatable(other, "--read-only", "NAME", text)
    flag(other, "--yes", "with --init, --to, --lock and --fuzz: do not ask for confirmation")
    _fill_fuzz(test.add_argument_group("fuzz and load"))


def _fill_fuzz(group: argparse._ActionsContainer) -> None:
    flag(group, "--all", "also fuzz tools that are not marked as read-only, after a question")
    option(group, "--runs", "N", "generated arguments for each tool (default: 100)", type=count, default=100)
    option(group, "--seed", "N", "generate the same arguments as a run with this seed", type=count)
    text = "how long to fuzz (default: 60s) or to load (default: 30s): 30s, 5m"
    option(group, "--for", "TIME", text, dest="duration", type=_milliseconds)
    text = "a call that takes longer, without progress, hangs (default: 5)"
    option(group, "--seconds", "N", text, type=seconds, default=5.0)
    text = "megabytes that a response to a fuzzed call may have (default: 4)"
    option(group, "--max-answer", "MB", text, type=count, default=4)
    flag(group, "--keep", "add a case for each finding to the test file of the server")
    flag(group, "--remote", "allow --load for a server that is not on this computer")


_DIFF_USAGE = """\
mcptui diff A B [OPTION ...]
       mcptui diff A [OPTION ...] -- COMMAND [ARG ...]"""
_DIFF_ABOUT = """\
Compare the definitions of two servers: tools, prompts, resources, instructions, capabilities. A and B are
locks (mcptui test --lock), recordings, configured servers or URLs.

  mcptui diff weather.lock.json -- python server.py   the lock with a server
  mcptui diff old.mcptrace new.mcptrace               two recordings
  mcptui diff weather https://example.com/mcp         two servers

Verdicts: breaking (existing calls may fail), routing (a text or name by which a model chooses), compatible,
cosmetic, and suspicious (hidden text, or a tool that claims to be safer than before).
"""
_DIFF_EPILOG = """\
exit codes:
  0    the same, or only changes that do not fail
  1    a change that fails (--fail)
  2    invalid usage, or a file that cannot be read
  5    a server could not be started
  130  interrupted
"""


def _fill_diff(diff: argparse.ArgumentParser) -> None:
    option(diff, "words", "A|B", "a lock, a recording, a configured server or a URL", nargs="*")
    text = "verdicts that fail, separated by commas, or none (default: breaking,suspicious)"
    option(diff, "--fail", "VERDICTS", text, default="breaking,suspicious")
    flag(diff, "--shape", "ignore descriptions, titles and instructions")
    option(diff, "--server", "NAME", "which server of a recording that has several")
    flag(diff, "--json", "print one JSON object")
    text = "also write a report: md (Markdown)"
    option(diff, "--report", "md=FILE", text, action="append", default=[], type=report)
    add_question_options(diff)
    add_unconfigured(diff.add_argument_group("for a URL or a command that is not configured"))
    add_common(diff, model=False)


def _milliseconds(text: str) -> float:
    from tui.addons.tests.suite.durations import milliseconds  # not needed for the help

    if (found := milliseconds(text)) is None:
        raise invalid("a time such as 30s or 5m", text)
    return found


def _percent(text: str) -> float:
    try:
        found = float(text.removesuffix("%"))
    except ValueError:
        found = -1.0
    if not 0 <= found <= 100:
        raise invalid("a percentage from 0 to 100", text)
    return found


_EXPECTATIONS = ("expect_tool", "forbid_tool", "max_latency", "no_errors")


def _fill_traffic(traffic: argparse.ArgumentParser) -> None:
    found = traffic.add_argument_group("expectations (exit code 1 if one does not hold)")
    tool = "TOOL is a name or a pattern, also SERVER/TOOL"
    text = f"a tool that must be called (repeatable). {tool}"
    option(found, "--expect-tool", "TOOL", text, action="append")
    option(found, "--forbid-tool", "TOOL", "a tool that must not be called (repeatable)", action="append")
    text = "the most that each call of a tool, or of any, may take, e.g. get_*=800ms (repeatable)"
    option(found, "--max-latency", "[TOOL=]TIME", text, action="append")
    flag(found, "--no-errors", "no request may fail")


def _check_nothing(args: argparse.Namespace) -> None:
    """Expectations can be combined with each other and with every filter."""


BRINGS = {
    "command": {
        "test": "tui.addons.tests.run.start:test",
        "keep": "tui.addons.tests.keep.command:keep",
        "diff": "tui.addons.tests.contract.diff:diff",
    },
    "parser": {
        "diff": {
            "after": "list",
            "live": True,
            "fill": _fill_diff,
            "help": "compare the definitions of two servers",
            "usage": _DIFF_USAGE,
            "description": _DIFF_ABOUT,
            "epilog": _DIFF_EPILOG,
        },
        "keep": {
            "after": "list",
            "fill": _fill_keep,
            "help": "keep the newest call as a test",
            "description": _KEEP_ABOUT,
            "epilog": _KEEP_EPILOG,
        },
        "test": {
            "after": "list",
            "live": True,
            "fill": _fill_test,
            "help": "run kept calls as tests",
            "usage": _TEST_USAGE,
            "description": _TEST_ABOUT,
            "epilog": _TEST_EPILOG,
        },
    },
    "flags": {
        "traffic": {
            "fill": _fill_traffic,
            "deeds": _EXPECTATIONS,
            "several": True,
            "check": _check_nothing,
            "run": "tui.addons.tests.recorded.command:expect",
        }
    },
    "service": {
        "saved calls": "tui.addons.tests.keep.saved:SuiteSavedCalls",
        "pytest items": "tui.addons.tests.python.items:SuiteFile",
        "pytest servers": "tui.addons.tests.python.items:servers_of",
        "pytest assertion": "tui.addons.tests.python.server:assertion",
        "tests tab": "tui.addons.tests.screens.cases_tab:CasesTab",
        "kept calls": "tui.addons.tests.screens.kept_calls:kept_calls",
        "case text": "tui.addons.tests.screens.keep_places:case_text",
        "kept call": "tui.addons.tests.keep.by_hand:kept_call",
        "kept check": "tui.addons.tests.run.kept_check:kept_check",
    },
}
