"""Causes that a server's last words name, and what to do about each. Pure."""

import os
import re
from collections.abc import Mapping, Sequence

from tui.core.language.translate import N_, Message, as_message, message
from tui.core.text import clean_line
from tui.traffic.explain.crash import last_crash, last_words

_CODES = "ERR|ERROR|EXIT|CERTIFICATE|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|WRONG_VERSION|MODULE_NOT"
"""How names of errors begin, which look like those of variables."""

_VARIABLE = rf"\b((?!(?:{_CODES})_)[A-Z][A-Z0-9]*_[A-Z0-9_]{{1,60}}|[A-Z]{{3,40}}KEY)\b"
_ERROR = re.compile(r"(?i:error|exception|ERR_)")
_PROGRAM = (N_("the program {name} does not exist"), N_("install {name}, and check that it is on PATH"))
_CAUSES = (
    (
        r"Ok to proceed\?|\([yY]/[nN]\)|\[[yY]/[nN]\]",
        N_("it asks a question, and cannot be answered"),
        N_("give it the option that answers it, such as -y for npx"),
    ),
    (
        # Python names the first part that is missing: what is before its last dot is installed.
        r"No module named '?(\w{1,80})((?:\.\w{1,80})+)",
        N_("the installed {name} has no module {name}{more}: it is another version"),
        N_("pin the version of {name} that has it, or change the import"),
    ),
    (
        r"No module named '?([\w.]{1,80})",
        N_("the Python that runs it has no module {name}"),
        N_("install {name} in that Python, or use the Python of the server's environment in `command`"),
    ),
    (
        r"Cannot find (?:module|package) '([^']{1,200})'",
        N_("Node.js does not find {name}"),
        N_("run `npm install` (and the build) in the server's folder, or correct the path"),
    ),
    (
        r"can't open file '([^']{1,200})'",
        N_("the file {name} does not exist"),
        N_("write its absolute path, or set `cwd`"),
    ),
    (r"FileNotFoundError: (?:[^'\"]*['\"]([^'\"]{1,200})['\"])?", "", "{file}"),
    (r"\bENOENT: no such file or directory, \w+ '([^']{1,200})'", "", "{file}"),
    (r"\bspawn (\S{1,120}) ENOENT", *_PROGRAM),
    (r"\b(?:ba|z|da|k)?sh: (?:line )?(?:\d+: )?([\w./@-]{1,120}): (?:command )?not found", *_PROGRAM),
    (
        r"(?:NameError: name '|ReferenceError: )([\w$]{1,80})'? is not defined",
        N_("the code uses {name}, which is not defined"),
        N_("correct that line"),
    ),
    (
        r"(?i:KeyError: ')" + _VARIABLE,
        N_("the variable {name} is not set"),
        "{env}",
    ),
    (
        _VARIABLE
        + r"[^.\n]{0,60}(?i:\bnot (?:set|defined|found|provided|configured)|required|missing|undefined)",
        N_("the variable {name} is not set"),
        "{env}",
    ),
    (
        r"\b(?i:missing|required?s?|set|provide|define|need)\b[^.\n]{0,60}" + _VARIABLE,
        N_("the variable {name} is not set"),
        "{env}",
    ),
    (
        r"(?i:EADDRINUSE|address already in use)",
        N_("its port is in use"),
        N_("end the program that uses it, perhaps this server itself, or configure another port"),
    ),
    (
        r"npm (?:error|ERR!).{0,20}(?:404|E404)|No solution found|not found in the package registry",
        N_("the package does not exist in its registry"),
        N_("check its name and version"),
    ),
    (
        r"Cannot use import statement|Unexpected token 'export'|ERR_REQUIRE_ESM|ERR_UNKNOWN_FILE_EXTENSION",
        N_("the script is not of the kind that Node.js expects"),
        N_("run its built .js file, or use tsx for TypeScript"),
    ),
    (
        r"JSONDecodeError|SyntaxError: .*\bJSON\b",
        N_("it reads something that is not valid JSON"),
        N_("correct the file, or the response, that it reads there"),
    ),
    (
        r"ImportError: cannot import name '([\w.]{1,80})'|not provide an export named '([\w$]{1,80})'",
        N_("{name} cannot be imported"),
        N_("check the version of the package"),
    ),
    (
        r"(?:Indentation|Tab)Error|SyntaxError: .*(?:never closed|unterminated|unmatched|does not match)",
        N_("the script has a syntax error"),
        N_("correct that line"),
    ),
    (
        r"SyntaxError",
        N_("the script has a syntax error, or is written for another version of the interpreter"),
        N_("correct that line, or check the interpreter"),
    ),
    (
        r"(?:EACCES|Permission denied|PermissionError)",
        N_("permission denied"),
        N_("check the owner and mode of the file"),
    ),
    (
        r"\b(?:ENOTFOUND|EAI_AGAIN)\b|gaierror|getaddrinfo|(?i:could not resolve host|failed to resolve '|"
        r"name or service not known|temporary failure in name resolution|nodename nor servname|"
        r"no address associated with hostname)",
        N_("it cannot resolve a host name"),
        N_("check the name and the network"),
    ),
    (
        r"returned non-zero exit status 127\b",
        N_("the shell does not find a command that it runs"),
        N_("install the command, and check that it is on PATH"),
    ),
    (
        r"ECONNREFUSED|ConnectionRefusedError|\[Errno (?:111|61)\] Connection refused",
        N_("a service that it connects to refuses the connection"),
        N_("start that service, or correct its address"),
    ),
)


