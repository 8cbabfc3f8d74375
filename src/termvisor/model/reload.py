"""Result of reloading settings and rules in a running daemon."""

from msgspec import Struct


class RulesReloadResult(Struct, frozen=True, kw_only=True):
    """``count`` is the number of active rules, None if nothing changed. With ``troubles`` the old rules stay active."""

    count: int | None = None
    troubles: tuple[str, ...] = ()


class ReloadResult(Struct, frozen=True, kw_only=True):
    """Names of settings: ``applied`` are in effect now, ``needs_restart`` changed and take effect after a restart."""

    applied: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()
    rules: RulesReloadResult = RulesReloadResult()
