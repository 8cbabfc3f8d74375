"""The command `visor`.

Most command lines are carried to the daemon as they stand, with almost nothing imported. The rest, and the case that
no daemon runs yet, go to `frontends.cli`.
"""

import os
import sys

from termvisor.frontends import courier
from termvisor.wire import face

OWN = ("up", "down", "demo", "daemon")
"""Commands about the daemon itself; all others are operations."""


def main() -> int:
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141


def _run(argv: list[str]) -> int:
    if argv[:1] == ["daemon"] and "--foreground" in argv:
        from termvisor.daemon import foreground

        return foreground.run()
    if argv and (argv[0] in OWN or _is_played(argv)):
        from termvisor.frontends.cli import own

        return own.run(argv)
    asked = _asked(argv)
    status = courier.carry(courier.socket_path(os.environ), asked)  # noqa: TID251 - settings cost too much here
    if status >= 0:
        return status
    from termvisor.frontends.cli import fallback

    return fallback.run(asked, status)


def _is_played(argv: list[str]) -> bool:
    """Whether somebody sits there to watch a film or a pane; programs and pipes get what the operation says."""
    asks_otherwise = any(word.startswith(("--json", "--format", "-h", "--help", "-q", "--quiet")) for word in argv)
    return argv[0] in ("replay", "attach") and not asks_otherwise and os.isatty(0) and os.isatty(1)


def _asked(argv: list[str]) -> face.Asked:
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        cwd = "/"
    if argv[:1] == ["robot"]:
        return face.Asked(tuple(argv[1:]), True, cwd)
    from termvisor.frontends.human import look

    return face.Asked(tuple(argv), False, cwd, look())


if __name__ == "__main__":
    sys.exit(main())
