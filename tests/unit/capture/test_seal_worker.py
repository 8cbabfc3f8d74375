"""Seal segments in a worker process."""

import os
import subprocess

import msgspec

from termvisor.capture.seal_worker import SealRequest, build_command, try_seal_segment
from termvisor.capture.sealing import SealOptions, SealResult
from termvisor.recorder.segment_log import SegmentReader
from tests.unit.capture.test_sealing import FIRST, SECOND, mask_bytes, write


def test_a_process_of_its_own_seals_what_it_is_asked_to(tmp_path):
    folder = str(tmp_path / "1")
    write(folder)
    request = SealRequest(SealOptions(), [(folder, 0), (folder, len(FIRST)), (f"{tmp_path}/gone", 0)])
    places = {f"VISOR_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    done = subprocess.run(
        build_command(), input=msgspec.json.encode(request), capture_output=True, check=True, env=os.environ | places
    )
    results = [msgspec.json.decode(line, type=SealResult) for line in done.stdout.splitlines()]
    assert [(result.masked, result.error) for result in results] == [(1, ""), (0, ""), (0, "")]
    reader = SegmentReader(folder)
    assert b"".join(data for _, data, _ in reader.read_pieces(0, 1 << 20)) == mask_bytes(FIRST) + SECOND
    reader.close()


def test_disk_errors_are_reported(tmp_path):
    folder = str(tmp_path / "1")
    write(folder)
    os.rename(f"{folder}/0000000000000000.raw", f"{folder}/0000000000000000.raw.zst")
    assert (
        try_seal_segment(folder, 0, SealOptions()).error
        == f"the compressed segment is damaged: {folder}/0000000000000000.raw.zst"
    )
