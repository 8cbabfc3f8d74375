"""Run the commands that manage the daemon itself: `visor up`, `visor down`, `visor daemon` and `visor demo`."""

import os
import shlex
import shutil
from importlib.util import find_spec
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.client import daemon_process
from termvisor.client.daemon_process import ensure_running, fetch_hello, is_running, stop_daemon
from termvisor.clock import SystemClock
from termvisor.daemon.lifecycle import find_recorder_pid, stop_recorder
from termvisor.errors import BadRequest, ConfigError, Unsupported
from termvisor.frontends.cli import pane_snapshot
from termvisor.frontends.cli.fast_client import write_all
from termvisor.frontends.cli.terminal_info import detect_terminal
from termvisor.frontends.demo import server
from termvisor.frontends.demo.scenes import DEMO_SCENES
from termvisor.ops.render.text import wrap_lines
from termvisor.settings import Paths, Settings, load_settings, resolve_paths
from termvisor.system.instance_lock import find_other_runtime_folder
from termvisor.system.retry import wait_until

NOT_RUNNING_STATUS = 3
"""Exit status of `status` if no daemon is running, as service managers expect (LSB)."""
# Without this wait, the first table would show only some of the demo's panes.
_DEMO_TIMEOUT_S = 5.0
_STATES_TIMEOUT_S = 2.0
"""Seconds to let a new daemon capture its panes and recognize their agents before the first table."""


class TuiCommandArgs(Struct, frozen=True, kw_only=True):
    mouse: Annotated[bool, Meta(description="Let the mouse scroll; the terminal then cannot select text.")] = False


def run_tui(args: TuiCommandArgs) -> int:
    """Start the daemon if needed and show the cockpit. Raises BadRequest without a terminal."""
    if not (os.isatty(0) and os.isatty(1)):
        raise BadRequest(
            "the cockpit needs a terminal", hint="`visor up` prints all panes once; `visor status` agents."
        )
    if not is_cockpit_installed():
        raise Unsupported("the cockpit is not installed", hint="Install it with `pip install 'termvisor[tui]'`.")
    paths = resolve_paths()
    ensure_running(paths)
    _show_cockpit(paths, has_mouse=args.mouse)
    write_all(1, wrap_lines(render_still_running(paths), detect_terminal().width).encode())
    return 0


def is_cockpit_installed() -> bool:
    """Return True if the extra `tui` is installed."""
    return find_spec("textual") is not None


def _show_cockpit(paths: Paths, *, has_mouse: bool = False) -> None:
    # Loaded only here: it needs 25 MB and a third of a second.
    from termvisor.frontends.tui.cockpit import run_cockpit

    run_cockpit(paths, has_mouse=has_mouse)


class UpCommandArgs(Struct, frozen=True, kw_only=True):
    demo_if_empty: Annotated[bool, Meta(description="Start the demo if there are no panes.")] = False
    once: Annotated[bool, Meta(description="Show the panes once, even in a terminal.")] = False


def run_up(args: UpCommandArgs) -> int:
    """Start the daemon if needed and show all panes: live in a terminal, once elsewhere."""
    paths = resolve_paths()
    settings = load_settings(paths)
    ensure_running(paths)
    if args.demo_if_empty and _count_panes(paths) == 0:
        server.start_demo(paths, settings)
        wait_until(lambda: _count_panes(paths) >= len(DEMO_SCENES), _DEMO_TIMEOUT_S, interval_s=0.1)
    wait_until(lambda: _has_known_states(paths), _STATES_TIMEOUT_S, interval_s=0.1)
    terminal = detect_terminal()
    if terminal.is_terminal and os.isatty(0) and not args.once and is_cockpit_installed():
        _show_cockpit(paths)
    else:
        write_all(1, pane_snapshot.render_snapshot(paths, terminal).encode())
    text = render_still_running(paths) + (render_path_hint() if args.demo_if_empty else "")
    write_all(1, wrap_lines(text, detect_terminal().width).encode())
    return 0


def render_path_hint() -> str:
    """Return how to put the command on PATH, if it is not there: `make run` starts it by its own path."""
    if shutil.which("visor") is not None:
        return ""
    return "`visor` is not on your PATH: `make install` puts it there, with completion.\n"


def render_still_running(paths: Paths) -> str:
    """Return the last line: the processes that run now, and how to stop them."""
    hello, recorder = fetch_hello(paths), find_recorder_pid(paths)
    parts = [
        *([f"daemon (pid {hello.pid})"] if hello is not None else []),
        *([f"recorder (pid {recorder})"] if recorder is not None else []),
        *(["demo tmux server"] if server.is_running(paths) else []),
    ]
    if not parts:
        return "Nothing is running any more; `visor up` starts it again.\n"
    return f"Still running: {', '.join(parts)}. Stop with `visor down`.\n"


