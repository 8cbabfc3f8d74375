"""Secrets that callers type into jobs: held in memory until they are typed, registered with the redactor before that.

An action names a secret only by a keyed digest, so that an approval covers exactly this secret, which cannot be
guessed from the digest.
"""

import os
from _blake2 import blake2b  # importing hashlib would load OpenSSL, which costs 4 MB of memory

from termvisor.redaction import register_secret

_MAX_HELD = 100


class SecretVault:
    def __init__(self) -> None:
        # A digest is of no use to the next daemon, which does not know the secret.
        self._key = os.urandom(32)
        self._values: dict[str, str] = {}

    def hold(self, value: str) -> str:
        """Keep a secret and return its digest. From now on it is masked wherever it appears."""
        register_secret(value)
        digest = blake2b(value.encode("utf-8", "surrogateescape"), key=self._key, digest_size=16).hexdigest()
        self._values[digest] = value
        while len(self._values) > _MAX_HELD:
            del self._values[next(iter(self._values))]
        return digest

    def get(self, digest: str) -> str | None:
        return self._values.get(digest)

    def forget(self, digest: str) -> None:
        """Drop a secret that was typed. Its mask stays."""
        self._values.pop(digest, None)
