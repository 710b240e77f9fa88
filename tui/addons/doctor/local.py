"""The steps of a local server before it starts: command, interpreter, version, environment, folder."""

import asyncio
import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from tui.addons.doctor.steps import Step
from tui.core.language.translate import message
from tui.core.permission.risks import unpinned
from tui.core.programs import find_program
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, mapping, object_in, text_in
from tui.core.units import and_more
from tui.host.process.process import KILL, server_environment
from tui.settings.server_warnings import command_warnings, common_warnings

VERSION_SECONDS = 5.0
_KNOWN = re.compile(
    r"(python|pypy|node|deno|bunx?|npx|npm|pnpm|uvx?|pipx|ruby|java|php|perl|docker|podman|bash|sh)[\d.]*\Z"
)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*\Z")
_SHELL = message("a shell script")
_LANGUAGES = {
    ".py": ("Python", "python3"),
    **dict.fromkeys((".js", ".mjs", ".cjs"), ("JavaScript", "node")),
    ".rb": ("Ruby", "ruby"),
    ".sh": (_SHELL, "sh"),
}
_RUNS = {
    "python": "Python",
    "pypy": "Python",
    "node": "JavaScript",
    "ruby": "Ruby",
    "bash": _SHELL,
    "sh": _SHELL,
}
_PLACEHOLDER = re.compile(
    r"<[^<>]*>|(?:your|my|insert|put|replace|enter)[-_ ].*|x{3,}|\.{3}|…|changeme|todo", re.IGNORECASE
)


