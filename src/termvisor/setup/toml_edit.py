"""Read the text of a TOML file, and replace the file atomically."""

import os
import tomllib

from termvisor.errors import ConfigError, Unavailable
from termvisor.system import files
from termvisor.system.files import make_private_folder


def read_toml_file(path: str) -> str:
    """Return the text of the file, empty if it does not exist. Raises ConfigError if it is not valid TOML."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode()
        tomllib.loads(text)
    except FileNotFoundError:
        return ""
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    return text


def replace_toml_file(path: str, text: str) -> None:
    """Replace the file atomically, keeping a symbolic link and the file mode. Raises Unavailable."""
    target = os.path.realpath(path)
    try:
        make_private_folder(os.path.dirname(path), keeps_mode=True)
        files.write_atomically(target, text.encode(), files.stat_if_exists(target))
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from error
