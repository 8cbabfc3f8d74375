"""What visor doctor looks at."""

from termvisor.diagnostics.checks.agent_drift import AgentsAreKnown
from termvisor.diagnostics.checks.agent_hooks import AgentsAreHeard
from termvisor.diagnostics.checks.check import Check
from termvisor.diagnostics.checks.clock_skew import ClockIsSteady
from termvisor.diagnostics.checks.config import ConfigIsValid
from termvisor.diagnostics.checks.database import DatabaseIsWhole
from termvisor.diagnostics.checks.disk import DiskHasRoom
from termvisor.diagnostics.checks.history_limit import HistoryIsLong
from termvisor.diagnostics.checks.packs import PacksLoad
from termvisor.diagnostics.checks.plugins import PluginsLoad
from termvisor.diagnostics.checks.programs import ProgramsAreKnown
from termvisor.diagnostics.checks.recorder import RecorderIsAlive
from termvisor.diagnostics.checks.servers import ServersAnswer
from termvisor.diagnostics.checks.shell_marks import MarksAreHeard
from termvisor.diagnostics.checks.sockets import SocketsArePrivate
from termvisor.diagnostics.checks.tmux import TmuxIsPresent

BUILTIN: tuple[Check, ...] = (
    ConfigIsValid(),
    TmuxIsPresent(),
    ServersAnswer(),
    RecorderIsAlive(),
    DatabaseIsWhole(),
    DiskHasRoom(),
    SocketsArePrivate(),
    HistoryIsLong(),
    MarksAreHeard(),
    AgentsAreHeard(),
    AgentsAreKnown(),
    PacksLoad(),
    PluginsLoad(),
    ProgramsAreKnown(),
    ClockIsSteady(),
)
