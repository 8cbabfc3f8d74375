"""The daemon process."""

import sys

from termvisor.daemon.main import find_first_cause
from termvisor.errors import NewerDatabase
from termvisor.system.subprocesses import run_and_capture
from tests.unit.fake_daemon import build_environment, make_private_paths


def test_the_first_cause_is_found_inside_exception_groups() -> None:
    cause = NewerDatabase("x")
    assert find_first_cause(ExceptionGroup("a", [ExceptionGroup("b", [cause])])) is cause
    assert find_first_cause(cause) is cause


def test_an_invalid_config_prints_one_error_line_and_a_hint(folder: str) -> None:
    places = make_private_paths(folder)
    status, out, errors = run_and_capture(
        [sys.executable, "-m", "termvisor", "daemon", "--foreground"],
        env=build_environment(places, VISOR_THIN_INTERVAL="soon"),
    )
    assert (status, out) == (78, b"")
    assert errors.startswith(b"visor: config_error: ")
    assert errors.count(b"\n") == 2


def test_asyncio_is_imported_without_tls() -> None:
    script = (
        "import sys; from termvisor.daemon import main as foreground\n"
        "foreground.run()\n"
        "assert 'asyncio' in sys.modules and sys.modules['ssl'] is None"
    )
    status, _, errors = run_and_capture(
        [sys.executable, "-c", script], env=build_environment(make_private_paths("/nonexistent"), VISOR_LOG="loud")
    )
    assert (status, errors.count(b"\n")) == (0, 2), errors


def test_the_daemon_does_not_import_heavy_modules_at_start() -> None:
    """Each module, or the operations together, would cost half a megabyte of memory or more."""
    script = (
        "import sys; from termvisor.daemon import main as foreground\n"
        "foreground.run()\n"
        "from termvisor.ops.api.catalog import OPERATION_NAMES, TOPIC_BY_OPERATION\n"
        "names = 'shutil urllib.parse zoneinfo tempfile pathlib tree_sitter typing_extensions'.split()\n"
        "operations = (f'termvisor.ops.{TOPIC_BY_OPERATION[name]}.{name}' for name in OPERATION_NAMES)\n"
        "print(*sorted(sys.modules.keys() & {*names, *operations}))"
    )
    status, out, _ = run_and_capture(
        [sys.executable, "-c", script], env=build_environment(make_private_paths("/nonexistent"), VISOR_LOG="loud")
    )
    assert (status, out.split()) == (0, [b"termvisor.ops.system.help"])
