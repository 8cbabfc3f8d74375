"""The check `config`: the config file and the environment can be used."""

from termvisor.checks.base import Finding, Sight
from termvisor.errors import ConfigError
from termvisor.settings import load


class ConfigIsValid:
    name = "config"
    doc = "The config file and the `VISOR_*` environment have only known settings with allowed values."

    async def look(self, sight: Sight) -> Finding:
        try:
            load(sight.places)
        except ConfigError as error:
            return Finding(name=self.name, status="fail", message=error.message, hint=error.hint)
        return Finding(name=self.name, status="ok", message=f"{sight.places.config_file} can be used")
