"""`mcptui doctor --host`: what another host will do with the servers of its configuration."""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tui.addons.doctor.examination import LAST
from tui.addons.doctor.examinations import doctor_options
from tui.addons.doctor.habits import HABITS, Habits
from tui.addons.doctor.host_format import entry_steps, file_steps
from tui.addons.doctor.output import FAILED, OK, end, examine, run
from tui.addons.doctor.steps import HOST, Checklist, State, Step, cleaned, short_columns, short_lines
from tui.commands.headless import Interrupt
from tui.commands.sign_in import TerminalQuestioner
from tui.commands.streams import width
from tui.core.errors import ConfigError, UsageError, as_sentences
from tui.core.programs import command_line, is_command_line
from tui.core.questions import Questioner
from tui.core.secrets.redact import Redactor
from tui.core.text import clean_line, list_in, mapping, quoted_name
from tui.core.units import and_more
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.files import Unreadable, read_bounded, read_bytes
from tui.settings.foreign.file import inputs_of, parse
from tui.settings.foreign.hosts import KnownHost, named_files
from tui.settings.foreign.scopes import servers_of
from tui.settings.problems import Problem
from tui.settings.server_import import MAX_SOURCE_BYTES
from tui.settings.server_warnings import is_relative

DESKTOP_PATH = ("/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin")
"""The PATH of a program that is started from the desktop of macOS, without a shell."""


_REFERENCE = re.compile(r"\$\{[^}]*\}|\$[A-Za-z_]\w*")


def examine_host(args: argparse.Namespace) -> int:
    """Examine the servers of a host, file by file; return the exit code. Raises UsageError, ConfigError."""
    host, paths = named_files(args.host, Path.cwd(), os.environ)
    named = args.words[0] if args.words else None
    files = [_HostFile.read(path, host) for path in paths if path.is_file()]
    if not files:
        listed = and_more([clean_line(str(path), 200) for path in paths], 4)
        raise ConfigError("no configuration of this host found.", next_step=f"Looked for {listed}.")
    wanted = [one for one in files if named is None or named in one.entries]
    if not wanted:
        known = and_more([clean_line(name, 60) for one in files for name in one.entries], 20) or "none"
        raise UsageError(f"server {quoted_name(named or '', 80)} not found.", next_step=f"Servers: {known}.")
    found: list[Checklist] = []
    redactor, code = Redactor(), OK
    for one in wanted:
        if not args.json:
            print(f"{one.title}   {clean_line(str(one.path), 400)}", flush=True)
        options = replace(doctor_options(Options.from_args(args)), config=str(one.path))
        code = max(code, run(options, partial(one.examine, args, named, found), questioner=_questioner()))
        redactor.add(one.secrets)
        if code > FAILED:
            return code
    end(args, found, redactor, single=False)
    return code


def _questioner() -> Questioner | None:
    """Return who asks for the consent that the servers of another host's file need."""
    return TerminalQuestioner() if sys.stdin.isatty() and sys.stderr.isatty() else None


