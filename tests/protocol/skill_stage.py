"""Skills in conversations: a real runtime, a real server of skills, another server, and a real endpoint."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.configurations import config_file, model, server
from tests.endpoint import Answer, Endpoint, Reply, calls, says
from tests.unit.addons.skills.site import SERVER, Site
from tests.unit.core.stand_ins import ScriptedApprover
from tui.core.conversation.conversation import Attachment, ToolMessage
from tui.core.events import Event
from tui.core.permission.approval_policy import Mode
from tui.core.questions import Action, Question, QuestionAnswer, Questioner, SkillQuestion
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

TOOLS = """\
import sys
sys.path.insert(0, sys.argv[1])
from answering_loop import serve, text

def answer(method, params, ident):
    match method:
        case "tools/call":
            return text("done")
        case "resources/read":
            return {"contents": [{"uri": params["uri"], "text": "a resource"}]}
        case "resources/list":
            return {"resources": [{"uri": "notes://one", "name": "one"}]}

look = {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
serve(answer, ["write", look], modern=True, offers={"tools": {}, "resources": {}})
"""
YES, NO = QuestionAnswer(Action.ACCEPT), QuestionAnswer(Action.DECLINE)
LATER = QuestionAnswer(Action.CANCEL)


def loads(skill: str = "forms", server: str = "docs") -> Answer:
    """Return a reply that loads a skill."""
    return calls(("mcptui__load_skill", {"server": server, "skill": skill}))


def reads(path: str, skill: str = "forms", **more: Any) -> Answer:
    """Return a reply that reads a file of a skill."""
    given = {"server": "docs", "skill": skill, "path": path, **more}
    return calls(("mcptui__read_skill_file", given))


class ScriptedQuestioner(Questioner):
    """Answers in turn, the last answer again and again."""

    def __init__(self, *answers: QuestionAnswer) -> None:
        self._answers = list(answers)
        self.asked: list[SkillQuestion] = []

    async def ask(self, question: Question) -> QuestionAnswer:
        assert isinstance(question, SkillQuestion)
        self.asked.append(question)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@dataclass
class SkillStage:
    """One run. `results` are those of the calls so far, `sent` the bodies of the requests to the model."""

    runtime: Runtime
    endpoint: Endpoint
    questioner: ScriptedQuestioner
    approver: ScriptedApprover
    events: list[Event] = field(default_factory=list)

    async def ask(self, text: str = "Fill it.", *attachments: Attachment) -> Sequence[Event]:
        turn = self.runtime.conversations.ask(text, self.approver, attachments)
        found = [event async for event in turn.events()]
        self.events += found
        return found

    @property
    def asked(self) -> list[SkillQuestion]:
        return self.questioner.asked

    @property
    def results(self) -> list[str]:
        return [one.text for one in self.runtime.conversations.messages if isinstance(one, ToolMessage)]

    @property
    def sent(self) -> list[Mapping[str, Any]]:
        return [one.json for one in self.endpoint.requests]

    def tool(self, name: str) -> Mapping[str, Any]:
        """Return the definition of a tool in the newest request."""
        found = {one["function"]["name"]: one["function"] for one in self.sent[-1]["tools"]}
        return found[name]


@asynccontextmanager
async def skill_stage(
    site: Site,
    *replies: Reply,
    answers: Sequence[QuestionAnswer] = (YES,),
    approver: ScriptedApprover | None = None,
    tables: Sequence[str] = (),
    mode: Mode = Mode.ASK,
    trusted: Sequence[str] = (),
    session: str | None = None,
) -> AsyncIterator[SkillStage]:
    """Start a run whose model replies in this order, then "Done."."""
    site.save()
    folder = site.folder / "config"
    folder.mkdir(exist_ok=True)
    script = folder / "tools.py"
    script.write_text(TOOLS)
    async with Endpoint([*replies, says("Done.")]) as endpoint:
        config = config_file(
            folder,
            model(endpoint),
            server("docs", SERVER, env=site.env, offer_resources=True),
            server("other", script, Path(__file__).parent, offer_resources=True),
            *tables,
        )
        options = Options(
            config=config, trust_config=True, model="scripted", mode=mode, trusted=tuple(trusted), start=False
        )
        runtime = Runtime(options, {})
        questioner = runtime.questioner = ScriptedQuestioner(*answers)
        try:
            await runtime.ready(taps=False, session=False)
            await runtime.host.start_all(["docs", "other"])
            if session is not None:
                await runtime.conversations.resume(session)
            yield SkillStage(runtime, endpoint, questioner, approver or ScriptedApprover())
        finally:
            await runtime.shutdown()
