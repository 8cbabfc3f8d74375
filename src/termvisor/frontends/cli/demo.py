"""`visor demo`: six lively panes on a private tmux server, to try everything on."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.frontends.cli.fast_client import write_all
from termvisor.frontends.demo import server
from termvisor.settings import load_settings, resolve_paths


class DemoCommandArgs(Struct, frozen=True, kw_only=True):
    """What to do with the demo."""

    action: Annotated[
        Literal["start", "stop"], Meta(description="What to do with it.", extra={"positional": "one"})
    ] = "start"


def run(args: DemoCommandArgs) -> int:
    where = resolve_paths()
    settings = load_settings(where)
    if args.action == "start":
        text = _render_started(server.start_demo(where, settings), server.build_attach_command(where, settings))
    else:
        text = "Stopped the demo." if server.stop_demo(where, settings) else "No demo was running."
    write_all(1, text.encode() + b"\n")
    return 0


def _render_started(is_new: bool, attach: str) -> str:
    head = "The demo is running" if is_new else "The demo was running already"
    return f"""{head}: six panes on a tmux server of its own.
  visor up                see them, live
  visor inbox             what the agent in one of them asks; `visor approve` answers
  visor search pelican    find a word that one of them printed
  visor search 'harbour*' find what begins so, in all of them
  {attach}
Stop it with `visor demo stop`, or everything with `visor down`."""
