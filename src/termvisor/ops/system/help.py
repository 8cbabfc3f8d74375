"""Operation `help`: list all commands, or show the help page of one."""

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct, structs

from termvisor.errors import UnknownCommand
from termvisor.ops.api import catalog
from termvisor.ops.api.arguments import (
    GLOBAL_OPTIONS_HELP,
    CommandArgument,
    describe_arguments,
    list_arguments,
    render_usage,
)
from termvisor.ops.api.operation import CLI_ONLY_COMMANDS, COMMAND_GROUPS, Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.text import RenderOptions, wrap_text

_NAMES_ONLY = "setup and maintenance"
_RARE_COMMANDS = frozenset({"agents record", "agents test", "agents new", "tmux-status", "policy test"})
_RARE_GROUPS = ("job",)
"""Listed by name only, as the list must stay short for programs."""
"""The chapter whose commands are for people; a list for programs only names them."""
_TYPE_NAMES = {str: "text", int: "integer", float: "number", bool: "switch"}


class HelpArgs(Struct, frozen=True, kw_only=True):
    """The command to explain; without it all commands are listed."""

    topic: Annotated[str | None, Meta(description="The command to explain.", extra={"positional": "rest"})] = None
    examples: Annotated[bool, Meta(description="Include examples.")] = False


class OptionHelp(Struct, frozen=True, kw_only=True):
    """One argument. ``name`` has a leading `--` unless it is given by its place; ``default`` is null if it has none."""

    name: str
    type: str
    default: Any = None
    is_required: bool
    values: tuple[str, ...]
    about: str


class CommandHelp(Struct, frozen=True, kw_only=True):
    detail_fields: ClassVar[tuple[str, ...]] = ("chapter", "aliases")

    command: str
    chapter: str
    """Help chapter that lists the command."""
    aliases: tuple[str, ...]
    robot: str | None
    usage: str
    summary: str
    effect: str
    examples: tuple[str, ...] = ()
    options: tuple[OptionHelp, ...] = ()
    exit_statuses: dict[str, str] = {}


class HelpText(Struct, frozen=True, kw_only=True):
    """``summaries`` has a sentence per robot command, ``more`` the names of those for setup and maintenance;
    ``command`` is the single command that was asked for, and ``page`` its help page for people.
    """

    detail_fields: ClassVar[tuple[str, ...]] = ("commands", "page")

    summaries: dict[str, str] = {}
    more: tuple[str, ...] = ()
    command: CommandHelp | None = None
    examples: tuple[str, ...] = ()
    commands: tuple[CommandHelp, ...]
    page: str = ""


async def run(_services: Services, args: HelpArgs) -> HelpText:
    if args.topic is None:
        return _build_list(catalog.load_all_operations(), has_examples=args.examples)
    if args.topic in dict(CLI_ONLY_COMMANDS):
        text = f"{dict(CLI_ONLY_COMMANDS)[args.topic]}\n\nRun `visor {args.topic} --help` for its options."
        return HelpText(commands=(), page=text)
    try:
        op, _ = catalog.find_operation(args.topic.split(), is_robot=True)
    except UnknownCommand:
        found = _find_commands(args.topic)
        if not found:
            raise
        return _build_list(found, has_examples=args.examples)
    return build_help(op)


def _find_commands(topic: str) -> list[Operation]:
    """Return the operations of a group or chapter, a command by its robot name, or all whose text has every word."""
    words = topic.lower().split()
    ops = catalog.load_all_operations()
    named = [op for op in ops if op.robot_name == words[0] or op.command.startswith(f"{words[0]} ")]
    return named or [
        op
        for op in ops
        if all(word in f"{op.command} {catalog.find_chapter(op.name)} {op.summary} {op.doc}".lower() for word in words)
    ]


def _build_list(ops: Sequence[Operation], *, has_examples: bool) -> HelpText:
    commands = tuple(_build_command_help(op, has_examples=has_examples) for op in ops)
    return HelpText(
        summaries={item.robot or item.command: item.summary for item in commands if not _is_rare(item)},
        more=tuple(item.robot or item.command for item in commands if _is_rare(item)),
        examples=tuple(example for item in commands for example in item.examples),
        commands=commands,
    )


def _is_rare(item: CommandHelp) -> bool:
    is_rare = item.command in _RARE_COMMANDS or item.command.split()[0] in _RARE_GROUPS
    return is_rare or item.chapter == _NAMES_ONLY


def build_help(op: Operation) -> HelpText:
    """Return the help of one operation."""
    command = _build_command_help(op, has_examples=True)
    options = tuple(map(_build_option_help, list_arguments(op.args_type)))
    return HelpText(command=structs.replace(command, options=options), commands=(command,), page=render_page(op))


def _build_option_help(argument: CommandArgument) -> OptionHelp:
    return OptionHelp(
        name=argument.field if argument.is_positional else argument.flags[0],
        type=("list of " if argument.is_repeated else "") + _TYPE_NAMES[argument.type],
        # Of a switch, and where nothing is the default, the type says it.
        default=None if argument.is_required or argument.default in (False, "", ()) else argument.default,
        is_required=argument.is_required,
        values=argument.choices,
        about=argument.doc,
    )


def _build_command_help(op: Operation, *, has_examples: bool) -> CommandHelp:
    return copy_fields(
        CommandHelp,
        op,
        chapter=catalog.find_chapter(op.name),
        robot=op.robot_name,
        usage=render_usage(op.command, op.args_type),
        examples=tuple(f"visor {example.command_line}".rstrip() for example in op.examples) if has_examples else (),
        exit_statuses={str(status): meaning for status, meaning in op.exit_statuses},
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
    is_complete = len(result.commands) == len(catalog.OPERATION_NAMES)
    chapters: list[tuple[str, Sequence[tuple[str, str]]]] = (
        [("start and stop", CLI_ONLY_COMMANDS)] if is_complete else []
    )
    chapters += [(title, tuple(pair for _, pair in pairs)) for title, pairs in groupby(rows, key=lambda row: row[0])]
    width = max(len(command) for _, pairs in chapters for command, _ in pairs)
    parts = ["usage: visor <command> [options]"]
    parts += ["\n".join([f"{title}:", *_render_pairs(pairs, width)]) for title, pairs in chapters]
    if result.examples:
        parts.append("\n".join(["examples:", *(f"  {example}" for example in result.examples)]))
    return "\n\n".join([*parts, "Run `visor help <command>` for details."])


OP = Operation(
    name="help",
    summary="List all commands, or show the help page of one.",
    doc="""`visor <command> --help` shows the same page. Any other word lists the commands about it:
`visor help config`, `visor help secret`. For programs, `robot help` has one sentence per command, and
`robot help <command>` its options with type and default.""",
    run=run,
    render_text=render_text,
    effect="local",
    examples=(
        OperationExample("help search", "explain one command"),
        OperationExample("robot help send", "the options of one command, as JSON"),
        OperationExample("robot help --examples", "list all commands, as JSON"),
    ),
)
