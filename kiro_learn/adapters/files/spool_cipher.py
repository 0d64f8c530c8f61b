"""Seals the requests that wait in the spool, with a key in the home.

Rules of this file: the shim runs a copy of it while an agent waits, without an installed package. So it imports only
modules that load within a millisecond, and none of ours.

A sealed request is ``MARK``, a nonce, a tag, and the text under a keystream. Keystream and tag come from SHAKE-256
(FIPS 202) over the key, a word that names one of the two, and the nonce. A sponge may be keyed by a prefix, as KMAC
does (NIST SP 800-185, 4). ``docs/privacy.md`` says what this protects and what it does not.
"""

import posix
from _sha3 import shake_256  # type: ignore[import-not-found]  # hashlib has it too, but loads ten times as long

MARK = b"kiro-learn sealed 1\n"
KEY_BYTES = 32
NONCE_BYTES = 16
TAG_BYTES = 32
_NO_ROOM = 28  # ENOSPC on Linux and macOS; importing errno would cost time
_HEAD_BYTES = len(MARK) + NONCE_BYTES + TAG_BYTES


def key_at(path: str) -> bytes:
    """The key in the file ``path``, which is made if it is missing. Processes that make it at once get the same.

    Raises:
      OSError: the key can neither be read nor made.
    """
    try:
        return _read(path)
    except FileNotFoundError:
        fresh = f"{path}.{posix.urandom(8).hex()}"
        try:
            _write(fresh, posix.urandom(KEY_BYTES))
            try:
                posix.link(fresh, path)  # unlike a rename, it never replaces another process's key
            except FileExistsError:
                pass
            except OSError:  # a file system without links
                posix.rename(fresh, path)
        finally:
            _remove(fresh)
        return _read(path)


def _write(path: str, content: bytes) -> None:
    descriptor = posix.open(path, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
    try:
        if posix.write(descriptor, content) < len(content):
            raise OSError(_NO_ROOM, "No space left on device")
        posix.fsync(descriptor)
    finally:
        posix.close(descriptor)


def _remove(path: str) -> None:
    try:  # noqa: SIM105  # importing contextlib would cost time
        posix.unlink(path)
    except OSError:  # renamed, or never made; if it stays, the daemon's next start removes it
        pass


def _read(path: str) -> bytes:
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        return posix.read(descriptor, KEY_BYTES)
    finally:
        posix.close(descriptor)


def sealed(key: bytes, content: bytes) -> bytes:
    """``content``, sealed so that only ``key`` opens it. Each call gives other bytes."""
    nonce = posix.urandom(NONCE_BYTES)
    covered = _covered(key, nonce, content)
    return MARK + nonce + _tag(key, nonce, covered) + covered


def opened(key: bytes, found: bytes) -> bytes | None:
    """The content that was sealed; None if it was sealed with another key, or is damaged."""
    nonce, tag = found[len(MARK) :][:NONCE_BYTES], found[len(MARK) + NONCE_BYTES : _HEAD_BYTES]
    covered = found[_HEAD_BYTES:]
    if not found.startswith(MARK) or tag != _tag(key, nonce, covered):
        return None
    return _covered(key, nonce, covered)


def _covered(key: bytes, nonce: bytes, content: bytes) -> bytes:
    """``content`` XOR the keystream. Applied twice, it gives ``content`` again."""
    stream: bytes = shake_256(key + b"stream" + nonce).digest(len(content))
    return (int.from_bytes(content, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(content), "big")


def _tag(key: bytes, nonce: bytes, covered: bytes) -> bytes:
    tag: bytes = shake_256(key + b"tag..." + nonce + covered).digest(TAG_BYTES)
    return tag
