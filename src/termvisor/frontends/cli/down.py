"""`visor down`: stop everything that was started. The demo ends first, so that its end is still heard and stored."""

from msgspec import Struct

from termvisor.client import daemon_process as start
from termvisor.daemon.lifecycle import recorder_pid, stop_recorder
from termvisor.errors import ConfigError
from termvisor.frontends.cli.fast_client import write
from termvisor.frontends.demo import server
from termvisor.settings import Places, Settings, load, places


class Down(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


def run(_wanted: Down) -> int:
    where = places()
    stopped = _stop(where)
    text = "".join(f"Stopped {what}.\n" for what in stopped) or "Nothing was running.\n"
    write(1, text.encode())
    return 0


def _stop(where: Places) -> list[str]:
    stopped = ["the demo"] if server.stop(where, _settings(where)) else []
    recorder = recorder_pid(where)
    if pid := start.stop(where):
        stopped.append(f"the daemon (pid {pid})")
    stop_recorder(where)
    if recorder is not None:
        stopped.append(f"the recorder (pid {recorder})")
    return stopped


def _settings(where: Places) -> Settings:
    try:
        return load(where)
    except ConfigError:
        return Settings()  # a broken config file must not keep anybody from stopping
