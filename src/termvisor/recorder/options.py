"""Define the recorder's command line: built by the daemon or by a recorder that re-executes itself to upgrade."""

_BOOT_CODE = "import sys; sys.path[:0] = [{root!r}]; from termvisor.recorder.process import main; main()"
PROTOCOL_VERSION = 1
EXIT_ALREADY_RUNNING = 3
"""Exit status of a recorder that found another one running."""


class RecorderOptions:
    """Command-line options; the recorder runs without site-packages, from the package's folder ``root``."""

    __slots__ = ("cap_bytes", "raw_dir", "segment_bytes", "socket")

    def __init__(self, socket: str, raw_dir: str, segment_bytes: int, cap_bytes: int):
        self.socket, self.raw_dir = socket, raw_dir
        self.segment_bytes, self.cap_bytes = segment_bytes, cap_bytes

    def build_command(self, python: str, root: str) -> list[str]:
        numbers = [str(self.segment_bytes), str(self.cap_bytes)]
        return [python, "-ISE", "-c", _BOOT_CODE.format(root=root), self.socket, self.raw_dir, *numbers]


def parse_arguments(arguments: list[str]) -> tuple[RecorderOptions, int | None]:
    """Return the options and, after a re-exec, the descriptor of the handed-over state."""
    socket, raw_dir, segment_bytes, cap_bytes, *state = arguments
    return RecorderOptions(socket, raw_dir, int(segment_bytes), int(cap_bytes)), int(state[0]) if state else None
