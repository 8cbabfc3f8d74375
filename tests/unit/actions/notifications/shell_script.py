"""Programs that a test puts on the PATH."""

import os
from pathlib import Path


def write_script(folder: Path, name: str, body: str) -> str:
    """Write an executable shell script and return its path."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    os.chmod(path, 0o700)
    return str(path)
