"""What the config ops share: where the config file is, even while it is broken, and values as TOML."""

from typing import Any

import msgspec

from termvisor.ops.local import LocalWorld
from termvisor.ops.world import World
from termvisor.settings import Places


def where(world: World) -> Places:
    """The places of this instance; a config file that cannot be read does not hide them."""
    return world.places if isinstance(world, LocalWorld) else world.configuration[0]


def toml(value: Any) -> str:
    """A setting's value as it stands in the file. JSON's strings, numbers and lists are TOML too."""
    return "unset" if value is None else msgspec.json.encode(value).decode()
