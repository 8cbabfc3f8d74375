"""The operation `completion`: print the completion script for a shell."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import Unavailable
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import sanitize


class CompletionArgs(Struct, frozen=True, kw_only=True):
    """Choose the shell; the scripts themselves call `panes`."""

    shell: Annotated[
        Literal["bash", "zsh", "fish", "panes"],
        Meta(description="Your shell; `panes` lists panes for completion.", extra={"positional": "one"}),
    ]


class CompletionScript(Struct, frozen=True, kw_only=True):
    shell: str
    script: str


async def run(services: Services, args: CompletionArgs) -> CompletionScript:
    text = await _list_panes(services) if args.shell == "panes" else _build_script(args.shell)
    return CompletionScript(shell=args.shell, script=text)


def _build_script(shell: str) -> str:
    # Imported here because these modules import every operation.
    from termvisor.ops.docs.completions import bash, fish, zsh

    scripts = {"bash": bash.render_script, "zsh": zsh.render_script, "fish": fish.render_script}
    return scripts[shell]()


async def _list_panes(services: Services) -> str:
    """Return one line per pane: number, tab, place and command."""
    try:
        panes = await services.panes.list_panes()
    except Unavailable:  # pressing Tab must neither print an error nor start a daemon
        return ""
    # A tab separates the number from the description, so the names themselves must not contain one.
    return "\n".join(
        sanitize(f"{pane.id}|{pane.facts.session_name}:{pane.facts.window_index} {pane.facts.command}").replace(
            "|", "\t", 1
        )
        for pane in panes
    )


OP = Operation(
    name="completion",
    summary="Print a completion script for your shell: commands, options and panes.",
    doc="""Put `source <(visor completion bash)` into `~/.bashrc`, `source <(visor completion zsh)` after `compinit`
into `~/.zshrc`, or `visor completion fish | source` into `~/.config/fish/config.fish`. The script is generated from the
commands; panes are queried from the daemon when you press Tab, and no daemon is started for it.""",
    run=run,
    render_text=lambda result, _options: result.script.rstrip("\n"),
    is_verbatim=True,
    works_without_daemon=True,
    examples=(
        OperationExample("completion bash", "the script for bash"),
        OperationExample("completion fish", "the script for fish"),
    ),
)
