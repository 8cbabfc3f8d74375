"""The operation `agents_new`: describe the program in a pane as an agent, and collect screens as examples."""

import os
import re
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, Unavailable
from termvisor.model.action.action import WriteConfig
from termvisor.model.agent.agent_view import PaneProgram
from termvisor.model.agent.state import StateName
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.ops.agents.agents_test import check_description
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize_lines
from termvisor.redaction import Redactor, redact
from termvisor.system.files import make_private_folder


class DescribeAgentArgs(Struct, frozen=True, kw_only=True):
    """The name of the agent, its pane, and the state that the pane shows now."""

    name: Annotated[
        str,
        Meta(
            description="A name of your choice: a-z, 0-9 and _.",
            pattern="^[a-z][a-z0-9_]{0,39}$",
            extra={"positional": "one"},
        ),
    ]
    pane: Annotated[str, Meta(description="The pane in which the agent runs; any reference.")]
    shows: Annotated[
        StateName | None, Meta(description="The state that its screen shows now; saves the screen as an example.")
    ] = None


class DescribeAgentResult(Struct, frozen=True, kw_only=True):
    """``rows`` is the screen; ``problem`` is what the check of the file found; ``is_new``: the file was created."""

    path: str
    is_new: bool
    rows: tuple[str, ...]
    saved: StateName | None
    problem: str


async def run(services: Services, args: DescribeAgentArgs) -> DescribeAgentResult:
    if any(kind.name == args.name and not kind.is_described for kind in await services.agents.list_kinds()):
        raise BadRequest(f"{args.name} is the name of an adapter", hint="Choose another name.")
    pane = await resolve_pane(services, args.pane)
    screen = await services.panes.capture_screen(pane.id)
    rows = tuple(redact_row.rstrip() for redact_row in Redactor().redact_screen(screen.rows, screen.cursor_y))
    folder = f"{services.paths.config_dir}/agents"
    path = f"{folder}/{args.name}.toml"
    is_new = not os.path.lexists(path)
    text = _render_process(args.name, await _find_program(services, pane.id)) if is_new else ""
    text += _render_example(args.shows, screen, rows) if args.shows is not None else ""
    make_private_folder(folder, keeps_mode=True)
    _append(path, text, is_new=is_new)
    check = await check_description(path)
    return DescribeAgentResult(path=path, is_new=is_new, rows=rows, saved=args.shows, problem=check.problem)


async def _find_program(services: Services, pane: PaneId) -> PaneProgram:
    program = await services.agents.find_program(pane)
    if program is None:
        raise BadRequest(f"no program runs in pane {pane} besides a shell", hint="Start the agent there first.")
    return program


def _append(path: str, text: str, *, is_new: bool) -> None:
    # O_EXCL and O_NOFOLLOW: no other file is changed, even if it appeared meanwhile.
    flags = os.O_WRONLY | os.O_APPEND | (os.O_CREAT | os.O_EXCL if is_new else os.O_NOFOLLOW)
    try:
        with open(os.open(path, flags, 0o600), "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from error


def _render_process(name: str, program: PaneProgram) -> str:
    script = f"scripts = [{_quote(f'/{re.escape(program.script)}$')}]\n" if program.script else ""
    packages = f"packages = [{_quote(program.package)}]\n" if program.package else ""
    start = program.package.rpartition("/")[2] or program.script or program.name
    return f"""\
# `visor agents test <this file>` checks it; `visor config reload` uses it. Keys: docs/guides/teach-an-agent.md
about = {_quote(name)}        # the program and its vendor
{packages}start = [{_quote(start)}]

[process]
programs = [{_quote(start)}]
{script}excluded = []              # first arguments that start no conversation, such as "login"

# [keys]                   # uncomment what you have tried in the program
# interrupt = ["Escape"]
# exit = ["C-c", "C-c"]
"""


def _quote(text: str) -> str:
    """Return a literal TOML string; control characters and quotes, which it cannot hold, become dots."""
    return "'" + "".join(char if char.isprintable() and char != "'" else "." for char in redact(text)) + "'"


def _render_example(state: StateName, screen: Screen, rows: tuple[str, ...]) -> str:
    shown = "\n".join("".join(char for char in row if char.isprintable()) for row in rows).replace("'''", "' ' '")
    cursor = f"cursor = [{screen.cursor_x}, {screen.cursor_y}]"
    return f"\n[[example]]\nstate = \"{state}\"\n{cursor}\nscreen = '''\n{shown}'''\n"


def render_text(result: DescribeAgentResult, options: RenderOptions) -> str:
    done = "wrote" if result.is_new else "extended" if result.saved else "found"
    name = os.path.basename(result.path).removesuffix(".toml")
    lines = [
        *result.rows,
        "",
        f"{done} {result.path}" + (f", with this screen as {result.saved}" if result.saved else ""),
    ]
    if result.problem:
        lines.append(f"error: {result.problem}")
    elif result.saved:
        lines.append("the file is valid; `visor config reload` uses it")
    if not result.saved:
        lines.append(f"which state does the screen show? Save it: `visor agents new {name} --pane N --shows running`")
    return sanitize_lines("\n".join(lines))


OP = Operation(
    name="agents_new",
    summary="Describe the program in a pane as an agent of your own.",
    doc="""Writes a file to the folder `agents` of your config folder, with the program's name or script. Call it again
with `--shows` whenever the agent shows another state: its screen is added to the file as an example, and the file is
checked. A screen that is classified as another state needs a rule in the file. A program needs approval.""",
    run=run,
    render_text=render_text,
    effect="change",
    list_changes=lambda _services, args: (WriteConfig(change="rule", name=f"agents/{args.name}", value=args.pane),),
    examples=(
        OperationExample("agents new mine --pane 3", "describe the program in pane 3"),
        OperationExample("agents new mine --pane 3 --shows waiting_approval", "save its screen as an example"),
    ),
)
