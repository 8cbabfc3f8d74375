"""Run `visor down`: stop demo, daemon and recorder. The demo is stopped first, so that its end is still captured."""

from msgspec import Struct

from termvisor.client import daemon_process
from termvisor.daemon.lifecycle import find_recorder_pid, stop_recorder
from termvisor.errors import ConfigError
from termvisor.frontends.cli.fast_client import write_all
from termvisor.frontends.demo import server
from termvisor.settings import Paths, Settings, load_settings, resolve_paths


class DownCommandArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


def run(_args: DownCommandArgs) -> int:
    stopped = _stop_everything(resolve_paths())
    text = "".join(f"Stopped {name}.\n" for name in stopped) or "Nothing was running.\n"
    write_all(1, text.encode())
    return 0


def _stop_everything(paths: Paths) -> list[str]:
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
        return Settings()  # an invalid config file must not prevent the stop
