"""What the config ops share: where the config file is, even while it is broken, and values as TOML."""

from typing import Any

import msgspec

from termvisor.errors import ConfigError
from termvisor.ops.world import World
from termvisor.settings import Places, places


def where(world: World) -> Places:
    """The places of this instance; a config file that cannot be read does not hide them."""
    try:
        return world.configuration[0]
    except ConfigError:
        return places()


def toml(value: Any) -> str:
    """A setting's value as it stands in the file. JSON's strings, numbers and lists are TOML too."""
    return msgspec.json.encode([] if value is None else value).decode()
