"""Choose the terminal model of this machine: libghostty-vt where its wheel is installed, else a small one of ours."""

from termvisor.backends.pty import ghostty_library
from termvisor.backends.pty.query_model import QueryOnlyModel
from termvisor.backends.pty.terminal_model import TerminalModel
from termvisor.log import get_logger

log = get_logger("backends.pty")


def is_screenless() -> bool:
    """Return True if the model of this machine only answers queries, so that screens must be rendered elsewhere."""
    return not ghostty_library.find_library()


def build_model(columns: int, rows: int) -> TerminalModel:
    """Return a model of this size, of the best kind that this machine can run."""
    path = ghostty_library.find_library()
    if path:
        # ctypes and ten megabytes of library are loaded for the first own terminal only.
        from termvisor.backends.pty.ghostty_model import build_ghostty_model

        try:
            return build_ghostty_model(path, columns, rows)
        except (OSError, AttributeError) as error:
            log.error("cannot load %s: %s", path, error)
    return QueryOnlyModel(columns, rows)
