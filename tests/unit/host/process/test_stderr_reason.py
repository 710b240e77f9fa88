import pytest

from tests.cases import each_case
from tui.host.process.stderr import reason_line

NPM_404 = """npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/nope - Not found
npm error 404
npm error 404  'nope@*' is not in this registry.
npm notice New minor version of npm available! 11.19.1 -> 11.21.2
npm error A complete log of this run can be found in: /root/.npm/_logs/2026-debug-0.log"""
NPM_NETWORK = """npm ERR! code ENOTFOUND
npm ERR! syscall getaddrinfo
npm ERR! errno ENOTFOUND
npm ERR! network request to https://registry.npmjs.org/x failed, reason: getaddrinfo ENOTFOUND
npm ERR! A complete log of this run can be found in:
npm ERR!     /root/.npm/_logs/2026-debug-0.log"""
NPM_CODE = """npm error code ESOMETHING
npm error A complete log of this run can be found in: /x.log"""
NPM_BIN = """npm error could not determine executable to run
npm error A complete log of this run can be found in: /x.log"""
DOCKER = """Unable to find image 'mcp/nothing:latest' locally
docker: Error response from daemon: pull access denied for mcp/nothing, repository does not exist.
Run 'docker run --help' for more information"""
NO_DAEMON = """docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.
Run 'docker run --help' for more information"""
UV = """  × No solution found when resolving tool dependencies:
  ╰─▶ Because nope-zz was not found in the package registry and you require
      nope-zz, we can conclude that your requirements are unsatisfiable.
hint: check the name"""
PYTHON = """Traceback (most recent call last):
  File "a.py", line 1, in <module>
    import nope
ModuleNotFoundError: No module named 'nope'
sys:1: ResourceWarning: unclosed file"""
NODE = """node:internal/modules/cjs/loader:1228
  throw err;
  ^
Error: Cannot find module '/x/y.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}
Node.js v22.1.0"""
MISSING_OPTION = """error: required option '--token <token>' not specified
Usage: server [options]
For more information, try '--help'."""


@each_case(
    ("log", "reason"),
    [
        (NPM_404, "npm error 404 Not Found - GET https://registry.npmjs.org/nope - Not found"),
        (
            NPM_NETWORK,
            "npm ERR! network request to https://registry.npmjs.org/x failed, reason: getaddrinfo ENOTFOUND",
        ),
        (NPM_CODE, "npm error code ESOMETHING"),
        (NPM_BIN, "npm error could not determine executable to run"),
        (
            DOCKER,
            "docker: Error response from daemon: pull access denied for mcp/nothing, "
            "repository does not exist.",
        ),
        (NO_DAEMON, "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock."),
        (
            UV,
            "Because nope-zz was not found in the package registry and you require nope-zz, "
            "we can conclude that your requirements are unsatisfiable.",
        ),
        (PYTHON, "ModuleNotFoundError: No module named 'nope'"),
        (NODE, "Error: Cannot find module '/x/y.js'"),
        (MISSING_OPTION, "error: required option '--token <token>' not specified"),
    ],
)
def test_the_line_with_the_cause_is_found_above_the_advice(log, reason):
    assert reason_line(log.splitlines()) == reason


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("", ""),
        ("listening\nbye", "bye"),
        ("error: retrying\nconnected\nconfiguration is missing", "configuration is missing"),
        ("Usage: server PATH", "Usage: server PATH"),
    ],
)
def test_without_an_error_line_the_last_line_is_the_reason(log, reason):
    assert reason_line(log.splitlines()) == reason


def test_an_error_that_the_server_survived_is_not_the_reason():
    log = "Traceback (most recent call last):\n  File 'a'\nValueError: x\nretrying\nERROR: no token"
    assert reason_line(log.splitlines()) == "ERROR: no token"
