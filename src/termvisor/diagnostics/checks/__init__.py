"""The checks that `visor doctor` runs, in order."""

from termvisor.diagnostics.checks.agents import AgentDriftCheck, AgentHooksCheck
from termvisor.diagnostics.checks.check import Check
from termvisor.diagnostics.checks.configuration import (
    ConfigCheck,
    ExternalProgramsCheck,
    PluginsCheck,
    PolicyCheck,
    RulePacksCheck,
)
from termvisor.diagnostics.checks.daemon import ClockSkewCheck, RecorderCheck, SocketPermissionsCheck
from termvisor.diagnostics.checks.python import PythonCheck
from termvisor.diagnostics.checks.storage import DatabaseCheck, DiskSpaceCheck
from termvisor.diagnostics.checks.tmux import HistoryLimitCheck, ServersCheck, ShellMarksCheck, TmuxVersionCheck

BUILTIN_CHECKS: tuple[Check, ...] = (
    ConfigCheck(),
    PolicyCheck(),
    PythonCheck(),
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