@dataclass(slots=True)
class _HostFile:
    """A configuration file of a host: the name of the host that reads it, its entries as they are written.

    `tables` are the keys that the entries are under, `inputs` the ids of the inputs that are defined for
    them (VS Code), `format` what the host makes of the text of the file.
    """

    path: Path
    title: str
    entries: Mapping[str, Any]
    tables: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, Set[str]] = field(default_factory=dict)
    format: Sequence[Step] = ()
    secrets: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, host: KnownHost | None) -> "_HostFile":
        title = host.title if host is not None else "This host"
        if title == "Claude":
            title = "Claude Desktop" if path.name == "claude_desktop_config.json" else "Claude Code"
        try:
            parsed = parse(read_bounded(path, MAX_SOURCE_BYTES), path)
        except Unreadable:
            return cls(path, title, {})  # the runtime reports it
        if isinstance(parsed, Problem):
            return cls(path, title, {})
        tree, is_json = parsed.tree, path.suffix.lower() not in (".toml", ".yaml", ".yml")
        servers = servers_of(tree) or ()
        return cls(
            path,
            title,
            {one.name: one.entry for one in servers},
            {one.name: str(one.path[-2]) if len(one.path) > 1 else "" for one in servers},
            {one.name: inputs_of(tree, one.path).keys() for one in servers},
            [*file_steps(title, read_bytes(path, MAX_SOURCE_BYTES))] if is_json else [],
        )

    async def examine(
        self,
        args: argparse.Namespace,
        named: str | None,
        found: list[Checklist],
        runtime: Runtime,
        _: Interrupt,
    ) -> int:
        def also(one: Checklist) -> Iterator[Step]:
            loaded = runtime.configuration.loaded
            problems = loaded.problems if loaded is not None else ()
            place = ("servers", one.server)
            notes = [each.message for each in problems if each.warning and each.keys[:2] == place]
            entry = mapping(self.entries.get(one.server))
            steps = [*self.format, *entry_steps(self.title, entry, self.tables.get(one.server))]
            if not any(each.name == "configuration" for each in one.steps):
                steps += input_steps(self.title, entry, self.inputs.get(one.server, frozenset()))
            return host_steps(self.title, entry, one, notes, steps)

        habits = HABITS.get(self.title, Habits())

        def reword(name: str, step: Step) -> Step:
            if step.name == "configuration":
                defined = self.inputs.get(name, frozenset())
                problems = runtime.configuration.left_out.get(name, ())
                told, others = of_inputs(self.title, self.entries.get(name), defined, problems)
                if told is not None and not others:
                    return told
                if problems:
                    step = replace(step, seen=as_sentences(tuple(others)))
            texts = filter(habits.replaces, _references(self.entries.get(name)))
            names = [re.sub(r"^\w+:", "", text.strip("${}").partition(":-")[0]) for text in texts]
            replaced = {*names, *(re.sub(r"\W", "_", one).upper() for one in names)}  # as inputs are imported
            return in_words_of(self.title, habits.reference, replaced, step)

        folder = habits.starts_in or os.getcwd()
        how = {"also": also, "folder": folder, "ignores_cwd": "cwd" in habits.ignores, "reword": reword}
        several = await examine(runtime, named, args, short=named is None, **how)
        found.extend(several)
        ignored = [] if named is not None else [name for name in self.entries if runtime.is_disabled(name)]
        for name in ignored:
            step = _disabled(self.title, habits, mapping(self.entries[name]))
            found.append(Checklist(name, steps=[cleaned(step)], rest=("start", *LAST)))
            if not args.json:
                print("\n".join(short_lines(found[-1], short_columns(0, width()))))
        if (loaded := runtime.configuration.loaded) is not None:
            self.secrets = loaded.secrets
        return FAILED if any(one.failure for one in several) else OK


def host_steps(
    title: str, entry: Mapping[str, Any], found: Checklist, notes: list[str], also: Sequence[Step] = ()
) -> Iterator[Step]:
    """Yield what the host will do otherwise than mcptui, and `also` other steps, as steps named `host`."""
    habits = HABITS.get(title, Habits())
    steps = [*also, *_of_entry(title, habits, entry), *_of_command(title, habits, entry, found)]
    steps += [*_of_tools(title, habits, found), *(Step(HOST, f"read by mcptui: {note}") for note in notes)]
    yield from map(cleaned, steps or [Step(HOST, f"nothing that {title} does otherwise")])


def _of_entry(title: str, habits: Habits, entry: Mapping[str, Any]) -> Iterator[Step]:
    url = next((entry[key] for key in ("url", "serverUrl", "httpUrl") if isinstance(entry.get(key), str)), "")
    if entry.get("disabled") is True or entry.get("enabled") is False:
        yield _disabled(title, habits, entry)
    if "cwd" in habits.ignores and entry.get("cwd"):
        yield Step.warning(HOST, f"{title} ignores `cwd`", f"write absolute paths, or start {title} there")
    if url and not habits.takes_urls:
        fix = "add it as a connector in its settings, or use a local bridge such as mcp-remote"
        yield Step.failed(HOST, f"{title} ignores servers with a url", fix)
    if url and habits.needs_type and not entry.get("type"):
        fix = f'add `"type": "{habits.needs_type}"`'
        yield Step.failed(HOST, f"{title} does not use a url without a type", fix)
    for text in _references(entry):
        if not habits.replaces(text):
            name = re.search(r"[A-Za-z_]\w*\b(?!:)", text)
            fix = "write the value, or start a script that reads it"
            fix = f"write {habits.reference(name[0] if name else 'NAME')}" if habits.example else fix
            yield Step.warning(HOST, f"{title} passes {clean_line(text, 60)} on as it is", fix)


