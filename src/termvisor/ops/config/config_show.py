"""The operation `config_show`: list effective settings and where each comes from."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import find_origin, format_place
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions
from termvisor.redaction import redact
from termvisor.settings import list_settings, load_settings, read_config_file
from termvisor.settings_file.toml_document import format_toml_value


class ConfigShowArgs(Struct, frozen=True, kw_only=True):
    """Choose the settings to show."""

    effective: Annotated[bool, Meta(description="Include settings at their default.")] = False


class SettingItem(Struct, frozen=True, kw_only=True):
    """``origin`` is `default`, `file` or `environment`; ``value`` is formatted as in the config file."""

    name: str
    key: str
    """Its key in the config file."""
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
        origin = find_origin(value, file_value, row.name in names_in_file)
        if args.effective or origin != "default":
            text = redact(format_toml_value(value))
            items.append(
                SettingItem(name=row.name, key=format_place(row), value=text, origin=origin, env=row.env, doc=row.doc)
            )
    return ConfigShowResult(path=paths.config_file, settings=tuple(items))


COLUMNS = (
    TableColumn("SETTING", lambda item: item.key, style="bold"),
    TableColumn("VALUE", lambda item: item.value, can_shrink=True, min_width=20),
    TableColumn("ORIGIN", lambda item: item.origin, worth=5),
    TableColumn("ENVIRONMENT", lambda item: item.env, style="dim", worth=1),
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
