"""What visor doctor looks at."""

from termvisor.checks.agent_drift import AgentsAreKnown
from termvisor.checks.agent_hooks import AgentsAreHeard
from termvisor.checks.base import Check
from termvisor.checks.clock_skew import ClockIsSteady
from termvisor.checks.config import ConfigIsValid
from termvisor.checks.database import DatabaseIsWhole
from termvisor.checks.disk import DiskHasRoom
from termvisor.checks.history_limit import HistoryIsLong
from termvisor.checks.packs import PacksLoad
from termvisor.checks.plugins import PluginsLoad
from termvisor.checks.programs import ProgramsAreKnown
from termvisor.checks.recorder import RecorderIsAlive
from termvisor.checks.servers import ServersAnswer
from termvisor.checks.shell_marks import MarksAreHeard
from termvisor.checks.sockets import SocketsArePrivate
from termvisor.checks.tmux import TmuxIsPresent

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
