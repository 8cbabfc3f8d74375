"""The check `sockets`: nobody else can talk to our daemon."""

import os
import stat

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding


class SocketPermissionsCheck:
    name = "sockets"
    doc = "The runtime folder is 0700, the sockets in it are 0600, and both belong to you."

    async def run(self, context: CheckContext) -> CheckFinding:
        folder = context.paths.runtime_dir
        if not os.path.isdir(folder):
            return CheckFinding(name=self.name, status="skip", message=f"{folder} is made when the daemon first runs")
        rules = [(folder, 0o700), (context.paths.daemon_socket, 0o600), (context.paths.recorder_socket, 0o600)]
        wrong = [trouble for path, mode in rules if (trouble := _find_permission_problem(path, mode))]
        if wrong:
            hint = "Stop the daemon with `visor down`, remove the folder, and start again."
            return CheckFinding(name=self.name, status="fail", message="; ".join(wrong), hint=hint)
        return CheckFinding(name=self.name, status="ok", message=f"{folder} is private")


def _find_permission_problem(path: str, mode: int) -> str | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if found.st_uid != os.getuid():
        return f"{path} belongs to user {found.st_uid}"
    extra = stat.S_IMODE(found.st_mode) & ~mode
    return f"{path} has rights {stat.S_IMODE(found.st_mode):04o}, not {mode:04o}" if extra else None
