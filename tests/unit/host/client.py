"""A client over one transport, without a host: for tests of transports."""

import asyncio
from types import SimpleNamespace

from tui.core.questions import Questioner
from tui.core.servers import ServerSpec
from tui.host.session.handshake import Handshake
from tui.host.session.server_requests import ServerRequests
from tui.host.session.session import Session


class Client:
    """Enters a transport, and makes the handshake in either era."""

    def __init__(self, transport):
        self.transport = transport

    async def __aenter__(self):
        link = await self.transport.__aenter__()
        try:
            self.session = Session(link, lambda *_: None, ServerRequests(ServerSpec("srv"), Questioner()))
            self.reading = asyncio.create_task(self.session.run())
            await Handshake(self.session, probes=True, initializes=True).shake()
            self.transport.gate.version = self.session.version
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_):
        await self.session.end()
        await self.reading
        await self.transport.__aexit__(None, None, None)

    @property
    def protocol_version(self):
        return self.session.version

    async def list_tools(self):
        listed = await self.session.request("tools/list", {})
        return SimpleNamespace(tools=[SimpleNamespace(**tool) for tool in listed["tools"]])

    async def call_tool(self, name, arguments):
        result = await self.session.request("tools/call", {"name": name, "arguments": arguments})
        content = [SimpleNamespace(**item) for item in result["content"]]
        return SimpleNamespace(content=content, is_error=result.get("isError", False))
