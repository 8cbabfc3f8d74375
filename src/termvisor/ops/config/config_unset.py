"""The op `config_unset`: take one setting out of the config file, so that its default holds again."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import setting, where
from termvisor.ops.config.config_set import ConfigChanged, change, plain
from termvisor.setup import toml_edit as config_file


class ConfigUnset(Struct, frozen=True, kw_only=True):
    """Which setting."""

    name: Annotated[str, Meta(description="The setting.", extra={"positional": "one", "names": "setting"})]


async def run(world: World, wanted: ConfigUnset) -> ConfigChanged:
    row = setting(wanted.name)
    path = where(world).config_file
    before = config_file.read(path)
    return change(path, row, before, config_file.unset(before, row.name))


OP = Op(
    name="config_unset",
    summary="Take one setting out of the config file; its default holds again.",
    doc="Comments and every other line of the file stay as they are. A setting that was not in the file is no error.",
    Input=ConfigUnset,
    Output=ConfigChanged,
    run=run,
    plain=plain,
    effect="local",
    exits=((78, "The config file is wrong; nothing was written."),),
    examples=(Example("config unset log_level", "back to the default"),),
)
