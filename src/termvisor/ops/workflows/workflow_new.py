"""The operation `workflow_new`: create a workflow file to be edited."""

import os
import re
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, StateConflict, Unavailable
from termvisor.model.action.action import WriteConfig
from termvisor.model.did_you_mean import format_suggestion
from termvisor.model.event import EVENT_TYPES
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.system.files import make_private_folder

# The name is also the file name.
_NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}", re.ASCII)
_TEMPLATE = """\
# A workflow. `visor workflow list` shows errors in this file, `visor workflow dry-run {name} <pane>` what it would do.
name: {name}
summary: Ask the agent to go on
{trigger}
mode: ask                    # every action needs your approval; on: only the policy decides; off: never started
steps:
  - wait_stable: 2s          # until the pane has printed nothing for two seconds
  - send: "Please continue." # typed to the agent, or at the prompt of a shell
  # - wait_for: {{state: [idle, completed], timeout: 10m}}
  # - notify: "{name} has finished"
"""
_MANUAL_TRIGGER = """\
# Without a trigger only `visor workflow run {name} <pane>` starts it.
# trigger: {{event: session.compaction, agent: claude_code}}"""


class CreateWorkflowArgs(Struct, frozen=True, kw_only=True):
    """The name of the workflow, and the event that starts it."""

    name: Annotated[str, Meta(description="Name: lower-case letters, digits, - and _.", extra={"positional": "one"})]
    event: Annotated[str, Meta(description="The event type that starts it; default: only `workflow run` does.")] = ""
    agent: Annotated[str, Meta(description="Only for this agent.", pattern="^([a-z][a-z0-9_]*)?$")] = ""


class CreateWorkflowResult(Struct, frozen=True, kw_only=True):
    path: str


async def run(services: Services, args: CreateWorkflowArgs) -> CreateWorkflowResult:
    if not _NAME_PATTERN.fullmatch(args.name):
        raise BadRequest(f"{args.name[:200]!r} is not a workflow name", hint="Use lower-case letters, digits, - and _.")
    if args.event and args.event not in EVENT_TYPES:
        hint = f"{format_suggestion(args.event, tuple(EVENT_TYPES), cutoff=0.5)}".capitalize()
        raise BadRequest(f"unknown event type {args.event!r}", hint=hint)
    if args.agent and not args.event:
        raise BadRequest("--agent requires --event", hint="Name the event of this agent that starts the workflow.")
    path = f"{services.paths.workflows_dir}/{args.name}.yaml"
    _write_new_file(path, render_template(args))
    return CreateWorkflowResult(path=path)


def _write_new_file(path: str, text: str) -> None:
    make_private_folder(os.path.dirname(path), keeps_mode=True)
    try:
        # O_EXCL: an existing workflow is never overwritten, even if it is a symbolic link.
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise StateConflict(f"{path} already exists", hint="Edit it, or choose another name.") from None
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from error


def render_template(args: CreateWorkflowArgs) -> str:
    """Return a valid workflow file."""
    agent = f", agent: {args.agent}" if args.agent else ""
    trigger = f"trigger: {{event: {args.event}{agent}}}" if args.event else _MANUAL_TRIGGER.format(name=args.name)
    return _TEMPLATE.format(name=args.name, trigger=trigger)


def render_text(result: CreateWorkflowResult, options: RenderOptions) -> str:
    name = os.path.basename(result.path).removesuffix(".yaml")
    return sanitize(f"wrote {result.path}; edit it, then try it: `visor workflow dry-run {name} <pane>`")


OP = Operation(
    name="workflow_new",
    summary="Create a workflow file of your own.",
    doc="""The file is valid as it is written, and in mode `ask`: every action needs your approval. It is read again
when it changes; `visor workflow list` shows errors in it. An existing file is never overwritten. A program needs
approval.""",
    run=run,
    render_text=render_text,
    effect="local",
    list_changes=lambda _services, args: (WriteConfig(change="workflow", name=args.name),),
    exit_statuses=((75, "The file already exists."),),
    examples=(
        OperationExample("workflow new go_on", "started by `visor workflow run go_on 7`"),
        OperationExample("workflow new reread --event session.compaction", "started by an event"),
    ),
)
