"""What was freed is given back, and what is still used stays."""

import ctypes
import os

from termvisor.daemon.cost import Cost
from termvisor.heap import give_back

SIZE, COUNT, KEPT = 4000, 10_000, 100


def resident() -> int:
    found = Cost().of(os.getpid(), 0.0)
    assert found is not None
    return found.rss_bytes


def test_what_lies_between_blocks_in_use_goes_back_to_the_system() -> None:
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    blocks = [library.malloc(SIZE) for _ in range(COUNT)]
    for number, block in enumerate(blocks):
        ctypes.memset(block, number % 250 + 1, SIZE)
    for number, block in enumerate(blocks):
        if number % KEPT:
            library.free(ctypes.c_void_p(block))
    before = resident()
    give_back()
    assert before - resident() > SIZE * COUNT // 2
    kept = {number: ctypes.string_at(blocks[number], SIZE) for number in range(0, COUNT, KEPT)}
    assert all(data == bytes([number % 250 + 1]) * SIZE for number, data in kept.items())
    for number in kept:
        library.free(ctypes.c_void_p(blocks[number]))
