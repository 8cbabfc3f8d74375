"""The operation `config_show`: list effective settings and where each comes from."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import format_toml_value
from termvisor.ops.render.text import RenderOptions, TableColumn, render_table
from termvisor.redaction import redact
from termvisor.settings import list_settings, load_settings, read_config_file


class ConfigShowArgs(Struct, frozen=True, kw_only=True):
    """Choose the settings to show."""

    effective: Annotated[bool, Meta(description="Include settings at their default.")] = False


class SettingItem(Struct, frozen=True, kw_only=True):
    """``origin`` is `default`, `file` or `environment`; ``value`` is formatted as in the config file."""

    name: str
    value: str
    origin: str
    env: str
    doc: str


class ConfigShowResult(Struct, frozen=True, kw_only=True):
    path: str
    settings: tuple[SettingItem, ...]


async def run(services: Services, args: ConfigShowArgs) -> ConfigShowResult:
    paths = services.paths
    # Loaded twice, because only a comparison shows which values the environment overrides.
    effective, without_environment = load_settings(paths), load_settings(paths, {})
    names_in_file = read_config_file(paths.config_file)
    items = []
    for row in list_settings():
        value, file_value = getattr(effective, row.name), getattr(without_environment, row.name)
        origin = _find_origin(value, file_value, row.name in names_in_file)
        if args.effective or origin != "default":
            text = redact(format_toml_value(value))
            items.append(SettingItem(name=row.name, value=text, origin=origin, env=row.env, doc=row.doc))
    return ConfigShowResult(path=paths.config_file, settings=tuple(items))


def _find_origin(effective_value: Any, file_value: Any, is_in_file: bool) -> str:
    if effective_value != file_value:
        return "environment"
    return "file" if is_in_file else "default"


COLUMNS = (
    TableColumn("SETTING", lambda item: item.name, style="bold"),
    TableColumn("VALUE", lambda item: item.value, can_shrink=True),
    TableColumn("ORIGIN", lambda item: item.origin),
    TableColumn("ENVIRONMENT", lambda item: item.env, style="dim"),
)


def render_text(result: ConfigShowResult, options: RenderOptions) -> str:
    if not result.settings:
        return "All settings are at their default; `visor config show --effective` lists them."
    return render_table(COLUMNS, result.settings, options)


OP = Operation(
    name="config_show",
    summary="List settings and where each comes from.",
    doc="Without `--effective` it lists only settings from the file or the environment.",
    run=run,
    render_text=render_text,
    effect="local",
    examples=(
        OperationExample("config show", "changed settings"),
        OperationExample("config show --effective", "all settings"),
    ),
)
