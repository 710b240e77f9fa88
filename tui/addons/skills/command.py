"""`mcptui skill`: lists the skills of a server, shows one, compares its files, or unpacks it."""

import argparse
import uuid
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tui.addons.skills.addon import USAGE
from tui.addons.skills.entry import SkillEntry
from tui.addons.skills.frontmatter import body
from tui.addons.skills.output import (
    Compared,
    as_object,
    compared_lines,
    compared_object,
    extent,
    head_lines,
    listing_lines,
)
from tui.addons.skills.problem import SkillProblem, Why
from tui.addons.skills.server_skills import HeldSkill, ServerSkills
from tui.addons.skills.unpack import target, unpack, unpack_fault
from tui.addons.skills.uris import SKILL_FILE
from tui.addons.skills.verify import SkillContent
from tui.commands.call.one_server import NOT_STARTED, OK, REFUSED, TIMEOUT, OneServer
from tui.commands.call.output import write_json, write_text
from tui.commands.call.request import attached, server_and_words, unconfigured
from tui.commands.flag_answers import FlagAnswers
from tui.commands.headless import Interrupt, headless, say_printed, say_unrecorded
from tui.commands.permission.terminal_approver import confirm, is_terminal
from tui.commands.run_output import print_error
from tui.commands.streams import err, is_elsewhere, out
from tui.core.errors import UsageError
from tui.core.jsonrpc.extensions import SKILLS, why_unused
from tui.core.text import clean_line, quoted_name
from tui.core.units import and_more, plural, size
from tui.core.workbench import ResourceInfo
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.problems import hinted

_SHOWN_NAMES = 40


def skill(args: argparse.Namespace) -> int:
    """Run `mcptui skill` and return its exit code."""
    named, words = server_and_words(args, USAGE, 0, 1)
    if args.output is not None and not words:
        raise UsageError("-o requires the name of a skill.")
    if args.force and args.output is None:
        raise UsageError("--force requires -o.")
    if (code := attached(args, named, words)) is not None:
        return code
    options, spec = Options.from_args(args), unconfigured(args, named)
    if spec is not None:
        options = options.with_server(*spec)

    async def work(runtime: Runtime, _: Interrupt) -> int:
        one = OneServer(args, named, runtime)
        try:
            return NOT_STARTED if await one.start() is None else await request(one, words)
        finally:
            say_printed(runtime)

    return headless(options, work, questioner=FlagAnswers.of(args), ended=say_unrecorded)


async def request(one: OneServer, words: Sequence[str]) -> int:
    """Do what `mcptui skill` was asked for, with a server that runs, and return the exit code."""
    assert one.runtime.skills is not None
    skills = copy(one.runtime.skills.servers)  # it waits as long as this command does
    try:
        return await _Skill(one.args, one, words, one.runtime, skills).run()
    except SkillProblem as problem:
        print_error(problem, as_json=one.args.json)
        return TIMEOUT if problem.why is Why.LATE else REFUSED


