"""The last line of every pane, with the blocking client."""

from termvisor.client import Visor

with Visor() as visor:
    for pane in visor.list_panes()["items"]:
        number = pane["identity"]["id"]
        text = visor.get_text(pane=str(number), tail=1)["text"]
        print(f"{number:>4}  {pane['command']:<16} {text.strip()}")
