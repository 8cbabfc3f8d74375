"""Helpers for the config operations: settings by name, values as TOML, and merging on reload."""

from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.errors import BadRequest
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.maintenance import ReloadResult
from termvisor.settings import SettingInfo, Settings, list_settings


def format_toml_value(value: Any) -> str:
    """Format a setting's value as in the config file."""
    builtin = msgspec.to_builtins(value)
    if isinstance(builtin, dict):
        return "{" + ", ".join(f"{name} = {format_toml_value(item)}" for name, item in builtin.items()) + "}"
    if isinstance(builtin, list | tuple) and any(isinstance(item, dict) for item in builtin):
        return f"[{', '.join(map(format_toml_value, builtin))}]"
    # JSON strings, numbers and lists are valid TOML, except that TOML forbids a raw DEL.
    return "unset" if value is None else msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")


def find_setting(name: str) -> SettingInfo:
    """Return the setting with this name, spelled with - or _. Raises BadRequest with the closest names."""
    settings = {row.name: row for row in list_settings()}
    normalized = name.replace("-", "_").lower()
    if normalized in settings:
        return settings[normalized]
    near = find_close_matches(normalized, list(settings))
    hint = f"Did you mean {' or '.join(near)}?" if near else "`visor config show --effective` lists the settings."
    raise BadRequest(f"unknown setting {name!r}", hint=hint, details={"nearest": near})


def merge_settings(old: Settings, new: Settings) -> tuple[Settings, ReloadResult]:
    """Return the old settings with all changes that need no restart, and the names of all changed ones."""
    # Settings that need a restart keep their old value, so that the daemon never runs with half of a change.
    changed = [row for row in list_settings() if getattr(old, row.name) != getattr(new, row.name)]
    applied = tuple(row.name for row in changed if not row.restart)
    needs_restart = tuple(row.name for row in changed if row.restart)
    merged = replace(old, **{name: getattr(new, name) for name in applied})
    return merged, ReloadResult(applied=applied, needs_restart=needs_restart)
