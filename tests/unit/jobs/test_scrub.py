from contextlib import closing
from pathlib import Path

from termvisor.jobs.scrub import overwrite_in_folder
from termvisor.recorder.segment_log import SegmentReader, SegmentWriter


def write_log(folder: Path, data: bytes, segment_bytes: int = 1 << 20) -> None:
    with closing(SegmentWriter(str(folder), segment_bytes)) as log:
        log.append(data, 1)


def read_log(folder: Path) -> bytes:
    with closing(SegmentReader(str(folder))) as reader:
        return b"".join(data for _, data, _ in reader.read_pieces(0, 1 << 30))


def test_a_secret_is_overwritten_without_moving_other_bytes(tmp_path) -> None:
    write_log(tmp_path, b"pw: hunter2!\r\nagain hunter2!\r\n")
    assert overwrite_in_folder(str(tmp_path), [b"hunter2!"]) == 2
    assert read_log(tmp_path) == b"pw: ********\r\nagain ********\r\n"


def test_only_the_secret_part_of_a_pattern_is_overwritten(tmp_path) -> None:
    write_log(tmp_path, b"token=abc-12345678 ok")
    overwrite_in_folder(str(tmp_path), [], ["token=(?P<secret>[a-z0-9-]+)"])
    assert read_log(tmp_path) == b"token=************ ok"


def test_a_secret_at_the_edge_of_a_read_is_found(tmp_path) -> None:
    data = b"." * ((1 << 20) - 4) + b"edge-secret" + b"." * 5000
    write_log(tmp_path, data, 1 << 22)
    assert overwrite_in_folder(str(tmp_path), [b"edge-secret"]) >= 1
    assert b"secret" not in read_log(tmp_path)
    assert len(read_log(tmp_path)) == len(data)


def test_a_folder_that_is_gone_has_no_secrets(tmp_path) -> None:
    assert overwrite_in_folder(str(tmp_path / "gone"), [b"x"]) == 0
