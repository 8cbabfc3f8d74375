"""The op `completion`: a script that lets your shell complete command lines of visor."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import Unavailable
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, clean


class Completion(Struct, frozen=True, kw_only=True):
    """For which shell; `panes` is what the scripts themselves ask for."""

    shell: Annotated[
        Literal["bash", "zsh", "fish", "panes"],
        Meta(description="Your shell; `panes` lists what a pane can be called.", extra={"positional": "one"}),
    ]


class CompletionScript(Struct, frozen=True, kw_only=True):
    shell: str
    script: str


async def run(world: World, wanted: Completion) -> CompletionScript:
    text = await _panes(world) if wanted.shell == "panes" else _script(wanted.shell)
    return CompletionScript(shell=wanted.shell, script=text)


def _script(shell: str) -> str:
    from termvisor.ops.docs.completions import (
        bash,
        fish,
        zsh,  # they need every op
    )

    scripts = {"bash": bash.script, "zsh": zsh.script, "fish": fish.script}
    return scripts[shell]()


async def _panes(world: World) -> str:
    """Numbers, each with a tab and where it is. Who presses Tab wants no error and no daemon."""
    try:
        panes = await world.fleet.panes()
    except Unavailable:
        return ""
    return "\n".join(
        clean(f"{pane.id}|{pane.facts.session_name}:{pane.facts.window_index} {pane.facts.command}").replace(
            "|", "\t", 1
        )
        for pane in panes
    )


def plain(made: CompletionScript, look: Look) -> str:
    return made.script.rstrip("\n")


OP = Op(
    name="completion",
    summary="A script that completes commands, options and panes in your shell.",
    doc="""Put `source <(visor completion bash)` into `~/.bashrc`, `source <(visor completion zsh)` behind `compinit`
into `~/.zshrc`, or `visor completion fish | source` into `~/.config/fish/config.fish`. The script is made from the
commands themselves; panes are asked from the daemon when you press Tab, and no daemon is started for it.""",
    Input=Completion,
    Output=CompletionScript,
    run=run,
    plain=plain,
    works_alone=True,
    examples=(
        Example("completion bash", "the script for bash"),
        Example("completion fish", "the script for fish"),
    ),
)
