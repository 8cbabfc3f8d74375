"""The op `config_path`: where this instance keeps its files."""

from msgspec import Struct

from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import where
from termvisor.ops.render.text import Look, clean


class ConfigPath(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class ConfigPlaces(Struct, frozen=True, kw_only=True):
    config_file: str
    data_dir: str
    runtime_dir: str
    database: str
    raw_dir: str
    log_file: str
    daemon_socket: str


async def run(world: World, _wanted: ConfigPath) -> ConfigPlaces:
    places = where(world)
    return ConfigPlaces(**{name: getattr(places, name) for name in ConfigPlaces.__struct_fields__})


def plain(places: ConfigPlaces, look: Look) -> str:
    if look.is_quiet:
        return clean(places.config_file)
    return "\n".join(f"{name:<13}  {clean(getattr(places, name))}" for name in places.__struct_fields__)


OP = Op(
    name="config_path",
    summary="Where the config file, the data and the socket are.",
    doc="""`VISOR_CONFIG_DIR`, `VISOR_DATA_DIR` and `VISOR_RUNTIME_DIR` move them; instances with different places
never meet.""",
    Input=ConfigPath,
    Output=ConfigPlaces,
    run=run,
    plain=plain,
    effect="local",
    examples=(Example("config path", "all places"), Example("config path -q", "only the config file")),
)
