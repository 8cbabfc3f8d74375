"""The checks of `visor doctor`, in the order in which they run."""

from termvisor.diagnostics.checks.agent_drift import AgentDriftCheck
from termvisor.diagnostics.checks.agent_hooks import AgentHooksCheck
from termvisor.diagnostics.checks.check import Check
from termvisor.diagnostics.checks.clock_skew import ClockSkewCheck
from termvisor.diagnostics.checks.config import ConfigCheck
from termvisor.diagnostics.checks.database import DatabaseCheck
from termvisor.diagnostics.checks.disk import DiskSpaceCheck
from termvisor.diagnostics.checks.history_limit import HistoryLimitCheck
from termvisor.diagnostics.checks.packs import RulePacksCheck
from termvisor.diagnostics.checks.plugins import PluginsCheck
from termvisor.diagnostics.checks.programs import ExternalProgramsCheck
from termvisor.diagnostics.checks.recorder import RecorderCheck
from termvisor.diagnostics.checks.servers import ServersCheck
from termvisor.diagnostics.checks.shell_marks import ShellMarksCheck
from termvisor.diagnostics.checks.sockets import SocketPermissionsCheck
from termvisor.diagnostics.checks.tmux import TmuxVersionCheck

BUILTIN_CHECKS: tuple[Check, ...] = (
    ConfigCheck(),
    TmuxVersionCheck(),
    ServersCheck(),
    RecorderCheck(),
    DatabaseCheck(),
    DiskSpaceCheck(),
    SocketPermissionsCheck(),
    HistoryLimitCheck(),
    ShellMarksCheck(),
    AgentHooksCheck(),
    AgentDriftCheck(),
    RulePacksCheck(),
    PluginsCheck(),
    ExternalProgramsCheck(),
    ClockSkewCheck(),
)
