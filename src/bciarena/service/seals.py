"""Signed statements (Ed25519): whoever has the site's public key can check them, nobody else can make them.

The key is made from the site's own secret, so that it is in every backup and needs no file of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def _key(secret: str) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(hmac.digest(secret.encode(), b"seals of runs", hashlib.sha256))


def public_key(secret: str) -> str:
    """In hexadecimal."""
    return _key(secret).public_key().public_bytes_raw().hex()


def message(said: dict[str, Any]) -> bytes:
    """The bytes that are signed: JSON with sorted names and no spaces, in UTF-8."""
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def seal(secret: str, said: dict[str, Any]) -> dict[str, Any]:
    said = json.loads(message(said))  # as a reader will see it
    return {"said": said, "key": public_key(secret), "signature": _key(secret).sign(message(said)).hex()}


def is_whole(sealed: dict[str, Any], key: str) -> bool:
    """Whether a statement was signed with this key and says what it said."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(
            bytes.fromhex(sealed["signature"]), message(sealed["said"])
        )
    except (InvalidSignature, ValueError, KeyError, TypeError):
        return False
    return True
