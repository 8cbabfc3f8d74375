"""The operation `config_get`: show one setting and where its value comes from."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import find_origin, find_setting_key, format_setting_key, select_value
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact
from termvisor.settings import load_settings, read_config_file
from termvisor.settings_file.toml_document import format_toml_value


class ConfigGetArgs(Struct, frozen=True, kw_only=True):
    """Choose the setting."""

    name: Annotated[str, Meta(description="The setting.", extra={"positional": "one", "names": "setting"})]


class ConfigGetResult(Struct, frozen=True, kw_only=True):
    """``value`` is formatted as in the config file, `unset` for none; ``origin`` as in `config show`."""

    name: str
    value: str
    origin: str


async def run(services: Services, args: ConfigGetArgs) -> ConfigGetResult:
    row, key = find_setting_key(args.name)
    paths = services.paths
    effective = select_value(getattr(load_settings(paths), row.name), key)
    without_environment = select_value(getattr(load_settings(paths, {}), row.name), key)
    return ConfigGetResult(
        name=format_setting_key(row, key),
        value=redact(format_toml_value(effective)),
        origin=find_origin(effective, without_environment, row.name in read_config_file(paths.config_file)),
    )


def render_text(result: ConfigGetResult, options: RenderOptions) -> str:
    return sanitize(result.value)


OP = Operation(
    name="config_get",
    summary="Show the value of one setting.",
    doc="""The value that applies, from the environment, the config file or the default, as it is written in the file.
The setting is given by its name or its key in the file.""",
    run=run,
    render_text=render_text,
    effect="local",
    exit_statuses=((78, "The config is invalid."),),
    examples=(
        OperationExample("config get retention", "one setting"),
        OperationExample("config get agents.aider.command", "one entry"),
    ),
)
