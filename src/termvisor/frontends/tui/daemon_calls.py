"""Call operations of the daemon and follow its streams, across restarts of the daemon.

The connection says that it is a terminal view; who sits at the terminal, the daemon decides by itself.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from msgspec import convert, to_builtins

from termvisor.client.visor import AsyncVisor, connect
from termvisor.clock import Clock, SystemClock
from termvisor.errors import BadRequest, Unavailable, VisorError
from termvisor.frontends.tui.styled_text import strip_controls
from termvisor.ops.api.arguments import parse_arguments
from termvisor.ops.api.catalog import find_operation, load_operation
from termvisor.ops.api.operation import Operation
from termvisor.ops.render.text import RenderOptions
from termvisor.settings import Paths

RETRY_INTERVAL_S = 1.0
_MAX_STREAM_LINES = 500
CONSENT_CODES = ("needs_approval", "confirmation_required")
"""Errors after which a person may confirm the call with `yes`."""


class DaemonCalls:
    """Calls and streams. ``on_link`` is called with the reason when the daemon is lost, and with "" when it is back."""

    def __init__(self, paths: Paths, on_link: Callable[[str], None], clock: Clock | None = None):
        self._paths, self._on_link, self._clock = paths, on_link, clock or SystemClock()

    async def call(self, name: str, **params: Any) -> Any:
        """Call an operation and return its result as plain data. Raises VisorError."""
        try:
            async with connect(self._paths, start=False, face="tui") as visor:
                return await getattr(visor, name)(**params)
        except OSError as error:
            raise Unavailable(f"the daemon cannot be reached: {error.strerror or error}") from error

    async def follow(self, name: str, on_item: Callable[[Any], None], **params: Any) -> None:
        """Pass the items of a stream on, and start it again whenever it breaks. Raises its other errors."""
        item_type = load_operation(name).result_type
        while True:
            try:
                async with (
                    connect(self._paths, start=False, face="tui") as visor,
                    aclosing(_iterate_items(visor, name, params)) as items,
                ):
                    async for item in items:
                        on_item(convert(item, item_type))
                        self._on_link("")
                raise Unavailable("the daemon ended the stream")
            except (Unavailable, OSError) as error:
                message = error.message if isinstance(error, VisorError) else str(error)
                self._on_link(strip_controls(message))
                await self._clock.sleep(RETRY_INTERVAL_S)

    async def render(self, name: str, options: RenderOptions, **params: Any) -> str:
        """Call an operation and return its text for people. Raises VisorError."""
        operation = load_operation(name)
        return render_result(operation, await self.call(name, **params), options)

    async def run_command_line(
        self, words: list[str], options: RenderOptions, *, is_confirmed: bool, on_text: Callable[[str], None]
    ) -> str:
        """Run any operation as on the command line; return its text. ``on_text`` gets the text of a stream so far.

        Raises VisorError.
        """
        operation, rest = find_operation(words, is_robot=False)
        if operation.effect == "local" or operation.is_local(rest):
            raise BadRequest(f"`visor {operation.command}` runs in a shell only")
        params = to_builtins(parse_arguments(operation.args_type, rest))
        if is_confirmed and "yes" in params:
            params["yes"] = True
        if not operation.is_stream_for(convert(params, operation.args_type)):
            return render_result(operation, await self.call(operation.name, **params), options)
        return await self._collect_stream(operation, params, options, on_text)

    async def _collect_stream(
        self, operation: Operation, params: dict[str, Any], options: RenderOptions, on_text: Callable[[str], None]
    ) -> str:
        lines: list[str] = []
        async with (
            connect(self._paths, start=False, face="tui") as visor,
            aclosing(_iterate_items(visor, operation.name, params)) as items,
        ):
            async for item in items:
                lines = [*lines, *render_result(operation, item, options).splitlines()][-_MAX_STREAM_LINES:]
                on_text("\n".join(lines))
        return "\n".join(lines)


def _iterate_items(visor: AsyncVisor, name: str, params: dict[str, Any]) -> AsyncGenerator[Any, None]:
    items: AsyncGenerator[Any, None] = getattr(visor, name)(**params)
    return items


def render_result(operation: Operation, result: Any, options: RenderOptions) -> str:
    text = operation.render_text(convert(result, operation.result_type), options)
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def describe_error(error: VisorError) -> str:
    """Return the message of an error, with what to do."""
    return strip_controls(f"{error.message}. {error.hint}" if error.hint else error.message)
