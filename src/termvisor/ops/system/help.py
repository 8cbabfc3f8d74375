"""Operation `help`: list all commands, or show the help page of one."""

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api import catalog
from termvisor.ops.api.arguments import GLOBAL_OPTIONS_HELP, describe_arguments, render_usage
from termvisor.ops.api.operation import CLI_ONLY_COMMANDS, COMMAND_GROUPS, Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.text import RenderOptions, wrap_text


class HelpArgs(Struct, frozen=True, kw_only=True):
    """The command to explain; without it all commands are listed."""

    topic: Annotated[str | None, Meta(description="The command to explain.", extra={"positional": "rest"})] = None
    examples: Annotated[bool, Meta(description="Include examples.")] = False


class CommandHelp(Struct, frozen=True, kw_only=True):
    command: str
    chapter: str
    """Help chapter that lists the command."""
    aliases: tuple[str, ...]
    robot: str | None
    usage: str
    summary: str
    effect: str
    examples: tuple[str, ...] = ()


class HelpText(Struct, frozen=True, kw_only=True):
    """``page`` is the help page of a single command; empty in a list."""

    commands: tuple[CommandHelp, ...]
    page: str = ""


async def run(_services: Services, args: HelpArgs) -> HelpText:
    if args.topic is None:
        return HelpText(
            commands=tuple(_build_command_help(op, has_examples=args.examples) for op in catalog.load_all_operations())
        )
    op, _ = catalog.find_operation(args.topic.split(), is_robot=False)
    return build_help(op)


def build_help(op: Operation) -> HelpText:
    """Return the help of one operation."""
    return HelpText(commands=(_build_command_help(op, has_examples=True),), page=render_page(op))


def _build_command_help(op: Operation, *, has_examples: bool) -> CommandHelp:
    return copy_fields(
        CommandHelp,
        op,
        chapter=catalog.find_chapter(op.name),
        robot=op.robot_name,
        usage=render_usage(op.command, op.args_type),
        examples=tuple(f"visor {example.command_line}".rstrip() for example in op.examples) if has_examples else (),
    )


def render_page(op: Operation) -> str:
    """Render the help page of one command."""
    parts = [op.summary, f"usage: visor {render_usage(op.command, op.args_type)}", op.doc]
    names = [*op.aliases, *([f"robot {op.robot_name}"] if op.robot_name else [])]
    if names:
        parts.append("aliases: " + ", ".join(names))
    if related := _find_related_commands(op):
        parts.append("see also: " + ", ".join(related))
    if arguments := describe_arguments(op.args_type):
        parts.append("\n".join(["arguments:", *_render_pairs(arguments)]))
    parts.append("\n".join(["global options:", *_render_pairs(GLOBAL_OPTIONS_HELP)]))
    if op.exit_statuses:
        parts.append(
            "\n".join(["exit status:", *_render_pairs([(str(status), text) for status, text in op.exit_statuses])])
        )
    parts.append(
        "\n".join(
            [
                "examples:",
                *_render_pairs([(f"visor {item.command_line}".rstrip(), item.description) for item in op.examples]),
            ]
        )
    )
    return "\n\n".join(parts)


def _find_related_commands(op: Operation) -> list[str]:
    """Return the other commands of the same group, such as `workflow`."""
    group = op.command.partition(" ")[0]
    if group not in COMMAND_GROUPS:
        return []
    names = [name.removeprefix(f"{group}_") for name in catalog.OPERATION_NAMES if name.startswith(f"{group}_")]
    return [f"{group} {name.replace('_', '-')}" for name in names if f"{group}_{name}" != op.name]


def _render_pairs(pairs: Sequence[tuple[str, str]], width: int | None = None) -> list[str]:
    # Longer names would leave no room for the descriptions.
    width = width or min(36, max(len(left) for left, _ in pairs))
    return [f"  {left:<{width}}  {right}" for left, right in pairs]


def render_text(result: HelpText, options: RenderOptions) -> str:
    if result.page:
        return wrap_text(result.page, options.width)
    rows = [
        (entry.chapter, (", ".join([entry.command, *entry.aliases[:1]]), entry.summary)) for entry in result.commands
    ]
    chapters: list[tuple[str, Sequence[tuple[str, str]]]] = [("start and stop", CLI_ONLY_COMMANDS)]
    chapters += [(title, tuple(pair for _, pair in pairs)) for title, pairs in groupby(rows, key=lambda row: row[0])]
    width = max(len(command) for _, pairs in chapters for command, _ in pairs)
    parts = ["usage: visor <command> [options]"]
    parts += ["\n".join([f"{title}:", *_render_pairs(pairs, width)]) for title, pairs in chapters]
    examples = [example for item in result.commands for example in item.examples]
    if examples:
        parts.append("\n".join(["examples:", *(f"  {example}" for example in examples)]))
    return "\n\n".join([*parts, "Run `visor help <command>` for details."])


OP = Operation(
    name="help",
    summary="List all commands, or show the help page of one.",
    doc="`visor <command> --help` shows the same page.",
    run=run,
    render_text=render_text,
    effect="local",
    examples=(
        OperationExample("help search", "explain one command"),
        OperationExample("robot help --examples", "list all commands, as JSON"),
    ),
)
