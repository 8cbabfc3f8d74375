"""The log file: private, rotated, redacted."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from termvisor import log
from termvisor.settings import Settings

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture(autouse=True)
def _no_handler_left() -> Iterator[None]:
    yield
    root = logging.getLogger("visor")
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "daemon.log"


def test_a_line_has_time_level_logger_and_message(path: Path) -> None:
    log.configure_log_file(str(path), Settings())
    log.get_logger("store").warning("disk is %s", "full")
    assert path.read_text().rstrip().endswith("WARNING visor.store: disk is full")


def test_the_file_is_readable_by_its_owner_only(path: Path) -> None:
    log.configure_log_file(str(path), Settings())
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_secret_never_reaches_the_file_not_even_in_a_traceback(path: Path) -> None:
    log.configure_log_file(str(path), Settings())
    log.get_logger("ops").error("called with token %s", SECRET)
    try:
        raise ValueError(f"bad token {SECRET}")
    except ValueError:
        log.get_logger("ops").exception("it broke")
    text = path.read_text()
    assert "it broke" in text
    assert SECRET not in text


def test_records_below_the_level_are_not_written(path: Path) -> None:
    log.configure_log_file(str(path), Settings(log_level="warning"))
    log.get_logger("tmux").info("hello")
    assert path.read_text() == ""


def test_a_full_file_is_rotated_once_and_the_next_line_starts_a_new_file(path: Path) -> None:
    log.configure_log_file(str(path), Settings(log_bytes=10_000))
    for number in range(300):
        log.get_logger("x").info("line %d %s", number, "." * 80)
    older = path.with_name("daemon.log.1")
    assert sorted(file.name for file in path.parent.iterdir()) == ["daemon.log", "daemon.log.1"]
    assert older.stat().st_size < 11_000
    assert (older.read_text() + path.read_text()).rstrip().endswith("line 299 " + "." * 80)


def test_lone_surrogates_are_replaced_in_the_log(path: Path) -> None:
    log.configure_log_file(str(path), Settings())
    log.get_logger("x").info("name %s", b"\xff".decode("utf-8", "surrogateescape"))
    assert "name ?" in path.read_text()


def test_a_new_log_file_replaces_the_old_one(path: Path) -> None:
    log.configure_log_file(str(path), Settings())
    other = path.with_name("other.log")
    log.configure_log_file(str(other), Settings())
    log.get_logger("x").info("hello")
    assert path.read_text() == ""
    assert "visor.x: hello" in other.read_text()