def _disabled(title: str, habits: Habits, entry: Mapping[str, Any]) -> Step:
    """Return the step about an entry that mcptui does not start, since it is disabled."""
    if "disabled" in habits.ignores and entry.get("disabled") is True:
        return Step.warning(
            HOST, f"{title} starts it: it ignores `disabled`", "remove it, or disable it there"
        )
    return Step.warning(HOST, "it is disabled in this file", "enable it there")


def _of_command(title: str, habits: Habits, entry: Mapping[str, Any], found: Checklist) -> Iterator[Step]:
    if not isinstance(command := entry.get("command"), str):
        return
    first, *more = command_line(command) if is_command_line(command) else [command]
    place = next((one.seen for one in found.steps if one.name == "command" and one.state is State.OK), "")
    if habits.from_desktop and os.sep not in first and place and os.path.dirname(place) not in DESKTOP_PATH:
        seen = f"started from the desktop, {title} may not find {clean_line(first, 60)}"
        yield Step.warning(HOST, seen, f'write "{place}"')
    here = Path.cwd()
    values = [
        one.partition("=")[2] if one.startswith("-") else one
        for one in [*more, *map(str, list_in(entry, "args"))]
    ]
    words = [first, *values] if os.sep in first else values
    relative = next((one for one in words if is_relative(one, here)), "")
    if relative and ("cwd" in habits.ignores or not entry.get("cwd")):
        folder = habits.folder or "a folder that it chooses"
        host = title.replace("This host", "this host")
        seen = f"{clean_line(relative, 80)} is relative, and {host} starts it in {folder}"
        place = os.path.normpath(here / relative)
        known = f": {clean_line(place, 200)}" if os.path.exists(place) else ""
        yield Step.warning(HOST, seen, f"write its absolute path{known}")


def input_steps(title: str, entry: Mapping[str, Any], defined: Set[str]) -> Iterator[Step]:
    """Yield which inputs the host asks for, and which it cannot."""
    names = _inputs_in(title, entry)
    if asked := [name for name in names if name in defined]:
        yield Step(HOST, _asks(title, asked))
    if title in ("VS Code", "VS Code Insiders") and (lost := [name for name in names if name not in defined]):
        yield _undefined(title, lost)


def of_inputs(
    title: str, entry: Any, defined: Set[str], problems: Sequence[str]
) -> tuple[Step | None, list[str]]:
    """Return the step of an entry whose inputs the host is to ask for, or None, and the other problems."""
    variables: dict[str, str] = {}
    for name in _inputs_in(title, entry):
        plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").upper()  # as inputs are imported
        variables |= {plain: name, f"INPUT_{plain}": name}
    unset = [name for name in map(_unset_in, problems) if name in variables]
    others = [problem for problem in problems if _unset_in(problem) not in variables]
    if not unset:
        return None, others
    names = [*dict.fromkeys(variables[name] for name in unset)]
    if lost := [name for name in names if name not in defined]:
        return replace(_undefined(title, lost), name="configuration"), others
    fix = f"set {and_more([*dict.fromkeys(unset)], 4)} to check it here"
    return Step.warning("configuration", f"{_asks(title, names)}. Not started here", fix), others


def _unset_in(problem: str) -> str:
    return found[1] if (found := _UNSET.search(problem)) else ""


def _inputs_in(title: str, entry: Any) -> list[str]:
    replaces = HABITS.get(title, Habits()).replaces
    return [text[8:-1] for text in _references(entry) if text.startswith("${input:") and replaces(text)]


def _asks(title: str, names: Sequence[str]) -> str:
    return f"{title} asks for {and_more([clean_line(name, 40) for name in names], 4)} when it starts"