class LocalSteps:
    """The steps of one server; nothing but `--version` of a known interpreter is run."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._env = server_environment(spec.env, "", os.environ)
        self._found = self._find(spec.command)
        self._runs = _tapped((spec.command, *spec.args))
        """The command that runs in the end: behind `mcptui tap`, what it starts."""
        self._program = self._found if self._runs[0] == spec.command else self._find(self._runs[0])
        self._shebang = _first_line(self._program or "")
        self._warnings = [*command_warnings(spec), *common_warnings(spec)]
        self._here = spec.starts_in or os.getcwd()
        self.advice = ""
        """What to do if a module is missing, because the project has a Python of its own; or ""."""

    def _find(self, command: str) -> str | None:
        return find_program(os.path.expanduser(command), self._env)

    def _warned(self, *keys: str) -> Iterator[tuple[str, str]]:
        for key, told, step in self._warnings:
            if key.partition(".")[0] in keys:
                yield f"{key} {told}" if "." in key else told, step

    def command(self) -> Step:
        """Find the program."""
        for seen, fix in self._warned("command"):
            return Step.failed("command", seen, fix)
        for word, found in ((self._spec.command, self._found), (self._runs[0], self._program)):
            if found is None:
                return missing(word, message("install it, or use its path"))
        assert self._found is not None
        return Step("command", self._found)

    async def interpreter(self, *, may_run: bool) -> Step:
        """Say which program really runs, and whether it fits the script; its version if it `may_run`."""
        program, name = self._program or "", "interpreter"
        if self._shebang:
            words = self._shebang.split()
            runner = words[1] if len(words) > 1 and os.path.basename(words[0]) == "env" else words[0]
            if (found := find_program(runner, self._env)) is None:
                lost = message(
                    "the first line of {file} names {program}, which does not exist",
                    file=program,
                    program=clean_line(runner, 80),
                )
                fix = message("reinstall it, or put an existing interpreter in `command`")
                return Step.failed(name, lost, fix)
            if self._is_script:
                program = found
        base = os.path.basename(program)
        known = _KNOWN.match(base)
        language, right = _LANGUAGES.get(os.path.splitext(self.script)[1], ("", ""))
        other = _RUNS.get(known[1], "") if known else ""
        if language and other and other != language:
            seen = message(
                "{program} cannot run {file}, which is {language}",
                program=base,
                file=clean_line(os.path.basename(self.script), 80),
                language=language,
            )
            return Step.failed(name, seen, message('set `command = "{program}"`', program=right))
        if not known:
            return Step(name, message("none: {name} is a program", name=base))
        version = await version_of(program, self._env) if may_run else ""
        runs = f"{version or base} ({program})"
        is_python = _PYTHON.match(os.path.basename(self._runs[0])) is not None
        if is_python and (problem := self._of_python(program, version)):
            return Step.warning(name, message("{seen}; {problem}", seen=runs, problem=problem[0]), problem[1])
        return Step(name, message("{seen}; the project also has a venv", seen=runs) if self.advice else runs)

    @property
    def _is_script(self) -> bool:
        """Whether the program is a script itself; a known interpreter that is one (pyenv) is none."""
        return bool(self._shebang) and _KNOWN.match(os.path.basename(self._program or "")) is None

    @property
    def script(self) -> str:
        """The file that an interpreter is to run, or "". A program that is a script takes it as it likes."""
        if self._is_script:
            return ""
        words = takewhile(lambda word: word not in ("-c", "-m"), self._runs[1:])
        files = (word for word in words if os.path.splitext(word)[1] in _LANGUAGES)
        return next((word for word in files if not word.startswith("-")), "")

    def _of_python(self, program: str, version: str) -> tuple[str, str] | None:
        """Return what is wrong with the Python of a project, and what to do."""
        place = Path(os.path.join(self._here, self.script)) if self.script else Path(self._here)
        for folder in [*place.parents][:3] if self.script else [place]:
            own = [folder / name / "bin" / "python" for name in (".venv", "venv")]
            if venv := next((one for one in own if one.exists()), None):
                if os.path.dirname(program) != str(venv.parent):
                    self.advice = message(
                        'use the Python of the project: `command = "{path}"`', path=str(venv)
                    )
                return None
            with suppress(OSError, ValueError):
                project = object_in(tomllib.loads((folder / "pyproject.toml").read_text("utf-8")), "project")
                wanted = text_in(mapping(project), "requires-python")
                least = re.match(r">=\s*3\.(\d+)", wanted)
                has = re.search(r"Python 3\.(\d+)", version)
                if least and has and int(has[1]) < int(least[1]):
                    seen = message("the project requires {version}", version=clean_line(wanted, 40))
                    return seen, message("use a newer Python")
        return None

    def version(self) -> Step:
        """Say whether the package that a launcher downloads is pinned."""
        spec = self._spec
        for seen, fix in self._warned("args"):
            if seen.startswith("npx "):
                return Step.warning("version", seen, fix)
        if package := unpinned([spec.command, *spec.args]):
            shown = clean_line(package, 80)
            fix = message("pin the version, so that every start runs the same code")
            return Step.warning("version", message("{package} is not pinned", package=shown), fix)
        return Step("version", message("pinned, or no package"))

    def environment(self) -> Step:
        """Name the variables, never their values."""
        own = self._spec.env
        for seen, fix in self._warned("env"):
            return Step.warning("environment", seen, fix)
        for name, value in own.items():
            if not value.strip() or _PLACEHOLDER.fullmatch(value.strip()):
                shown = clean_line(name, 80)
                seen = message("{name} is empty", name=shown)
                seen = message("{name} is a placeholder", name=shown) if value.strip() else seen
                return Step.warning("environment", seen, message("set its value"))
        names = [clean_line(name, 80) for name in own]
        inherited = message("{n} inherited", n=len(self._env) - len(own) - 1)
        if not names:
            return Step("environment", inherited)
        return Step("environment", message("{one}, {two}", one=and_more(names, 6), two=inherited))

    def folder(self) -> Step:
        """Say where it starts, and whether its script is there."""
        spec, here = self._spec, self._here
        if spec.cwd is not None and not os.path.isdir(spec.cwd):
            lost = message("{path} does not exist", path=clean_line(spec.cwd, 200))
            return Step.failed("folder", lost, message("correct `cwd`"))
        script = self.script
        if script and not os.path.isfile(os.path.join(here, script)):
            fix: str = message("write its absolute path, or set `cwd`")
            fix = message("correct the path") if os.path.isabs(script) else fix
            if not os.path.isabs(script) and os.path.isfile(script):
                fix = message(
                    'write "{path}", or set `cwd = "{folder}"`',
                    path=os.path.abspath(script),
                    folder=os.getcwd(),
                )
            fix = next((step for seen, step in self._warned("args") if script in seen), fix)
            shown = clean_line(script, 120)
            missed = message("{path} does not exist in {folder}", path=shown, folder=here)
            missed = message("{path} does not exist", path=shown) if os.path.isabs(script) else missed
            return Step.failed("folder", missed, fix)
        for seen, fix in self._warned("args", "cwd"):
            if not seen.startswith("npx "):
                return Step.warning("folder", seen, fix)
        if spec.folder and not spec.cwd:
            return Step("folder", message("{folder} (empty folder of its own)", folder=here))
        return Step("folder", here)


def missing(command: str, fix: str) -> Step:
    """Return the step of a command that does not exist; `fix` is for one that is searched on PATH."""
    if os.sep in command:
        seen = message("{path} does not exist", path=clean_line(command, 200))
        return Step.failed("command", seen, message("check the path"))
    return Step.failed("command", message("{name} not found on PATH", name=clean_line(command, 80)), fix)


def _tapped(words: Sequence[str]) -> Sequence[str]:
    """Return the command that `mcptui tap … -- COMMAND` starts; of any other command all its words."""
    for at, word in enumerate(words):
        is_ours = os.path.basename(word) == "mcptui" or words[max(at - 1, 0) : at + 1] == ("-m", "tui")
        if is_ours and "--" in words[at:]:
            end = words.index("--", at)
            return words[end + 1 :] or words if "tap" in words[at:end] else words
    return words


def _first_line(program: str) -> str:
    """Return the interpreter line of a script without its `#!`, or ""."""
    try:
        with open(program, "rb") as file:
            head = file.readline(512)
    except OSError:
        return ""
    return head[2:].decode("utf-8", "replace").strip() if head.startswith(b"#!") else ""


async def version_of(program: str, env: dict[str, str]) -> str:
    """Return the first line of what a program prints for `--version`, or ""."""
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=env,
            start_new_session=True,
        )
    except OSError:
        return ""
    try:
        async with asyncio.timeout(VERSION_SECONDS):
            out, _ = await process.communicate()
    except TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, KILL) if hasattr(os, "killpg") else process.kill()
            await process.wait()
    if process.returncode:
        return ""  # it has no such option, as the sh of Debian
    said = clean_line(out.decode("utf-8", "replace").partition("\n")[0], 60)
    return f"{os.path.basename(program)} {said}" if re.match(r"v?\d", said) else said
