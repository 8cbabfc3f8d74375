"""Run the viewer: `python -m termvisor.backends.pty.viewer <attach file>`; the exit status is 0 after detaching."""

import os
import sys

from termvisor.backends.pty.viewer.attach_file import read_attach_file
from termvisor.backends.pty.viewer.person_terminal import PersonTerminal
from termvisor.backends.pty.viewer.session import ViewerEnd, ViewerSession

_MESSAGES: dict[ViewerEnd, str] = {
    "detached": "[detached]",
    "exited": "[the program has ended]",
    "host_gone": "[the PTY host has died; the program is recorded until it ends]",
    "refused": "[the PTY host refused: run `visor attach` again]",
}


def main() -> int:
    path = sys.argv[1]
    attach = read_attach_file(path)
    if attach is None or not os.isatty(0) or not os.isatty(1):
        sys.stderr.write("error: `visor attach` starts this program in a terminal\n")
        return 2
    try:
        session = ViewerSession(path, attach, terminal := PersonTerminal())
    except OSError as error:
        sys.stderr.write(f"error: cannot reach the PTY host: {error.strerror}\n")
        return 1
    end: ViewerEnd = "detached"
    try:
        with terminal.prepare():
            end = session.run()
    finally:
        session.close()
    sys.stdout.write(f"{_MESSAGES[end]}\n")
    return 0 if end in ("detached", "exited") else 1


if __name__ == "__main__":
    sys.exit(main())
