"""Find the names of this machine's users."""

import pwd
from functools import lru_cache

_MAX_CACHED_USERS = 64


@lru_cache(_MAX_CACHED_USERS)
def find_user_name(uid: int) -> str:
    """Return the name of a user, or `uid 1000` if none has this number."""
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):  # deleted since, or a number that no user can have
        return f"uid {uid}"
