"""Freed memory is returned to the system, and used memory is kept."""

import ctypes
import gc
import os
import sys
import weakref

from termvisor.system.malloc import release_free_memory
from termvisor.system.procfs import ProcessUsageSampler
from termvisor.system.subprocesses import run_and_capture

SIZE, COUNT, KEPT = 4000, 10_000, 100


def read_resident_bytes() -> int:
    found = ProcessUsageSampler().sample_usage(os.getpid(), 0.0)
    assert found is not None
    return found.rss_bytes


def test_free_memory_between_used_blocks_is_returned_to_the_system() -> None:
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    blocks = [library.malloc(SIZE) for _ in range(COUNT)]
    for number, block in enumerate(blocks):
        ctypes.memset(block, number % 250 + 1, SIZE)
    for number, block in enumerate(blocks):
        if number % KEPT:
            library.free(ctypes.c_void_p(block))
    before = read_resident_bytes()
    release_free_memory()
    assert before - read_resident_bytes() > SIZE * COUNT // 2
    kept = {number: ctypes.string_at(blocks[number], SIZE) for number in range(0, COUNT, KEPT)}
    assert all(data == bytes([number % 250 + 1]) * SIZE for number, data in kept.items())
    for number in kept:
        library.free(ctypes.c_void_p(blocks[number]))


class ReferenceCycle:
    """A reference cycle."""

    def __init__(self) -> None:
        self.me = self


def test_garbage_is_collected_only_on_request() -> None:
    gc.disable()
    try:
        cycle = weakref.ref(ReferenceCycle())
        release_free_memory()
        assert cycle() is not None
        release_free_memory(collect_garbage=True)
        assert cycle() is None
    finally:
        gc.enable()


def test_frozen_objects_are_not_collected_and_threads_share_an_arena() -> None:
    script = (
        "import ctypes, gc, os, threading; from termvisor.system import malloc\n"
        "malloc.limit_arenas()\n"
        "threads = [threading.Thread(target=lambda: bytes(2000)) for _ in range(6)]\n"
        "[one.start() for one in threads]; [one.join() for one in threads]\n"
        "malloc.freeze_heap(); assert gc.get_freeze_count() > 1000\n"
        "ctypes.CDLL(None).malloc_stats()"
    )
    status, _, errors = run_and_capture([sys.executable, "-c", script])
    assert (status, errors.count(b"Arena ") <= 2) == (0, True), errors
