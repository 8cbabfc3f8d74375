from pathlib import Path

import pytest

from termvisor.errors import BadRequest
from termvisor.model.maintenance import ReloadResult
from termvisor.ops.api.services import LocalServices
from termvisor.ops.config._settings import find_setting, merge_settings
from termvisor.settings import Paths, Settings
from termvisor.settings_file.toml_document import format_toml_value


def test_the_paths_are_known_while_the_config_is_invalid(tmp_path: Path) -> None:
    places = Paths(str(tmp_path), "/d", "/r")
    (tmp_path / "config.toml").write_text("= nonsense")
    assert LocalServices(places).paths == places


@pytest.mark.parametrize(
    ("value", "text"), [('a"b', '"a\\"b"'), (1.5, "1.5"), (("a", "b"), '["a","b"]'), (True, "true"), (None, "unset")]
)
def test_values_are_written_as_in_the_file(value: object, text: str) -> None:
    assert format_toml_value(value) == text


def test_reloadable_settings_are_merged_and_the_others_are_named() -> None:
    old = Settings(full_interval=20.0, tmux_program="tmux")
    held, result = merge_settings(old, Settings(full_interval=30.0, tmux_program="/bin/tmux", log_level="debug"))
    assert (held.full_interval, held.tmux_program, held.log_level) == (30.0, "tmux", "debug")
    assert result == ReloadResult(applied=("full_interval", "log_level"), needs_restart=("tmux_program",))
    assert merge_settings(old, old) == (old, ReloadResult())


def test_a_setting_is_found_by_its_name_in_both_spellings() -> None:
    assert find_setting("log-level").name == find_setting("log_level").name == "log_level"
    with pytest.raises(BadRequest) as caught:
        find_setting("xyz")
    assert "config show" in caught.value.hint