def _undefined(title: str, names: Sequence[str]) -> Step:
    # microsoft/vscode#258834: "Undefined input variable 'NAME' encountered".
    shown = and_more([clean_line(name, 40) for name in names], 4)
    seen = f"{title} does not start it: `inputs` does not define {shown}"
    definition = f'{{"id": "{clean_line(names[0], 40)}", "type": "promptString", "description": "…"}}'
    return Step.failed(HOST, seen, f"add `{definition}` to `inputs`")


def _references(entry: Any) -> list[str]:
    return sorted(set(_REFERENCE.findall(json.dumps(entry))))


def _of_tools(title: str, habits: Habits, found: Checklist) -> Iterator[Step]:
    if habits.most_tools and len(found.tools) > habits.most_tools:
        seen = f"{len(found.tools)} tools, and {title} offers at most {habits.most_tools} of all servers"
        yield Step.warning(HOST, seen, "turn some off there")
    room = habits.name_chars - len(found.server) - 1
    if habits.name_chars and (long := [tool for tool in found.tools if len(tool) > room]):
        seen = f"{title} drops tools whose names are too long with the server's: {and_more(long, 3)}"
        yield Step.warning(HOST, seen, "shorten the name of the server")


_UNSET = re.compile(r"environment variable (\w+) is not set")
_OUR_STEP = re.compile(r"\. (?:Set it, or write `\$\{[^`]*\}`|Use `\$\$\{` for a literal `\$\{`)")
_OUR_PLACE = re.compile(r"\bservers\.(?:\"[^\"]*\"|[\w-]+)\.")
_VARIABLE = re.compile(
    r"(?:servers do not inherit it: )?set `env = \{ (\w+) = \"[^\"]*\" \}`(?:, or --env .* for a command)?"
)
_HEADER = re.compile(r"set `headers = \{ Authorization = \"Bearer \$\{(\w+)\}\" \}`(?:, or --header)?")
_PLAIN = (
    (re.compile(r",? or set `cwd[^`]*`"), ""),
    (re.compile(r"`transport = (\"\w+\")`(?:, or --transport \w+)?"), r'`"type": \1`'),
    (re.compile(r"`(command|args|cwd) = ([^`]*)`"), r'`"\1": \2`'),
    (re.compile(r"Check (command|args|cwd) in \[servers\.[^\]]*\]"), r"Check `\1` of its entry"),
    (re.compile(r"sign in again \(`mcptui login`\)"), "sign in again there"),
    (re.compile(r"run `mcptui login [^`]*`"), "sign in there"),
    (re.compile(r" \(`off`\)"), ""),
    (re.compile(r"remove `disabled = true`"), "enable it there"),
)


def in_words_of(title: str, reference: Callable[[str], str], replaced: Set[str], step: Step) -> Step:
    """Return a step as a user of the host `title` can follow it.

    `reference` returns how the host writes a variable, or "" if it replaces none; `replaced` are those that
    the entry names in this way.
    """
    fix = step.fix.replace("${HOME}", os.path.expanduser("~"))
    if step.name == "configuration" and "config check" in fix:
        fix = _correction(title, reference, replaced, _UNSET.findall(step.seen))

    def variable(found: re.Match[str]) -> str:
        return f'add `"env": {{"{found[1]}": "{reference(found[1]) or "…"}"}}`'

    def header(found: re.Match[str]) -> str:
        return f'add `"headers": {{"Authorization": "Bearer {reference(found[1]) or "…"}"}}`'

    fix = _HEADER.sub(header, _VARIABLE.sub(variable, fix))
    for pattern, ours in _PLAIN:
        fix = pattern.sub(ours, fix)
    return replace(step, seen=_OUR_PLACE.sub("", _OUR_STEP.sub("", step.seen)), fix=fix)


def _correction(title: str, reference: Callable[[str], str], replaced: Set[str], unset: list[str]) -> str:
    names = list(dict.fromkeys(unset))
    passed_on = [reference(name) or f"the value of {name}" for name in names if name not in replaced]
    known = [name for name in names if name in replaced]
    steps = [f"write {and_more(passed_on, 4)}"] if passed_on else []
    host = title.replace("This host", "this host")
    steps += [f"set {and_more(known, 4)}, here and for {host}"] if known else []
    return ", and ".join(steps) or "correct it in that file"
