"""The way to a remote server."""

from tests.http_server import http_server, reply, says
from tui.addons.doctor.network import Answer, Network
from tui.addons.doctor.steps import State
from tui.core.servers import ServerSpec


def network(url: str) -> tuple[Network, list[str]]:
    begun: list[str] = []
    return Network(ServerSpec("s", url=url), lambda secrets: None, begun.append), begun


async def test_each_step_to_a_server_is_seen():
    async with http_server() as server:
        found, begun = network(server.url)
        steps = await found.steps()
    assert [one.name for one in steps] == ["proxy", "name", "tcp", "tls"]
    assert {one.state for one in steps} == {State.OK} and begun == ["name", "tcp", "tls"]
    assert found.answer is not None and found.answer.status == 405


async def test_an_invalid_port_is_no_address():
    steps = await network("http://h:99999/")[0].steps()
    assert [(one.name, one.state) for one in steps] == [("address", State.FAILED)]


async def test_a_server_that_answers_everything_alike_is_not_found_elsewhere():
    async with http_server(path="/wrong") as server:
        server.answers["GET"] = says(reply(b"", "405 Method Not Allowed", ""))
        assert await network(server.url)[0].elsewhere() == ""


def test_only_the_stream_of_the_older_transport_begins_with_its_address():
    begin = b"event: endpoint\ndata: /m\n\n"
    assert Answer(200, "text/event-stream", begin).is_old_sse
    assert not Answer(200, "text/event-stream", b"data: {}\n\n").is_old_sse
    assert not Answer(200, "text/html", begin).is_old_sse
