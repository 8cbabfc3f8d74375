"""What became of changed settings and rules when a running daemon read them again."""

from msgspec import Struct


class RulesReloadResult(Struct, frozen=True, kw_only=True):
    """``count`` are in force now, None where nothing changed. Because of ``troubles``, the old ones stay."""

    count: int | None = None
    troubles: tuple[str, ...] = ()


class ReloadResult(Struct, frozen=True, kw_only=True):
    """Names of settings: ``applied`` hold from now on, ``needs_restart`` differ and wait for a restart."""

    applied: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()
    rules: RulesReloadResult = RulesReloadResult()
