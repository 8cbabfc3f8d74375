import os

from termvisor.detection.packs.crash_test import condemn
from termvisor.diagnostics.checks.check import Sight
from termvisor.diagnostics.checks.config import ConfigIsValid


async def test_an_absent_config_is_fine(sight: Sight) -> None:
    assert (await ConfigIsValid().look(sight)).status == "ok"


async def test_a_wrong_setting_fails_and_is_named(sight: Sight) -> None:
    os.makedirs(sight.places.config_dir)
    with open(sight.places.config_file, "w") as file:
        file.write("thin_interval = -1\n")
    finding = await ConfigIsValid().look(sight)
    assert finding.status == "fail"
    assert "thin_interval" in finding.message
    assert "visor config validate" in finding.hint


async def test_a_pattern_for_secrets_that_hyperscan_does_not_survive_is_named(sight: Sight) -> None:
    os.makedirs(sight.places.config_dir)
    os.makedirs(sight.places.cache_dir, exist_ok=True)
    with open(sight.places.config_file, "w") as file:
        file.write("redact_patterns = ['ACME-[0-9]+']\n")
    condemn(sight.places.cache_dir, {"ACME-[0-9]+": "cannot be used: it is too much"})
    finding = await ConfigIsValid().look(sight)
    assert (finding.status, "ACME" in finding.message) == ("warn", True)
    assert "masked all the same" in finding.hint
