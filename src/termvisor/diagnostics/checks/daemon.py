"""Daemon checks: the recorder is running, the sockets are private, and the clock is not behind stored times."""

import os
import stat

from termvisor.clock import NS
from termvisor.diagnostics.checks.check import BuiltinCheck, CheckContext, CheckFinding

MAX_AHEAD_S = 5.0
MIN_FREE_DESCRIPTORS, FAIL_FREE_DESCRIPTORS = 64, 4


class RecorderCheck(BuiltinCheck):
    name = "recorder"
    doc = "The daemon and its recorder process are running."

    async def run(self, context: CheckContext) -> CheckFinding:
        health = await context.get_health()
        if health is None:
            return self.report("skip", "no daemon is running", "`visor up` starts it.")
        if health.recorder is None:
            hint = "The daemon restarts it; `visor health` shows alerts. If that fails, run `visor down && visor up`."
            return self.report("fail", "the recorder is not running", hint)
        return self.report("ok", f"running (pid {health.recorder.pid})")


class AlertsCheck(BuiltinCheck):
    name = "alerts"
    doc = "The daemon reports no alert: every pane is captured and everything captured can be stored."

    async def run(self, context: CheckContext) -> CheckFinding:
        health = await context.get_health()
        if health is None:
            return self.report("skip", "no daemon is running")
        if health.alerts:
            return self.report("fail", "; ".join(health.alerts), "`visor health` and `visor logs` show more.")
        return self.report("ok", "none")


class DescriptorsCheck(BuiltinCheck):
    name = "descriptors"
    doc = (
        "Daemon and recorder may open at least 64 more files: each pane takes three in the recorder, two in the daemon."
    )

    async def run(self, context: CheckContext) -> CheckFinding:
        health = await context.get_health()
        usages = {"daemon": health.daemon, "recorder": health.recorder} if health is not None else {}
        free = {name: usage.free_descriptors for name, usage in usages.items() if usage is not None}
        known = {name: count for name, count in free.items() if count is not None}
        if not known:
            return self.report("skip", "unknown: no daemon is running, or the system does not tell")
        message = ", ".join(f"{name}: {count} free" for name, count in known.items())
        least = min(known.values())
        if least >= MIN_FREE_DESCRIPTORS:
            return self.report("ok", message)
        hint = (
            "Raise the hard limit on open files (`ulimit -Hn`, `LimitNOFILE` of a unit), then `visor down && visor up`."
        )
        return self.report("warn" if least >= FAIL_FREE_DESCRIPTORS else "fail", message, hint)


class SocketPermissionsCheck(BuiltinCheck):
    name = "sockets"
    doc = "The runtime directory has mode 0700, the sockets in it 0600, and both belong to you."

    async def run(self, context: CheckContext) -> CheckFinding:
        folder = context.paths.runtime_dir
        if not os.path.isdir(folder):
            return self.report("skip", f"{folder} is created at the first start")
        modes = [(folder, 0o700), (context.paths.daemon_socket, 0o600), (context.paths.recorder_socket, 0o600)]
        problems = [problem for path, mode in modes if (problem := _find_permission_problem(path, mode))]
        if problems:
            hint = "Stop the daemon with `visor down`, remove the directory, and start it again."
            return self.report("fail", "; ".join(problems), hint)
        return self.report("ok", f"{folder} is private")


def _find_permission_problem(path: str, mode: int) -> str | None:
    try:
        file_stat = os.lstat(path)
    except FileNotFoundError:
        # No daemon is running.
        return None
    if file_stat.st_uid != os.getuid():
        return f"{path} belongs to user {file_stat.st_uid}"
    # Fewer permissions than expected are no risk.
    extra = stat.S_IMODE(file_stat.st_mode) & ~mode
    return f"{path} has mode {stat.S_IMODE(file_stat.st_mode):04o}, not {mode:04o}" if extra else None


class ClockSkewCheck(BuiltinCheck):
    name = "clock"
    doc = (
        "The newest stored time is at most 5 seconds ahead of the system clock, and the clock was not set within the"
        " last day."
    )

    async def run(self, context: CheckContext) -> CheckFinding:
        health = await context.get_health()
        if health is not None and health.clock_jump_secs:
            hint = "Check the time service. Data expires by the old time until the clock has been steady for a day."
            return self.report("warn", f"the system clock was set by {health.clock_jump_secs:+.0f} s", hint)
        newest = await context.read_newest_event_time()
        if newest is None:
            return self.report("skip", "no events stored yet, or no daemon is running")
        ahead = (newest - context.clock.now()) / NS
        if ahead > MAX_AHEAD_S:
            hint = "The system clock was set back. Check its time service; searches by time may miss lines."
            return self.report("warn", f"stored times are {ahead:.0f} s in the future", hint)
        return self.report("ok", "stored times match the system clock")
