from pathlib import Path

from termvisor.testing.asking import ask
from tests.unit.ops.test_rules_list import world
from tests.unit.packs.making import GOOD, pack


async def test_a_right_pack_is_right_and_a_wrong_one_names_the_line(tmp_path: Path) -> None:
    place = pack(tmp_path, good=GOOD) / "org.local"
    assert (await ask(world(tmp_path), "rules", "lint", str(place))).out == "1 rule is right, 0 troubles.\n"
    (place / "bad.toml").write_text(
        GOOD.replace('text = "he said: ', 'text = "').replace("limit.reached", "limit.near")
    )
    answered = await ask(world(tmp_path), "rules", "lint", str(place))
    assert answered.status == 78
    assert f"{place}/bad.toml:15: miss: is found, and must not be" in answered.out


async def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert "there is no" in (await ask(world(tmp_path), "rules", "lint", str(tmp_path / "none"))).err
