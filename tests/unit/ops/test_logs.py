import os

import pytest

from termvisor.ops.local import LocalWorld
from termvisor.settings import Places
from termvisor.testing.asking import ask


@pytest.fixture
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    places = Places(*(str(tmp_path_factory.mktemp(name)) for name in ("config", "data", "run")))
    os.makedirs(os.path.dirname(places.log_file))
    return places


def _log(path: str, first: int, last: int) -> None:
    with open(path, "w") as file:
        file.writelines(f"fact {number}\n" for number in range(first, last))


async def test_before_the_first_start_there_is_no_log(places: Places) -> None:
    answered = await ask(LocalWorld(places), "logs")
    assert (answered.out, answered.status) == (f"{places.log_file} is empty: no daemon has run yet.\n", 0)
    assert (await ask(LocalWorld(places), "logs", "-q")).out == ""


async def test_the_last_lines_come_oldest_first(places: Places) -> None:
    _log(places.log_file, 0, 100)
    assert (await ask(LocalWorld(places), "logs", "-n", "2")).out == "fact 98\nfact 99\n"


async def test_a_rotated_log_is_read_on(places: Places) -> None:
    _log(places.log_file + ".1", 0, 100)
    _log(places.log_file, 100, 101)
    assert (await ask(LocalWorld(places), "logs", "-n", "3")).out == "fact 98\nfact 99\nfact 100\n"


async def test_a_long_log_is_read_from_its_end_only(places: Places) -> None:
    _log(places.log_file, 0, 100_000)
    lines = (await ask(LocalWorld(places), "robot", "logs")).envelope["data"]["lines"]
    assert (len(lines), lines[0], lines[-1]) == (50, "fact 99950", "fact 99999")


async def test_a_hostile_line_and_a_secret_are_harmless(places: Places) -> None:
    with open(places.log_file, "w") as file:
        file.write("title \x1b]0;x\x07 token ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5 end\n")
    out = (await ask(LocalWorld(places), "logs")).out
    assert out == "title  token ghp_[redacted:github_token] end\n"
