"""Progress displays of Python's usual libraries, short. Usage: displays.py NAME"""

import random
import sys
import time


def show_rich_progress():
    from rich.progress import Progress

    with Progress() as progress:
        tasks = [progress.add_task(f"Task {number}", total=20) for number in range(3)]
        for step in range(20):
            for number, task in enumerate(tasks):
                progress.advance(task, 1 + number * 0.2)
            if step % 7 == 0:
                progress.console.print(f"[bold]note[/bold] {step}: a line above the bars")
            time.sleep(0.02)


def show_rich_table():
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.panel import Panel
    from rich.table import Table
    from rich.tree import Tree

    console = Console()
    table = Table(title="Releases")
    for column in ("Date", "Title", "Box office"):
        table.add_column(column)
    for number in range(6):
        table.add_row(f"2019-0{number + 1}-01", f"A title that is rather long, number {number}", f"${number}00,000,000")
    tree = Tree("root")
    for number in range(3):
        tree.add(f"branch {number}").add("leaf 漢字 👍")
    console.print(table, Panel("In a panel: " + "words " * 30), tree)
    console.print(Markdown("# Title\n\n* one\n* two\n\n```python\nprint('x')\n```\n"))


def show_rich_live():
    from rich.live import Live
    from rich.table import Table

    with Live(refresh_per_second=20) as live:
        for step in range(12):
            table = Table("Row", "Value")
            for number in range(min(step, 8) + 1):
                table.add_row(str(number), "#" * (step * number % 30))
            live.update(table)
            time.sleep(0.02)


def show_rich_status():
    from rich.console import Console

    console = Console()
    with console.status("Working on it") as status:
        for step in range(5):
            time.sleep(0.05)
            console.log(f"step {step} is done")
            status.update(f"Working on step {step + 1}")


def show_rich_traceback():
    from rich.console import Console

    console = Console()
    try:
        {"a": 1}["b"]
    except KeyError:
        console.print_exception(show_locals=False)


def show_tqdm():
    from tqdm import tqdm

    for step in tqdm(range(60), desc="Loading", mininterval=0):
        time.sleep(0.002)
        if step % 20 == 10:
            tqdm.write(f"written above the bar: {step}")


def show_tqdm_nested():
    from tqdm import tqdm

    for _ in tqdm(range(4), desc="outer", mininterval=0):
        for _ in tqdm(range(8), desc="inner", leave=False, mininterval=0):
            time.sleep(0.003)


def show_tqdm_positions():
    from tqdm import tqdm

    bars = [tqdm(total=15, position=number, desc=f"worker {number}", mininterval=0) for number in range(5)]
    chance = random.Random(1)
    for _ in range(75):
        bars[chance.randrange(5)].update(1)
        time.sleep(0.001)
    for bar in bars:
        bar.close()


def show_alive_progress():
    from alive_progress import alive_bar

    with alive_bar(30, title="Processing") as advance:
        for step in range(30):
            time.sleep(0.01)
            if step == 15:
                print("halfway there")
            advance()


def show_click():
    import click

    with click.progressbar(range(40), label="Modifying users") as numbers:
        for _ in numbers:
            time.sleep(0.005)
    click.secho("finished", fg="green", bold=True)


def show_docker():
    """Paint rows as `docker pull` does: each update moves up to its row, erases it and returns."""
    layers = [f"{number:012x}" for number in (0xA1B2, 0x33FF, 0x9E01, 0x77AA, 0x5C5C, 0x1001, 0xBEEF)]
    print("Using default tag: latest\nlatest: Pulling from library/example")
    for layer in layers:
        print(f"{layer}: Pulling fs layer ")
    chance = random.Random(2)
    done = [0] * len(layers)
    while min(done) < 6:
        row = chance.randrange(len(layers))
        done[row] += 1
        count = len(layers) - row
        what = (
            "Pull complete "
            if done[row] >= 6
            else f"Downloading [{'=' * done[row] * 5}>{' ' * (30 - done[row] * 5)}] {done[row]}MB/6MB"
        )
        sys.stdout.write(f"\x1b[{count}A\x1b[2K\r{layers[row]}: {what}\r\x1b[{count}B")
        sys.stdout.flush()
        time.sleep(0.002)
    print("Digest: sha256:0123456789abcdef\nStatus: Downloaded newer image for example:latest")


