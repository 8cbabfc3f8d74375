"""The check `disk`: the data directory is writable and has enough free space."""

import os
import tempfile

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding

WARN_BYTES = 1_000_000_000
FAIL_BYTES = 100_000_000


class DiskSpaceCheck:
    name = "disk"
    doc = "The data directory is writable and its disk has at least 1 GB free (less than 100 MB is a failure)."

    async def run(self, context: CheckContext) -> CheckFinding:
        folder = context.paths.data_dir
        if not os.path.isdir(folder):
            return CheckFinding(name=self.name, status="skip", message=f"{folder} is created at the first start")
        try:
            with tempfile.TemporaryFile(dir=folder) as probe:
                probe.write(b"visor")
        except OSError as error:
            hint = "Check its permissions, or set VISOR_DATA_DIR to another directory."
            return CheckFinding(
                name=self.name, status="fail", message=f"{folder} is not writable: {error.strerror}", hint=hint
            )
        usage = os.statvfs(folder)
        return judge_free_space(folder, usage.f_bavail * usage.f_frsize)


def judge_free_space(folder: str, free_bytes: int) -> CheckFinding:
    message = f"{folder}: {free_bytes / 1e9:.1f} GB free"
    if free_bytes >= WARN_BYTES:
        return CheckFinding(name="disk", status="ok", message=message)
    hint = "Free some space, or set VISOR_DATA_DIR to a directory on another disk."
    return CheckFinding(name="disk", status="warn" if free_bytes >= FAIL_BYTES else "fail", message=message, hint=hint)
