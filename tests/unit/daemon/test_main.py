"""The daemon's process."""

import sys

from termvisor.daemon.main import first_cause
from termvisor.errors import NewerDatabase
from termvisor.system.subprocesses import ask
from tests.unit.memory import env, private_places


def test_the_cause_is_found_inside_groups() -> None:
    cause = NewerDatabase("x")
    assert first_cause(ExceptionGroup("a", [ExceptionGroup("b", [cause])])) is cause
    assert first_cause(cause) is cause


def test_a_broken_config_is_told_in_one_line_and_a_hint(folder: str) -> None:
    places = private_places(folder)
    status, out, errors = ask(
        [sys.executable, "-m", "termvisor", "daemon", "--foreground"], env=env(places, VISOR_THIN_INTERVAL="soon")
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
    status, _, errors = ask([sys.executable, "-c", script], env=env(private_places("/nonexistent"), VISOR_LOG="loud"))
    assert (status, errors.count(b"\n")) == (0, 2), errors


def test_what_is_not_needed_yet_is_not_loaded() -> None:
    """Each of them, or the ops together, would cost half a megabyte and more for good."""
    script = (
        "import sys; from termvisor.daemon import main as foreground\n"
        "foreground.run()\n"
        "from termvisor.ops.api.catalog import NAMES, TOPICS\n"
        "names = 'shutil urllib.parse zoneinfo tempfile pathlib tree_sitter typing_extensions'.split()\n"
        "print(*sorted(sys.modules.keys() & {*names, *(f'termvisor.ops.{TOPICS[name]}.{name}' for name in NAMES)}))"
    )
    status, out, _ = ask([sys.executable, "-c", script], env=env(private_places("/nonexistent"), VISOR_LOG="loud"))
    assert (status, out.split()) == (0, [b"termvisor.ops.system.help"])
