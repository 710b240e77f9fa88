"""Requests of the reference server to its host over stdio: roots, forms, URLs, sampling."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.conftest import until
from tests.hosts import called, host_of, text_of
from tests.protocol.test_questions import Model, Person
from tests.real.installed import EVERYTHING, FILES, needs
from tui.core.questions import Action, AddressQuestion, FormQuestion, Question, QuestionAnswer
from tui.core.servers import SamplingRule, ServerSpec
from tui.host.host import Host
from tui.host.server.host_context import Answerers

pytestmark = needs(EVERYTHING, FILES)


async def everything(person: Person, model: Model | None = None, **more) -> Host:
    rule = SamplingRule.NEVER if model is None else SamplingRule.ALLOW
    spec = ServerSpec("everything", str(EVERYTHING), ("stdio",), sampling=rule, **more)
    host = host_of(spec, answerers=Answerers(questioner=person, sampler=model))
    await host.start_all()
    return host


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await condition():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def names(host: Host) -> set[str]:
    return {tool.name for tool in host.toolbox.tools()}


async def used(host: Host, name: str, **arguments: object) -> str:
    """Call a tool once it is offered, and return its text."""
    await until(lambda: name in names(host), what=str(names(host)))
    return text_of(await called(host, name, **arguments))


async def test_its_questions_are_answered_by_the_user_and_the_model():
    person = Person({"name": "Ada", "integer": 7, "untitledMultipleSelectEnum": ["Piano", "Bass"]})
    model = Model()
    host = await everything(person, model)
    said = await used(host, "trigger-elicitation-request")
    assert "Name: Ada" in said and "Favorite Integer: 7" in said
    [question] = person.asked
    assert isinstance(question, FormQuestion) and question.server == "everything"
    assert len(question.schema["properties"]) > 10
    assert "Hello" in await used(host, "trigger-sampling-request", prompt="Say hello", maxTokens=50)
    assert model.asked[0][1] == 50
    url = {"url": "https://example.com/verify", "elicitationId": "e1"}
    required = await used(host, "trigger-url-elicitation", **url, errorPath=True)  # the call is sent again
    assert "rror" not in required and isinstance(person.asked[-1], AddressQuestion)
    await host.shutdown()


async def test_it_is_told_of_a_declined_url_and_of_changed_roots_and_without_a_model_it_cannot_sample(
    tmp_path,
):
    class Careful(Person):
        async def ask(self, question: Question) -> QuestionAnswer:
            self.asked.append(question)
            return QuestionAnswer(Action.DECLINE)

    person = Careful()
    host = await everything(person, roots=(str(tmp_path),))
    url = "https://example.com/verify"
    assert "decline" in (await used(host, "trigger-url-elicitation", url=url)).lower()
    assert [one.url for one in person.asked] == [url]
    assert "trigger-sampling-request" not in names(host)
    await until(lambda: "get-roots-list" in names(host))
    assert tmp_path.as_uri() in text_of(await called(host, "get-roots-list"))
    other = tmp_path / "other"
    host.reconfigure("everything", roots=(str(other),))

    async def lists_other() -> bool:
        return other.as_uri() in text_of(await called(host, "get-roots-list"))

    await eventually(lists_other)
    await host.shutdown()


async def test_the_filesystem_server_works_within_its_roots(tmp_path):
    inside, later = tmp_path / "inside", tmp_path / "later"
    for folder in (inside, later):
        folder.mkdir()
        (folder / "a.txt").write_text(folder.name)
    spec = ServerSpec("files", str(FILES), (), roots=(str(inside),))
    host = host_of(spec)
    await host.start_all()

    async def refuses(folder):
        return (await called(host, "read_text_file", path=str(folder / "a.txt"))).is_error

    async def works_in(folder):
        return not await refuses(folder)

    await eventually(lambda: works_in(inside))  # it asks for its roots after it has started
    assert await refuses(later)
    host.reconfigure("files", roots=(str(later),))
    await eventually(lambda: works_in(later))
    assert await refuses(inside)
    await host.shutdown()
