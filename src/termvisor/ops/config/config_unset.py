"""The operation `config_unset`: remove one setting from the config file."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.action.action import WriteConfig
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import find_setting_key
from termvisor.ops.config.config_set import ConfigChangeResult, render_text, write_change
from termvisor.settings import LAYOUT, parse_config_text
from termvisor.setup import toml_edit


class ConfigUnsetArgs(Struct, frozen=True, kw_only=True):
    """Choose the setting."""

    name: Annotated[str, Meta(description="The setting.", extra={"positional": "one", "names": "setting"})]


async def run(services: Services, args: ConfigUnsetArgs) -> ConfigChangeResult:
    row, key = find_setting_key(args.name)
    path = services.paths.config_file
    before = toml_edit.read_toml_file(path)
    flat = parse_config_text(before, path)
    return write_change(path, row, key, before, LAYOUT.remove_setting(before, flat, key))


OP = Operation(
    name="config_unset",
    summary="Remove one setting from the config file.",
    doc="Comments and all other lines of the file are kept. A setting that is not in the file is not an error.",
    run=run,
    render_text=render_text,
    effect="local",
    list_changes=lambda _services, args: (WriteConfig(change="unset", name=args.name),),
    exit_statuses=((78, "The config file is invalid; nothing was written."),),
    examples=(
        OperationExample("config unset log_level", "back to the default"),
        OperationExample("config unset workflow_modes", "back to the workflows' own modes"),
        OperationExample("config unset agents.aider", "forget a program"),
    ),
)
