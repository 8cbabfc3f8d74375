from termvisor.setup.user_file import FileChange, format_diff

TOKEN = "ghp_" + "a1B2" * 9


def test_a_change_is_shown_line_by_line_and_a_secret_beside_it_is_not() -> None:
    shown = format_diff(
        FileChange("/f", f"export TOKEN={TOKEN}\nend".encode(), f"export TOKEN={TOKEN}\nnew\nend".encode())
    )
    assert shown.startswith("--- /f\n+++ /f\n")
    assert "+new" in shown.split("\n")
    assert "\\ No newline at end of file" in shown
    assert TOKEN not in shown


def test_a_file_that_comes_or_goes_is_told_apart() -> None:
    assert format_diff(FileChange("/f", None, b"x\n")).startswith("--- /dev/null\n+++ /f\n")
    assert format_diff(FileChange("/f", b"x\n", None)).startswith("--- /f\n+++ /dev/null\n")
    assert (FileChange("/f", None, None).is_empty, FileChange("/f", None, b"").is_empty) == (True, False)
