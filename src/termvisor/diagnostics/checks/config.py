"""The check `config`: the config file and the environment are valid."""

from termvisor.detection.packs.crash_test import load_crashing_rules
from termvisor.diagnostics.checks.check import CheckContext, CheckFinding
from termvisor.errors import ConfigError
from termvisor.settings import load_settings

_SLOW_PATTERN_HINT = (
    "Secrets are still redacted, by a slower engine; use shorter repeats in the pattern, `{1,99}` or `+`."
)


class ConfigCheck:
    name = "config"
    doc = "The config file and the `VISOR_*` environment contain only known settings with valid values."

    async def run(self, context: CheckContext) -> CheckFinding:
        try:
            settings = load_settings(context.paths)
        except ConfigError as error:
            return CheckFinding(name=self.name, status="fail", message=error.message, hint=error.hint)
        crashing = load_crashing_rules(context.paths.cache_dir)
        for pattern in settings.redact_patterns:
            if pattern in crashing:
                message = f"redact_patterns: {pattern!r} {crashing[pattern]}"
                return CheckFinding(name=self.name, status="warn", message=message, hint=_SLOW_PATTERN_HINT)
        return CheckFinding(name=self.name, status="ok", message=f"{context.paths.config_file} is valid")
