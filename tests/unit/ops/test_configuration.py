from pathlib import Path

import pytest

from termvisor.ops.configuration import toml, where
from termvisor.ops.local import LocalWorld
from termvisor.settings import Places
from termvisor.testing.world import MemoryWorld


def test_the_places_are_the_worlds_own_even_while_the_config_is_broken(tmp_path: Path) -> None:
    places = Places(str(tmp_path), "/d", "/r")
    (tmp_path / "config.toml").write_text("= nonsense")
    assert where(LocalWorld(places)) == places
    assert where(MemoryWorld(places)) == places


@pytest.mark.parametrize(
    ("value", "text"), [('a"b', '"a\\"b"'), (1.5, "1.5"), (("a", "b"), '["a","b"]'), (True, "true"), (None, "unset")]
)
def test_values_are_written_as_in_the_file(value: object, text: str) -> None:
    assert toml(value) == text
