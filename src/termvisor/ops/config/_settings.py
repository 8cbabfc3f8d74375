"""What the config ops share: where the config file is, even while it is broken, settings by name, values as TOML."""

from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.errors import BadRequest
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.reload import ReloadResult
from termvisor.ops.api.local_services import LocalServices
from termvisor.ops.api.services import Services
from termvisor.settings import Paths, SettingInfo, Settings, list_settings


def get_paths(services: Services) -> Paths:
    """The places of this instance; a config file that cannot be read does not hide them."""
    return services.paths if isinstance(services, LocalServices) else services.configuration[0]


def format_toml_value(value: Any) -> str:
    """A setting's value as it stands in the file. JSON's strings, numbers and lists are TOML too."""
    plain = msgspec.to_builtins(value)
    if isinstance(plain, dict):
        return "{" + ", ".join(f"{name} = {format_toml_value(one)}" for name, one in plain.items()) + "}"
    if isinstance(plain, list | tuple) and any(isinstance(one, dict) for one in plain):
        return f"[{', '.join(map(format_toml_value, plain))}]"
    return "unset" if value is None else msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")


def find_setting(name: str) -> SettingInfo:
    """The setting of this name, with - or _; `BadRequest` names the nearest."""
    known = {row.name: row for row in list_settings()}
    plain = name.replace("-", "_").lower()
    if plain in known:
        return known[plain]
    near = find_close_matches(plain, list(known))
    hint = f"Did you mean {' or '.join(near)}?" if near else "`visor config show --effective` lists the settings."
    raise BadRequest(f"there is no setting {name!r}", hint=hint, details={"nearest": near})


def merge_settings(old: Settings, new: Settings) -> tuple[Settings, ReloadResult]:
    """The settings that may hold from now on, and the names of those that differ."""
    differing = [row for row in list_settings() if getattr(old, row.name) != getattr(new, row.name)]
    applied = tuple(row.name for row in differing if not row.restart)
    waiting = tuple(row.name for row in differing if row.restart)
    held = replace(old, **{name: getattr(new, name) for name in applied})
    return held, ReloadResult(applied=applied, needs_restart=waiting)