def _has_known_states(paths: Paths) -> bool:
    return pane_snapshot.has_known_states(pane_snapshot.fetch_snapshot(paths), SystemClock().now())


def _count_panes(paths: Paths) -> int:
    return len(pane_snapshot.call_daemon(paths, "list_panes")["items"])


class DownCommandArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


def run_down(_args: DownCommandArgs) -> int:
    """Stop demo, daemon and recorder."""
    paths = resolve_paths()
    waiting = _describe_own_programs(paths)
    lines = [f"Stopped {name}." for name in _stop_everything(paths)] or [_describe_nothing_running(paths)]
    return _print_line("\n".join([*lines, *waiting]))


def _describe_own_programs(paths: Paths) -> list[str]:
    """Return what happens to programs in own terminals, which only the recorder reads: they outlive everything else."""
    if fetch_hello(paths) is None:
        return []
    panes = pane_snapshot.call_daemon(paths, "list_panes")["items"]
    # A default value is left out.
    count = sum(pane.get("heard_by") == "pty" for pane in panes)
    what = (
        "1 program keeps running in its own terminal, and waits with its output"
        if count == 1
        else (f"{count} programs keep running in own terminals, and wait with their output")
    )
    return [f"{what} until `visor up`."] if count else []


def _describe_nothing_running(paths: Paths) -> str:
    if (other := find_other_runtime_folder(paths)) is None:
        return "Nothing was running."
    command = f"VISOR_RUNTIME_DIR={shlex.quote(other)} visor down"
    return f"Nothing was running in {paths.runtime_dir}. `{command}` stops the daemon that uses {paths.data_dir}."


def _stop_everything(paths: Paths) -> list[str]:
    # Stop the demo first, so that its last output is still captured.
    stopped = ["the demo"] if server.stop_demo(paths, _load_settings(paths)) else []
    recorder = find_recorder_pid(paths)
    if pid := daemon_process.stop_daemon(paths):
        stopped.append(f"the daemon (pid {pid})")
    stop_recorder(paths)
    if recorder is not None:
        stopped.append(f"the recorder (pid {recorder})")
    return stopped


def _load_settings(paths: Paths) -> Settings:
    try:
        return load_settings(paths)
    except ConfigError:
        return Settings()  # an invalid config file must not prevent stopping


class DaemonCommandArgs(Struct, frozen=True, kw_only=True):
    action: Annotated[
        Literal["start", "stop", "restart", "status"],
        Meta(description="What to do.", extra={"positional": "one"}),
    ] = "start"
    foreground: Annotated[bool, Meta(description="Run in the foreground, for a supervisor; SIGTERM stops it.")] = False


def run_daemon(args: DaemonCommandArgs) -> int:
    return {"start": _start_daemon, "stop": _stop_daemon, "restart": _restart_daemon, "status": _print_status}[
        args.action
    ](resolve_paths())


def _start_daemon(paths: Paths) -> int:
    hello = ensure_running(paths)
    return _print_line(f"The daemon is running (pid {hello.pid}, version {hello.version}). `visor down` stops it.")


def _stop_daemon(paths: Paths) -> int:
    pid = stop_daemon(paths)
    return _print_line("No daemon was running." if pid is None else f"Stopped the daemon (pid {pid}).")


def _restart_daemon(paths: Paths) -> int:
    # The recorder keeps writing, so that no output is lost while the new daemon starts.
    stop_daemon(paths, keep_recorder=True)
    return _start_daemon(paths)


def _print_status(paths: Paths) -> int:
    if hello := fetch_hello(paths):
        return _print_line(f"running, pid {hello.pid}, version {hello.version}")
    _print_line("starting or stopping" if is_running(paths) else "not running")
    return NOT_RUNNING_STATUS


def _print_line(text: str) -> int:
    write_all(1, text.encode() + b"\n")
    return 0


class DemoCommandArgs(Struct, frozen=True, kw_only=True):
    action: Annotated[Literal["start", "stop"], Meta(description="What to do.", extra={"positional": "one"})] = "start"


def run_demo(args: DemoCommandArgs) -> int:
    paths = resolve_paths()
    settings = load_settings(paths)
    if args.action == "start":
        text = _render_started(server.start_demo(paths, settings), server.build_attach_command(paths, settings))
    else:
        text = "Stopped the demo." if server.stop_demo(paths, settings) else "No demo was running."
    return _print_line(text)


def _render_started(is_new: bool, attach: str) -> str:
    head = "The demo is running" if is_new else "The demo is already running"
    return f"""{head}: six panes on a private tmux server.
  visor up                show them live
  visor inbox             list the approval request of one agent; `visor approve` answers it
  visor search pelican    find a word in their output
  visor search 'harbour*' find words with this prefix in all panes
  {attach}
Stop it with `visor demo stop`, or everything with `visor down`."""
