"""The check `config`: the config file and the environment can be used."""

from termvisor.detection.packs.crash_test import load_crashing_rules
from termvisor.diagnostics.checks.check import CheckContext, CheckFinding
from termvisor.errors import ConfigError
from termvisor.settings import load_settings

_SLOW_PATTERN_HINT = (
    "Secrets are masked all the same, by a slower engine; write it with shorter repeats, `{1,99}` or `+`."
)


class ConfigCheck:
    name = "config"
    doc = "The config file and the `VISOR_*` environment have only known settings with allowed values."

    async def run(self, context: CheckContext) -> CheckFinding:
        try:
            settings = load_settings(context.paths)
        except ConfigError as error:
            return CheckFinding(name=self.name, status="fail", message=error.message, hint=error.hint)
        guilty = load_crashing_rules(context.paths.cache_dir)
        for pattern in settings.redact_patterns:
            if pattern in guilty:
                return CheckFinding(
                    name=self.name,
                    status="warn",
                    message=_describe_slow_pattern(pattern, guilty[pattern]),
                    hint=_SLOW_PATTERN_HINT,
                )
        return CheckFinding(name=self.name, status="ok", message=f"{context.paths.config_file} can be used")


def _describe_slow_pattern(pattern: str, why: str) -> str:
    return f"redact_patterns: {pattern!r} {why}"
