import os

import pytest

from termvisor.system.regular_file import open_regular_file


def test_a_regular_file_and_a_link_to_one_are_opened(tmp_path):
    (tmp_path / "file").write_text("hello")
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        with open(tmp_path / name, opener=open_regular_file) as file:
            assert file.read() == "hello"


def test_a_pipe_without_a_writer_a_device_and_a_folder_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/null"):
        with pytest.raises(OSError, match="not a regular file"):
            open_regular_file(str(path), os.O_RDONLY)
    with pytest.raises(IsADirectoryError):
        open_regular_file(str(tmp_path), os.O_RDONLY)
