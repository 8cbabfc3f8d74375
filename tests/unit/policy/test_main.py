from pathlib import Path

import pytest

from termvisor.errors import ConfigError
from termvisor.policy.__main__ import check_policy_file


def test_valid_file_passes(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("unproven_prompt = true\n")
    check_policy_file(str(tmp_path / "p.toml"))


@pytest.mark.parametrize("data", [b"nonsense", b"\xff", b"nope = 1"])
def test_invalid_file_is_named_in_the_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "p.toml").write_bytes(data)
    with pytest.raises(ConfigError, match=r"p\.toml"):
        check_policy_file(str(tmp_path / "p.toml"))


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        check_policy_file(str(tmp_path / "none.toml"))