def cause_of(lines: Sequence[str], given: Mapping[str, str], ours: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the cause that the last lines of a log name, the line of code, and what to do; or "" each.

    `given` are the variables of the server, `ours` those of this process, which it does not get.
    """
    words = last_words(lines)
    place = next((word for word in words if word.startswith("at ")), "")
    others = lines[-20:]
    if last_crash(lines) is not None:  # what it only logged before is not why it crashed
        others = [line for line in others if _ERROR.search(line)]
    for text in (*words, *reversed(others)):
        for pattern, cause, fix in _CAUSES:
            if found := re.search(pattern, text[:2000]):
                names = [clean_line(one, 120) for one in found.groups() if one is not None]
                named = next(iter(names), "")
                if "{file}" in fix:
                    cause, fix = _of_file(named, lines)
                if "{env}" in fix:
                    if named in given:
                        continue
                    fix = _set_variable(named, is_ours=named in ours)
                more = names[1] if len(names) > 1 else ""
                step = fix if isinstance(fix, Message) else as_message(fix, name=named)
                return as_message(cause, name=named, more=more), clean_line(place, 200), step
    return "", clean_line(place, 200), ""


def _of_file(named: str, lines: Sequence[str]) -> tuple[str, str]:
    """Return the cause and what to do if something named does not exist: a file, or a program to start."""
    if any(name in line for line in lines for name in ("_execute_child", "subprocess_exec", "_execvpe")):
        if os.path.isabs(named):  # Python names the folder in the same way
            return N_("the program or folder {name} does not exist"), N_("create it, or correct the path")
        return _PROGRAM if named else (N_("a program that it starts does not exist"), N_("install it"))
    if os.path.isabs(named):
        return N_("the file {name} does not exist"), N_("create it, or correct the path")
    cause = (
        N_("the file {name} does not exist in the folder where it starts")
        if named
        else N_("a file does not exist")
    )
    return cause, N_("write its absolute path, or set `cwd`")


_LISTENS = re.compile(
    r"(?i:\b(?:running|listening|serving|listens|available|started|transport\b.{0,30}?)\b"
    r".{0,30}?\b(?:on|at):? )"
    r"(?:(https?://[^\s,;)\"']+)|(?i:port:? ?)(\d{2,5})\b)"
)
_ANYWHERE = re.compile(r"//(?:0\.0\.0\.0|\[::\])(?=[:/]|\Z)")


def served_at(lines: Sequence[str]) -> str:
    """Return the URL at which a server serves HTTP, as its log says, one with a path first; or ""."""
    found = [one for line in lines for one in _LISTENS.finditer(line[:2000])]
    urls = [one[1] or f"http://127.0.0.1:{one[2]}" for one in found]
    urls = [_ANYWHERE.sub("//127.0.0.1", clean_line(url, 200).rstrip("./")) for url in urls]
    return next((url for url in urls if "/" in url.partition("//")[2]), urls[-1] if urls else "")


def _set_variable(name: str, *, is_ours: bool) -> str:
    if is_ours:
        setting = f'env = {{ {name} = "${{{name}}}" }}'
        return message("servers do not inherit it: set `{setting}`", setting=setting)
    setting = f'env = {{ {name} = "…" }}'
    return message("set `{setting}`, or --env {name}=… for a command", setting=setting, name=name)