def paint_agent_frame(step: int, rows: int) -> int:
    """Erase the box of the frame before and paint the next one, below a growing answer; return its rows."""
    out = "\x1b[2K" + "\x1b[1A\x1b[2K" * rows + "\x1b[G"
    if step % 4 == 0:
        out += f"● Step {step}: wrote src/module_{step}.py and ran its tests, all of which passed quickly\n\n"
    box = [
        f"✻ Thinking… ({step}s · esc to interrupt)",
        "╭" + "─" * 34 + "╮",
        "│ > " + "x" * (step % 20) + " " * (31 - step % 20) + "│",
        "╰" + "─" * 34 + "╯",
        "  ? for shortcuts",
    ]
    sys.stdout.write(out + "".join(line + "\n" for line in box))
    sys.stdout.flush()
    time.sleep(0.01)
    return len(box)


def show_agent():
    """Repaint a box of input and a spinner on the normal screen, as coding agents do."""
    rows = 0
    for step in range(16):
        rows = paint_agent_frame(step, rows)


def show_agent_with_pauses():
    """Repaint as an agent does, and wait for Enter after every ten frames."""
    rows = 0
    for step in range(30):
        rows = paint_agent_frame(step, rows)
        if step % 10 == 9:
            sys.stdin.readline()


def show_prompts():
    """Print widely: columns, wrapped paragraphs, several rows rewritten from the bottom."""
    import shutil

    width = shutil.get_terminal_size().columns
    for number in range(30):
        print(f"{number:03d} " + "lorem dolor sit amet " * (number % 12))
    for percent in range(0, 101, 5):
        bar = "█" * (percent * (width - 8) // 100)
        sys.stdout.write(f"\r{percent:3d}% {bar}")
        sys.stdout.flush()
        time.sleep(0.002)
    print("\nfinished")


def show_curses_like():
    """Use the queries and modes of a small line editor: raw mode, IRM, DCH, saved cursor."""
    for word in ("alpha", "beta", "gamma delta epsilon zeta eta theta iota kappa lambda"):
        sys.stdout.write("\r\x1b[K> ")
        for character in word:
            sys.stdout.write(character)
        sys.stdout.write("\x1b[4D\x1b[4h__\x1b[4l\x1b[2P\x1b7\x1b[1B\rhint for " + word + "\x1b[K\x1b8\n")
        sys.stdout.flush()
    print()


def print_numbered_lines():
    """Print 60,000 lines of different lengths, most of them shorter than a row."""
    chance = random.Random(3)
    for number in range(60_000):
        length = chance.choice((0, 10, 25, 60, 60, 90, 150))
        sys.stdout.write(f"{number:05d} {'the quick brown fox jumps over the lazy dog ' * 4:.{length}}".rstrip() + "\n")


def print_coloured_lines():
    for number in range(60_000):
        sys.stdout.write(
            f"\x1b[32m{number:05d}\x1b[0m \x1b[1mINFO\x1b[0m handled request "
            f"\x1b[36m/api/{number % 97}\x1b[0m in {number % 13} ms\x1b[K\n"
        )


def print_unicode_lines():
    for number in range(60_000):
        sys.stdout.write(f"{number:05d} 漢字テスト 한국어 naïve café 👍 {'─' * (number % 40)}\n")


NAMES = {
    name.removeprefix("show_").removeprefix("print_"): value
    for name, value in list(globals().items())
    if name.startswith(("show_", "print_"))
}

if __name__ == "__main__":
    NAMES[sys.argv[1]]()
