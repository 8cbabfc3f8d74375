"""The op `config_show`: the settings that hold, and where each comes from."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import format_toml_value, get_paths
from termvisor.ops.render.text import RenderOptions, TableColumn, render_table
from termvisor.redaction import redact
from termvisor.settings import list_settings, load_settings, read_config_file


class ConfigShowArgs(Struct, frozen=True, kw_only=True):
    """Which settings to show."""

    effective: Annotated[bool, Meta(description="All settings, also those at their default.")] = False


class SettingItem(Struct, frozen=True, kw_only=True):
    """``origin`` is `default`, `file` or `environment`; ``value`` is written as in the config file."""

    name: str
    value: str
    origin: str
    env: str
    doc: str


class ConfigShowResult(Struct, frozen=True, kw_only=True):
    path: str
    settings: tuple[SettingItem, ...]


async def run(services: Services, args: ConfigShowArgs) -> ConfigShowResult:
    places = get_paths(services)
    settings, in_file = load_settings(places), read_config_file(places.config_file)
    from_file = load_settings(places, {})
    items = []
    for row in list_settings():
        held, filed = getattr(settings, row.name), getattr(from_file, row.name)
        origin = _find_origin(held, filed, row.name in in_file)
        if args.effective or origin != "default":
            shown = redact(format_toml_value(held))
            items.append(SettingItem(name=row.name, value=shown, origin=origin, env=row.env, doc=row.doc))
    return ConfigShowResult(path=places.config_file, settings=tuple(items))


def _find_origin(effective_value: Any, file_value: Any, is_in_file: bool) -> str:
    if effective_value != file_value:
        return "environment"
    return "file" if is_in_file else "default"


COLUMNS = (
    TableColumn("SETTING", lambda item: item.name, style="bold"),
    TableColumn("VALUE", lambda item: item.value, can_shrink=True),
    TableColumn("FROM", lambda item: item.origin),
    TableColumn("ENVIRONMENT", lambda item: item.env, style="dim"),
)


def render_text(result: ConfigShowResult, options: RenderOptions) -> str:
    if not result.settings:
        return "Every setting is at its default; `visor config show --effective` lists them."
    return render_table(COLUMNS, result.settings, options)


OP = Operation(
    name="config_show",
    summary="The settings that hold, and where each comes from.",
    doc="Without `--effective` only those that were set in the file or the environment.",
    args_type=ConfigShowArgs,
    result_type=ConfigShowResult,
    run=run,
    render_text=render_text,
    effect="local",
    examples=(
        OperationExample("config show", "what was changed"),
        OperationExample("config show --effective", "everything"),
    ),
)
