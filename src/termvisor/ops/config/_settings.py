"""Helpers for the config operations: settings by name or key, and merging on reload."""

from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.errors import BadRequest
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.maintenance import ReloadResult
from termvisor.settings import LAYOUT, SettingInfo, Settings, list_settings
from termvisor.settings_file.file_layout import ENTRY_TABLES, SettingKey
from termvisor.settings_file.toml_document import format_key


def find_setting(name: str) -> SettingInfo:
    """Return the setting with this name or key, spelled with - or _. Raises BadRequest with the closest names."""
    return find_setting_key(name)[0]


def find_setting_key(name: str) -> tuple[SettingInfo, SettingKey]:
    """Return the setting that a name or dotted key stands for, and which part of it. Raises BadRequest."""
    settings = {row.name: row for row in list_settings()}
    if key := LAYOUT.find_key(name):
        return settings[key.name], key
    places = [format_place(row) for row in settings.values()]
    near = find_close_matches(name.replace("-", "_").lower(), places if "." in name else settings)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`visor config show --effective` lists the settings."
    raise BadRequest(f"unknown setting {name!r}", hint=hint, details={"nearest": near})


def format_place(row: SettingInfo) -> str:
    """Return the dotted key of a setting in the config file; for entries that of one of them."""
    fields = [*ENTRY_TABLES[row.name].fields[:1]] if row.name in ENTRY_TABLES else []
    return ".".join([*row.place, *(["<name>", *fields] if row.name in ENTRY_TABLES else [])])


def format_setting_key(row: SettingInfo, key: SettingKey) -> str:
    """Return the name of a setting, or the dotted key of one of its entries."""
    if not key.entry:
        return row.name
    fields = (key.field,) if key.field else () if ENTRY_TABLES[row.name].is_record else ENTRY_TABLES[row.name].fields
    return format_key((*row.place, key.entry, *fields))


def select_value(value: Any, key: SettingKey) -> Any:
    """Return the part of a setting's value that a key names; None if there is no such entry."""
    if not key.entry:
        return value
    entry = msgspec.to_builtins(value).get(key.entry)
    return entry.get(key.field) if key.field and entry is not None else entry


def find_origin(effective_value: Any, file_value: Any, is_in_file: bool) -> str:
    """Return `default`, `file` or `environment`."""
    if effective_value != file_value:
        return "environment"
    return "file" if is_in_file else "default"


def merge_settings(old: Settings, new: Settings) -> tuple[Settings, ReloadResult]:
    """Return the old settings with all changes that need no restart, and the names of all changed ones."""
    # Settings that need a restart keep their old value, so that the daemon never runs with half of a change.
    changed = [row for row in list_settings() if getattr(old, row.name) != getattr(new, row.name)]
    applied = tuple(row.name for row in changed if not row.restart)
    needs_restart = tuple(row.name for row in changed if row.restart)
    merged = replace(old, **{name: getattr(new, name) for name in applied})
    return merged, ReloadResult(applied=applied, needs_restart=needs_restart)
