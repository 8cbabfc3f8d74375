import os

from termvisor.checks.base import Sight
from termvisor.checks.config import ConfigIsValid


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
