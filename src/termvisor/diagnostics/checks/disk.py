"""The check `disk`: the data folder can be written and has room."""

import os
import tempfile

from termvisor.diagnostics.checks.check import Finding, Sight

WARN_BYTES = 1_000_000_000
FAIL_BYTES = 100_000_000


class DiskHasRoom:
    name = "disk"
    doc = "The data folder can be written and its disk has at least 1 GB free (100 MB at the very least)."

    async def look(self, sight: Sight) -> Finding:
        folder = sight.places.data_dir
        if not os.path.isdir(folder):
            return Finding(name=self.name, status="skip", message=f"{folder} is made when the daemon first runs")
        try:
            with tempfile.TemporaryFile(dir=folder) as probe:
                probe.write(b"visor")
        except OSError as error:
            hint = "Give yourself the right to write there, or set VISOR_DATA_DIR to another folder."
            return Finding(
                name=self.name, status="fail", message=f"{folder} cannot be written: {error.strerror}", hint=hint
            )
        room = os.statvfs(folder)
        return judged(folder, room.f_bavail * room.f_frsize)


def judged(folder: str, free: int) -> Finding:
    told = f"{folder}: {free / 1e9:.1f} GB free"
    if free >= WARN_BYTES:
        return Finding(name="disk", status="ok", message=told)
    hint = "Free some space, or set VISOR_DATA_DIR to a folder on another disk."
    return Finding(name="disk", status="warn" if free >= FAIL_BYTES else "fail", message=told, hint=hint)
