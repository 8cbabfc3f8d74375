"""The op `help`: the list of commands, or the page of one."""

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api import catalog as catalogue
from termvisor.ops.api.arguments import explained, usage
from termvisor.ops.api.global_options import EXPLAINED
from termvisor.ops.api.operation import FACE_COMMANDS, GROUPS, Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look
from termvisor.ops.render.wrap import flowed


class Help(Struct, frozen=True, kw_only=True):
    """Which command to explain; all of them, briefly, where none is named."""

    topic: Annotated[str | None, Meta(description="A command.", extra={"positional": "rest"})] = None
    examples: Annotated[bool, Meta(description="With examples.")] = False


class CommandLine(Struct, frozen=True, kw_only=True):
    command: str
    chapter: str
    """What it is for, in a few words that related commands share."""
    aliases: tuple[str, ...]
    robot: str | None
    usage: str
    summary: str
    effect: str
    examples: tuple[str, ...] = ()


class HelpText(Struct, frozen=True, kw_only=True):
    """``page`` is the full text of one command, empty in a list."""

    commands: tuple[CommandLine, ...]
    page: str = ""


async def run(_world: World, wanted: Help) -> HelpText:
    if wanted.topic is None:
        return HelpText(commands=tuple(_line(op, has_examples=wanted.examples) for op in catalogue.every()))
    op, _ = catalogue.find(wanted.topic.split(), is_robot=False)
    return of(op)


def of(op: Op) -> HelpText:
    """The page of one op."""
    return HelpText(commands=(_line(op, has_examples=True),), page=page(op))


def _line(op: Op, *, has_examples: bool) -> CommandLine:
    return CommandLine(
        command=op.command,
        chapter=catalogue.chapter(op.name),
        aliases=op.aliases,
        robot=op.robot,
        usage=usage(op.command, op.Input),
        summary=op.summary,
        effect=op.effect,
        examples=tuple(f"visor {example.line}".rstrip() for example in op.examples) if has_examples else (),
    )


def page(op: Op) -> str:
    """Everything about one command, for a terminal."""
    parts = [op.summary, f"usage: visor {usage(op.command, op.Input)}", op.doc]
    names = [*op.aliases, *([f"robot {op.robot}"] if op.robot else [])]
    if names:
        parts.append("also: " + ", ".join(names))
    if others := _others(op):
        parts.append("see also: " + ", ".join(others))
    if own := explained(op.Input):
        parts.append("\n".join(["arguments:", *_pairs(own)]))
    parts.append("\n".join(["everywhere:", *_pairs(EXPLAINED)]))
    if op.exits:
        parts.append("\n".join(["exit status:", *_pairs([(str(status), text) for status, text in op.exits])]))
    parts.append(
        "\n".join(["examples:", *_pairs([(f"visor {item.line}".rstrip(), item.does) for item in op.examples])])
    )
    return "\n\n".join(parts)


def _others(op: Op) -> list[str]:
    """The other commands that begin with the same word, such as `workflow`."""
    group = op.command.partition(" ")[0]
    if group not in GROUPS:
        return []
    names = [name for found in catalogue.CHAPTERS.values() for name in found if name != op.name]
    return [
        f"{group} {rest.replace('_', '-')}"
        for first, _, rest in (one.partition("_") for one in names)
        if first == group
    ]


def _pairs(pairs: Sequence[tuple[str, str]], room: int | None = None) -> list[str]:
    room = room or min(36, max(len(left) for left, _ in pairs))
    return [f"  {left:<{room}}  {right}" for left, right in pairs]


def plain(text: HelpText, look: Look) -> str:
    if text.page:
        return flowed(text.page, look.width)
    rows = [(line.chapter, (", ".join([line.command, *line.aliases[:1]]), line.summary)) for line in text.commands]
    chapters: list[tuple[str, Sequence[tuple[str, str]]]] = [("start and stop", FACE_COMMANDS)]
    chapters += [(title, tuple(pair for _, pair in pairs)) for title, pairs in groupby(rows, key=lambda row: row[0])]
    room = max(len(command) for _, pairs in chapters for command, _ in pairs)
    parts = ["usage: visor <command> [options]"]
    parts += ["\n".join([f"{title}:", *_pairs(pairs, room)]) for title, pairs in chapters]
    examples = [example for line in text.commands for example in line.examples]
    if examples:
        parts.append("\n".join(["examples:", *(f"  {example}" for example in examples)]))
    return "\n\n".join([*parts, "`visor help <command>` explains one."])


OP = Op(
    name="help",
    summary="The commands, or everything about one.",
    doc="`visor <command> --help` gives the same page.",
    Input=Help,
    Output=HelpText,
    run=run,
    plain=plain,
    effect="local",
    examples=(Example("help search", "one command"), Example("robot help --examples", "all of them, as JSON")),
)
