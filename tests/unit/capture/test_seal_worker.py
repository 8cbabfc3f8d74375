import os
import subprocess

import msgspec

from termvisor.capture.seal_worker import Request, command, sealed
from termvisor.capture.sealing import Sealed, Wish
from termvisor.recorder.segment_log import SegmentReader
from tests.unit.capture.test_sealing import FIRST, SECOND, mask, write


def test_a_process_of_its_own_seals_what_it_is_asked_to(tmp_path):
    folder = str(tmp_path / "1")
    write(folder)
    request = Request(Wish(), [(folder, 0), (folder, len(FIRST)), (f"{tmp_path}/gone", 0)])
    places = {f"VISOR_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    done = subprocess.run(
        command(), input=msgspec.json.encode(request), capture_output=True, check=True, env=os.environ | places
    )
    results = [msgspec.json.decode(line, type=Sealed) for line in done.stdout.splitlines()]
    assert [(result.masked, result.trouble) for result in results] == [(1, ""), (0, ""), (0, "")]
    reader = SegmentReader(folder)
    assert b"".join(data for _, data, _ in reader.pieces(0, 1 << 20)) == mask(FIRST) + SECOND
    reader.close()


def test_what_the_disk_refuses_is_told(tmp_path):
    folder = str(tmp_path / "1")
    write(folder)
    os.rename(f"{folder}/0000000000000000.raw", f"{folder}/0000000000000000.raw.zst")
    assert sealed(folder, 0, Wish()).trouble == f"this packed segment is damaged: {folder}/0000000000000000.raw.zst"
