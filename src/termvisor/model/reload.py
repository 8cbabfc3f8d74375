"""What became of changed settings when a running daemon read them again."""

from msgspec import Struct


class Reloaded(Struct, frozen=True, kw_only=True):
    """Names of settings: ``applied`` hold from now on, ``needs_restart`` differ and wait for a restart."""

    applied: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()
