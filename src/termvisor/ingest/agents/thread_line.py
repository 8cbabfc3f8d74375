"""One thread of an app-server, for whoever may speak in it."""

from collections.abc import Mapping

from termvisor.agents.foreign import Json
from termvisor.ingest.agents.app_server import AppServer


class ThreadLine:
    def __init__(self, server: AppServer, thread: str):
        self._server, self.thread = server, thread

    async def ask(self, method: str, params: Mapping[str, object]) -> Json:
        """The server's answer. Raises BadRequest for an error, TimedOut or Unavailable where nothing is known."""
        return await self._server.ask(method, params)

    async def request(self) -> Json:
        """The request in this thread, which is followed, that waits for an answer. Raises TimedOut for none."""
        return await self._server.request_in(self.thread)

    async def reply(self, request: Json, result: Mapping[str, object]) -> bool:
        """Answer exactly this request, once; False where it no longer waits."""
        return await self._server.reply(request, result)

    async def until_resolved(self, request: Json) -> bool:
        """Whether it was answered, by anybody; False when the server cannot be heard."""
        return await self._server.until_resolved(request)
