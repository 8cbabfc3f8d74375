"""The operation `agents_test`: check a file that describes an agent with its example screens, or a recording."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import ObjectNotFound
from termvisor.model.agent.agent_view import DescriptionCheck
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize
from termvisor.system.worker import call_worker


class AgentsTestArgs(Struct, frozen=True, kw_only=True):
    """The file."""

    path: Annotated[
        str,
        Meta(
            description="The file that describes the agent (.toml), or a recording.",
            extra={"positional": "one", "is_path": True},
        ),
    ]


async def run(_services: Services, args: AgentsTestArgs) -> DescriptionCheck:
    if not os.path.isfile(args.path):
        raise ObjectNotFound(f"{args.path} not found", hint="Name a file such as ~/.config/termvisor/agents/mine.toml.")
    return await (check_description if args.path.endswith(".toml") else _check_recording)(args.path)


async def check_description(path: str) -> DescriptionCheck:
    return await _call_check("termvisor.agents.adapters.description_files:check_description", path)


async def _check_recording(path: str) -> DescriptionCheck:
    return await _call_check("termvisor.agents.recordings.pane_recording:check_pane_recording", path)


async def _call_check(function: str, path: str) -> DescriptionCheck:
    # Runs in a worker process, so that only the worker loads the adapters of agents.
    return await call_worker(
        function, (os.path.abspath(path),), returns=DescriptionCheck, timeout_s=60.0, name="description"
    )


def render_text(result: DescriptionCheck, options: RenderOptions) -> str:
    if result.problem:
        return sanitize(f"error: {result.problem}")
    examples = f"{pluralize(len(result.examples), 'example')} classified as expected"
    return sanitize(f"{result.name} ok, {examples}")


OP = Operation(
    name="agents_test",
    summary="Check a file that describes an agent, or replay a recording.",
    doc="""The first problem is reported with its line and the nearest key. Every example must be classified as the
state that it names. A recording of `visor agents record` is replayed with the agents of your config folder: every part
must be recognized as the state that it names; idle and completed count as the same.""",
    run=run,
    render_text=render_text,
    effect="local",
    get_exit_status=lambda result: 78 if result.problem else 0,
    exit_statuses=((0, "The file can be used."), (78, "The file has a problem.")),
    examples=(
        OperationExample("agents test ~/.config/termvisor/agents/mine.toml", "check your own agent"),
        OperationExample("agents test mine.jsonl", "replay a recording of `agents record`"),
    ),
)
