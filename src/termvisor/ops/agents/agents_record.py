"""The operation `agents_record`: record some seconds of an agent's pane with the state that the user sees there."""

from collections.abc import AsyncGenerator
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import NS, format_timestamp
from termvisor.errors import BadRequest
from termvisor.model.agent.pane_recording import PaneRecordingLine
from termvisor.model.agent.state import StateName
from termvisor.model.ids import PaneId
from termvisor.ops.api.envelope import encode_json_line
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.history._report import TimeRange
from termvisor.ops.history.export import export_raw
from termvisor.ops.panes._pane_reference import PaneReference, resolve_pane
from termvisor.ops.render.text import RenderOptions
from termvisor.redaction import Redactor, redact

_SAMPLE_INTERVAL_S = 0.5


class RecordAgentArgs(Struct, frozen=True, kw_only=True):
    """The pane, and the state of its agent."""

    pane: PaneReference
    shows: Annotated[StateName, Meta(description="The state that the pane shows, as you see it.")]
    secs: Annotated[float, Meta(description="Record this many seconds; 0 records one screen.", ge=0, le=600)] = 5.0
    agent: Annotated[str, Meta(description="The agent, if the pane's agent is not recognized.")] = ""


async def run(services: Services, args: RecordAgentArgs) -> AsyncGenerator[PaneRecordingLine, None]:
    pane = (await resolve_pane(services, args.pane)).id
    view = (await services.agents.list_views()).get(pane)
    agent = args.agent or (view.state.agent if view is not None else "")
    if not agent:
        raise BadRequest(
            f"no known agent runs in pane {pane}", hint="Name it with --agent, after `visor agents new` described it."
        )
    begun_at = services.clock.now()
    version = redact(view.program.version) if view is not None else ""
    yield PaneRecordingLine(
        kind="state", at=format_timestamp(begun_at), state=args.shows, agent=agent, agent_version=version
    )
    last: tuple[object, ...] = ()
    end = begun_at + int(args.secs * NS)
    while True:
        line = await _capture_line(services, pane, now := services.clock.now())
        # The cursor too: a program may draw first and move the cursor later.
        shown = (line.rows, line.cursor_x, line.cursor_y)
        if shown != last:
            last = shown
            yield line
        if now >= end:
            break
        await services.clock.sleep(_SAMPLE_INTERVAL_S)
    await services.panes.wait_until_stored(pane)
    async for chunk in export_raw(services, pane, TimeRange(begun_at, end), is_unredacted=False):
        yield PaneRecordingLine(kind="output", at=chunk.at, data=chunk.data or b"")


async def _capture_line(services: Services, pane: PaneId, now: int) -> PaneRecordingLine:
    screen = await services.panes.capture_screen(pane)
    return PaneRecordingLine(
        kind="screen",
        at=format_timestamp(now),
        width=screen.width,
        height=screen.height,
        rows=tuple(row.rstrip() for row in Redactor().redact_screen(screen.rows, screen.cursor_y)),
        cursor_x=screen.cursor_x,
        cursor_y=screen.cursor_y,
        is_alternate=screen.alternate,
    )


def render_text(result: PaneRecordingLine, options: RenderOptions) -> str | bytes:
    return encode_json_line(result)


OP = Operation(
    name="agents_record",
    summary="Record an agent's pane with the state that you see.",
    doc="""Prints JSON Lines: the state that you named, the screens of the next seconds, and their output. Secrets are
redacted, but paths, prompts and answers are not: read a recording before you share it. Append one call per state to a
file; `visor agents test` replays the file and names every state that is recognized differently.""",
    run=run,
    render_text=render_text,
    is_verbatim=True,
    is_stream=True,
    is_live=True,
    examples=(
        OperationExample("agents record 3 --shows running > mine.jsonl", "record five seconds of work"),
        OperationExample("agents record 3 --shows idle --secs 20 --agent mine > idle.jsonl", "name its agent"),
    ),
)
