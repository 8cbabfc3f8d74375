"""The check `disk`: the data folder can be written and has room."""

import os
import tempfile

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding

WARN_BYTES = 1_000_000_000
FAIL_BYTES = 100_000_000


class DiskSpaceCheck:
    name = "disk"
    doc = "The data folder can be written and its disk has at least 1 GB free (100 MB at the very least)."

    async def run(self, context: CheckContext) -> CheckFinding:
        folder = context.paths.data_dir
        if not os.path.isdir(folder):
            return CheckFinding(name=self.name, status="skip", message=f"{folder} is made when the daemon first runs")
        try:
            with tempfile.TemporaryFile(dir=folder) as probe:
                probe.write(b"visor")
        except OSError as error:
            hint = "Give yourself the right to write there, or set VISOR_DATA_DIR to another folder."
            return CheckFinding(
                name=self.name, status="fail", message=f"{folder} cannot be written: {error.strerror}", hint=hint
            )
        room = os.statvfs(folder)
        return judge_free_space(folder, room.f_bavail * room.f_frsize)


def judge_free_space(folder: str, free_bytes: int) -> CheckFinding:
    told = f"{folder}: {free_bytes / 1e9:.1f} GB free"
    if free_bytes >= WARN_BYTES:
        return CheckFinding(name="disk", status="ok", message=told)
    hint = "Free some space, or set VISOR_DATA_DIR to a folder on another disk."
    return CheckFinding(name="disk", status="warn" if free_bytes >= FAIL_BYTES else "fail", message=told, hint=hint)
