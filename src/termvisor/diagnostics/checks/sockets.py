"""The check `sockets`: no other user can connect to the daemon."""

import os
import stat

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding


class SocketPermissionsCheck:
    name = "sockets"
    doc = "The runtime directory has mode 0700, the sockets in it 0600, and both belong to you."

    async def run(self, context: CheckContext) -> CheckFinding:
        folder = context.paths.runtime_dir
        if not os.path.isdir(folder):
            return CheckFinding(name=self.name, status="skip", message=f"{folder} is created at the first start")
        modes = [(folder, 0o700), (context.paths.daemon_socket, 0o600), (context.paths.recorder_socket, 0o600)]
        problems = [problem for path, mode in modes if (problem := _find_permission_problem(path, mode))]
        if problems:
            hint = "Stop the daemon with `visor down`, remove the directory, and start it again."
            return CheckFinding(name=self.name, status="fail", message="; ".join(problems), hint=hint)
        return CheckFinding(name=self.name, status="ok", message=f"{folder} is private")


def _find_permission_problem(path: str, mode: int) -> str | None:
    try:
        file_stat = os.lstat(path)
    except FileNotFoundError:  # no daemon is running
        return None
    if file_stat.st_uid != os.getuid():
        return f"{path} belongs to user {file_stat.st_uid}"
    extra = stat.S_IMODE(file_stat.st_mode) & ~mode
    return f"{path} has mode {stat.S_IMODE(file_stat.st_mode):04o}, not {mode:04o}" if extra else None