@dataclass(slots=True)
class _Skill:
    _args: argparse.Namespace
    _one: OneServer
    _words: Sequence[str]
    _runtime: Runtime
    _skills: ServerSkills
    _call: str = field(default_factory=lambda: f"hand-{uuid.uuid4().hex[:12]}")

    async def run(self) -> int:
        self._skills.timeout = lambda: self._one.timeout
        if self._skills.settings(self._one.name) is None:
            return await self._resources()
        if not self._words:
            return await self._all()
        entry = await self._found(self._words[0])
        if self._args.output is not None:
            return await self._unpack(entry)
        if self._args.verify:
            return self._print_compared([(entry, await self._compared(entry))])
        return await self._show(entry)

    # ---- finding -------------------------------------------------------------------------------------

    async def _all(self) -> int:
        listing = await self._skills.listing(self._one.name, call=self._call)
        for problem in listing.problems:
            self._say(problem)
        if self._args.verify:
            found = [(entry, await self._compared(entry)) for entry in listing.entries]
            return max(self._print_compared(found), REFUSED if listing.problems else OK)
        shown = self._redacted(listing)
        if self._args.json:
            write_json({"skills": [as_object(one) for one in shown.entries]})
        else:
            out().write("".join(f"{line}\n" for line in listing_lines(shown)))
        if not listing.entries and not listing.problems:
            self._say("no skills listed. It may serve others: mcptui skill SERVER URI")
        return REFUSED if listing.problems else OK

    async def _found(self, word: str) -> SkillEntry:
        server = self._one.name
        if ":" in word:
            return await self._skills.entry(server, word, call=self._call)
        listing = await self._skills.listing(server, call=self._call)
        found = listing.named(word)
        if len(found) == 1:
            return found[0]
        shown = quoted_name(word, 80)
        if found:
            paths = and_more([clean_line(one.path, 120) for one in found], _SHOWN_NAMES)
            raise UsageError(
                f"{len(found)} skills have the name {shown}.", next_step=f"Choose one of: {paths}"
            )
        labels = [clean_line(listing.label(one), 120) for one in listing.entries]
        step = f"Its skills: {and_more(labels, _SHOWN_NAMES)}" if labels else "It lists no skills. Use a URI."
        raise UsageError(
            hinted(f"{clean_line(server, 80)} has no skill {shown}", word, labels), next_step=step
        )

    async def _resources(self) -> int:
        """List the resources that look like skills, of a server without the extension."""
        name = clean_line(self._one.name, 80)
        uses = (await self._runtime.workbench.identity(self._one.name)).extensions
        unused = why_unused(uses, SKILLS)
        resources, problem = await self._skills.plain(self._one.name)
        if self._words or not resources:
            step = f" To see its resources: mcptui list {name} resources" if resources else ""
            self._one.refuse(problem or unused or f"the server does not serve skills.{step}")
            return REFUSED
        if self._args.json:
            write_json({"resources": [_resource(one) for one in resources]})
        else:
            for one in resources:
                print(
                    "  ".join(filter(None, (clean_line(one.uri, 400), clean_line(one.name, 120)))), file=out()
                )
        self._say(
            f"{unused or f'{name} does not declare the skills extension.'} These are resources without a "
            f"manifest, so they cannot be compared with one. Read one with mcptui read."
        )
        return REFUSED if self._args.verify else OK

    # ---- one skill -----------------------------------------------------------------------------------

    async def _show(self, entry: SkillEntry) -> int:
        shown = self._redacted(entry)
        if not self._args.json:
            print("\n".join(head_lines(shown)), file=out())
        if entry.declined:
            self._one.refuse(f"this skill cannot be loaded. {entry.declined}")
            return REFUSED
        held = await self._skills.load(entry, call=self._call)
        text = self._runtime.host.around.redaction.text(held.text)
        if self._args.json:
            write_json({"skill": as_object(shown), "text": text})
            return OK
        says = "cannot be compared" if entry.is_dynamic else "matches the server's manifest"
        print(f"\nSKILL.md ({says})\n", file=out(), flush=True)
        write_text(body(text).lstrip("\n"))
        return OK

    async def _compared(self, entry: SkillEntry, contents: list[SkillContent] | None = None) -> Compared:
        """Read all files of a skill and compare them; add those that match to `contents`."""
        if entry.declined or entry.files is None:
            return []
        found: Compared = []
        for path, file in entry.by_path.items():
            problem: SkillProblem | None = None
            try:
                if path == SKILL_FILE:
                    held = await self._skills.load(entry, call=self._call)
                    content = SkillContent(path, held.text.encode())
                else:
                    content = await self._skills.read(HeldSkill(entry, ""), file.uri, call=self._call)
                if contents is not None:
                    contents.append(content)
            except SkillProblem as raised:
                problem = raised
            found.append((path, file.size, problem))
        return found

    def _print_compared(self, all_: Sequence[tuple[SkillEntry, Compared]]) -> int:
        failed = False
        objects: list[dict[str, Any]] = []
        for entry, found in all_:
            why = entry.declined or ("It is dynamic, so it has no manifest." if entry.is_dynamic else "")
            failed |= bool(why) or any(problem for *_, problem in found)
            shown = self._redacted(entry)
            if self._args.json:
                objects.append(compared_object(shown, found, why))
                continue
            print(f"{clean_line(shown.path, 200)}  {extent(entry)}".rstrip(), file=out())
            lines = [f"  cannot be compared: {why}"] if why else compared_lines(found)
            print("\n".join(lines), file=out())
        if self._args.json:
            write_json({"skills": objects})
        return REFUSED if failed else OK

    async def _unpack(self, entry: SkillEntry) -> int:
        if fault := unpack_fault(entry):
            self._one.refuse(f"this skill cannot be unpacked. {fault}")
            return REFUSED
        path = target(entry, self._args.output)
        if not self._may_replace(path):
            return REFUSED
        contents: list[SkillContent] = []
        found = await self._compared(entry, contents)
        if any(problem for *_, problem in found):
            self._print_compared([(entry, found)])
            self._one.refuse("nothing was unpacked, because a file does not match the server's manifest.")
            return REFUSED
        if told := [one.path for one in contents if self._has_secret(one)]:
            shown = clean_line(told[0], 200)
            self._one.refuse(f"nothing was unpacked, because {shown} contains a secret of the configuration.")
            return REFUSED
        unpack(contents, path)
        if self._args.json:
            write_json({"skill": as_object(self._redacted(entry)), "folder": str(path)})
        total = size(sum(len(one.data) for one in contents))
        self._say(f"wrote {plural(len(contents), 'file')} ({total}) to {clean_line(str(path), 4096)}")
        self._say("other programs may treat this folder as your own skill, not as one of a server")
        return OK

    def _may_replace(self, path: Path) -> bool:
        if self._args.force or not path.exists():
            return True
        shown = clean_line(str(path), 4096)
        if is_elsewhere() or not is_terminal():
            raise UsageError("it exists already.", where=shown, next_step="Replace it with --force.")
        return confirm(f"Replace {shown}, and everything in it?", yes=False)

    def _has_secret(self, content: SkillContent) -> bool:
        text = content.data.decode("utf-8", "replace")
        return self._runtime.host.around.redaction.text(text) != text

    def _redacted(self, value: Any) -> Any:
        return self._runtime.host.around.redaction.value(value)

    def _say(self, text: str) -> None:
        print(f"· {clean_line(text, 600)}", file=err())


def _resource(one: ResourceInfo) -> dict[str, Any]:
    return {"uri": one.uri, "name": one.name, "mimeType": one.mime}
