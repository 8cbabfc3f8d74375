"""The op `completion`: a script that lets your shell complete command lines of visor."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import Unavailable
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize


class CompletionArgs(Struct, frozen=True, kw_only=True):
    """For which shell; `panes` is what the scripts themselves ask for."""

    shell: Annotated[
        Literal["bash", "zsh", "fish", "panes"],
        Meta(description="Your shell; `panes` lists what a pane can be called.", extra={"positional": "one"}),
    ]


class CompletionScript(Struct, frozen=True, kw_only=True):
    shell: str
    script: str


async def run(services: Services, args: CompletionArgs) -> CompletionScript:
    text = await _list_panes(services) if args.shell == "panes" else _build_script(args.shell)
    return CompletionScript(shell=args.shell, script=text)


def _build_script(shell: str) -> str:
    from termvisor.ops.docs.completions import (
        bash,
        fish,
        zsh,  # they need every op
    )

    scripts = {"bash": bash.render_script, "zsh": zsh.render_script, "fish": fish.render_script}
    return scripts[shell]()


async def _list_panes(services: Services) -> str:
    """Numbers, each with a tab and where it is. Who presses Tab wants no error and no daemon."""
    try:
        panes = await services.panes.list_panes()
    except Unavailable:
        return ""
    return "\n".join(
        sanitize(f"{pane.id}|{pane.facts.session_name}:{pane.facts.window_index} {pane.facts.command}").replace(
            "|", "\t", 1
        )
        for pane in panes
    )


def render_text(result: CompletionScript, options: RenderOptions) -> str:
    return result.script.rstrip("\n")


OP = Operation(
    name="completion",
    summary="A script that completes commands, options and panes in your shell.",
    doc="""Put `source <(visor completion bash)` into `~/.bashrc`, `source <(visor completion zsh)` behind `compinit`
into `~/.zshrc`, or `visor completion fish | source` into `~/.config/fish/config.fish`. The script is made from the
commands themselves; panes are asked from the daemon when you press Tab, and no daemon is started for it.""",
    args_type=CompletionArgs,
    result_type=CompletionScript,
    run=run,
    render_text=render_text,
    works_without_daemon=True,
    examples=(
        OperationExample("completion bash", "the script for bash"),
        OperationExample("completion fish", "the script for fish"),
    ),
)
