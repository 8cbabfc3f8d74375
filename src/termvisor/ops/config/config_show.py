"""The op `config_show`: the settings that hold, and where each comes from."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import toml, where
from termvisor.ops.render.text import Column, Look, table
from termvisor.redaction import redact
from termvisor.settings import load, read_file, rows


class ConfigShow(Struct, frozen=True, kw_only=True):
    """Which settings to show."""

    effective: Annotated[bool, Meta(description="All settings, also those at their default.")] = False


class SettingItem(Struct, frozen=True, kw_only=True):
    """``origin`` is `default`, `file` or `environment`; ``value`` is written as in the config file."""

    name: str
    value: str
    origin: str
    env: str
    doc: str


class ConfigShown(Struct, frozen=True, kw_only=True):
    path: str
    settings: tuple[SettingItem, ...]


async def run(world: World, wanted: ConfigShow) -> ConfigShown:
    places = where(world)
    settings, in_file = load(places), read_file(places.config_file)
    from_file = load(places, {})
    items = []
    for row in rows():
        held, filed = getattr(settings, row.name), getattr(from_file, row.name)
        origin = _origin(held, filed, row.name in in_file)
        if wanted.effective or origin != "default":
            shown = redact(toml(held))
            items.append(SettingItem(name=row.name, value=shown, origin=origin, env=row.env, doc=row.doc))
    return ConfigShown(path=places.config_file, settings=tuple(items))


def _origin(held: Any, filed: Any, is_in_file: bool) -> str:
    if held != filed:
        return "environment"
    return "file" if is_in_file else "default"


COLUMNS = (
    Column("SETTING", lambda item: item.name, style="bold"),
    Column("VALUE", lambda item: item.value, may_shrink=True),
    Column("FROM", lambda item: item.origin),
    Column("ENVIRONMENT", lambda item: item.env, style="dim"),
)


def plain(shown: ConfigShown, look: Look) -> str:
    if not shown.settings:
        return "Every setting is at its default; `visor config show --effective` lists them."
    return table(COLUMNS, shown.settings, look)


OP = Op(
    name="config_show",
    summary="The settings that hold, and where each comes from.",
    doc="Without `--effective` only those that were set in the file or the environment.",
    Input=ConfigShow,
    Output=ConfigShown,
    run=run,
    plain=plain,
    effect="local",
    examples=(Example("config show", "what was changed"), Example("config show --effective", "everything")),
)
