"""Run `visor demo`: start or stop a private tmux server with six panes of sample output."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.frontends.cli.fast_client import write_all
from termvisor.frontends.demo import server
from termvisor.settings import load_settings, resolve_paths


class DemoCommandArgs(Struct, frozen=True, kw_only=True):
    action: Annotated[Literal["start", "stop"], Meta(description="What to do.", extra={"positional": "one"})] = "start"


def run(args: DemoCommandArgs) -> int:
    paths = resolve_paths()
    settings = load_settings(paths)
    if args.action == "start":
        text = _render_started(server.start_demo(paths, settings), server.build_attach_command(paths, settings))
    else:
        text = "Stopped the demo." if server.stop_demo(paths, settings) else "No demo was running."
    write_all(1, text.encode() + b"\n")
    return 0


def _render_started(is_new: bool, attach: str) -> str:
    head = "The demo is running" if is_new else "The demo is already running"
    return f"""{head}: six panes on a private tmux server.
  visor up                show them live
  visor inbox             list the approval request of one agent; `visor approve` answers it
  visor search pelican    find a word in their output
  visor search 'harbour*' find words with this prefix in all panes
  {attach}
Stop it with `visor demo stop`, or everything with `visor down`."""
