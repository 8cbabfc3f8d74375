"""The check `config`: the config file and the environment can be used."""

from termvisor.detection.packs.crash_test import condemned
from termvisor.diagnostics.checks.check import Finding, Sight
from termvisor.errors import ConfigError
from termvisor.settings import load

_HINT = "Secrets are masked all the same, by a slower engine; write it with shorter repeats, `{1,99}` or `+`."


class ConfigIsValid:
    name = "config"
    doc = "The config file and the `VISOR_*` environment have only known settings with allowed values."

    async def look(self, sight: Sight) -> Finding:
        try:
            settings = load(sight.places)
        except ConfigError as error:
            return Finding(name=self.name, status="fail", message=error.message, hint=error.hint)
        guilty = condemned(sight.places.cache_dir)
        for pattern in settings.redact_patterns:
            if pattern in guilty:
                return Finding(name=self.name, status="warn", message=_slow(pattern, guilty[pattern]), hint=_HINT)
        return Finding(name=self.name, status="ok", message=f"{sight.places.config_file} can be used")


def _slow(pattern: str, why: str) -> str:
    return f"redact_patterns: {pattern!r} {why}"
