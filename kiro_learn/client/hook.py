"""The shim that agents run: a pipe from a hook's standard input to the daemon, and from the daemon to standard output.

Rules of this file: an agent waits for it at every prompt and every tool call, so it starts fast and never fails. It
needs no installed package: a copy is in the home's ``bin``, next to the script ``hook`` that agents run. That script
lets an interpreter import the copy (``python -I -S -E -c``) and call ``run``, since an imported file is compiled once,
but a file that is run by its path each time. It imports only modules that the interpreter has already loaded, and
``_socket``; even ``__future__`` would cost more than it gives. It knows nothing of agents and reads no JSON. It always
exits with 0, prints the daemon's answer or nothing, writes at most one line to standard error, and ends within two
seconds. A request that cannot be delivered is kept in the home's ``spool``, sealed with the home's key. Its id is made
here, so that a request which the daemon may have received already is never stored twice.
"""

import _signal  # type: ignore[import-not-found]  # known to typeshed as signal only, whose enums take 5 ms to load
import _socket
import posix
import sys
import time

STDIN_SECONDS = 1.0
"""How long the agent may take to write; some never close the pipe."""
STDIN_SECONDS_BESIDE_ENVIRONMENT = 0.2
"""The same if the event came as an argument and its text by environment: probably nothing follows."""
DELIVERY_SECONDS = 1.7
"""The time from the start to the end of the daemon's answer."""
FINISH_SECONDS = 0.25
"""The time to print the answer, or to spool the event."""
MAX_PAYLOAD_BYTES = 2_000_000
"""The daemon takes 2 MiB; the rest is a margin for a change of that limit."""
MAX_ANSWER_BYTES = 1_048_576
MAX_SPOOL_BYTES = 67_108_864
MAX_SPOOL_FILES = 10_000
MAX_TEXT_BYTES = 1_000
"""The most bytes of one environment value or argument in a header; with the longest possible path, all headers stay
below 16 KiB."""

BEFORE_TOOL = "PreToolUse"
"""The hook before a tool runs: nothing has happened yet, so it is not kept for later."""

START_AGAIN_SECONDS = 120
"""The least time between two starts of the daemon, so that a daemon that cannot start costs little."""

UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NOT_DELIVERED = 0
ASK_AGAIN_LATER = (NOT_DELIVERED, 401, 429, 503)
"""No daemon answers, or it cannot take the event now; 401 means that the token was renewed while the daemon ran."""


class NotDelivered(OSError):
    """There is no daemon to take the event."""


class TooLate(TimeoutError):
    """The alarm came; the system's own errors, such as of a disk that no longer answers, may be a TimeoutError."""


def main(home: str, agent: str, event: str, build: str = "") -> None:
    """Deliver one event or spool it, and print the daemon's answer; ``build``: of the program that wrote this file."""
    if posix.environ.get(b"KIRO_LEARN_INTERNAL") == b"1":
        return
    open_missing_streams()
    if not home.startswith("/") or not agent:
        complain("usage: hook.py HOME AGENT [EVENT]")
        return
    started_ns = time.time_ns()
    start = time.monotonic()
    _signal.signal(_signal.SIGALRM, give_up)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGALRM])

    payload, length = read_payload(named=bool(event))
    event_id = new_ulid(started_ns // 1_000_000)
    request = request_head(agent, event, event_id, started_ns, len(payload), length)
    _signal.setitimer(_signal.ITIMER_REAL, max(0.1, start + DELIVERY_SECONDS - time.monotonic()))
    try:
        status, answer, is_stored = deliver(home, request, payload)
    except (OSError, ValueError):
        status, answer, is_stored = NOT_DELIVERED, b"", False
    _signal.setitimer(_signal.ITIMER_REAL, FINISH_SECONDS)
    if status == 200:
        write_all(1, answer)
    if status in ASK_AGAIN_LATER or (status == 200 and not is_stored):
        if event != BEFORE_TOOL:
            spool(home, f"{started_ns:020d}-{event_id}", request.encode() + b"\r\n\r\n" + payload)
        if status == NOT_DELIVERED:
            start_daemon(home)
    elif status != 200:
        complain(f"the daemon refused an event: {status}")
    elif build and build_of_daemon(home) not in ("", build):
        complain("the daemon was started before this hook was installed: run kiro-learn restart")


def give_up(_number: int, _frame: object) -> None:
    """End any wait of the process when the alarm comes."""
    raise TooLate


def open_missing_streams() -> None:
    """Put /dev/null in the place of streams that the agent closed; else our socket or file would get their number."""
    for number in (0, 1, 2):
        try:
            posix.fstat(number)
        except OSError:
            posix.open("/dev/null", posix.O_RDWR)


def read_payload(*, named: bool) -> tuple[bytes, int]:
    """The agent's input, at most MAX_PAYLOAD_BYTES of it, or USER_PROMPT if that is empty; and its full length."""
    text = posix.environ.get(b"USER_PROMPT", b"")
    beside = named and text
    _signal.setitimer(_signal.ITIMER_REAL, STDIN_SECONDS_BESIDE_ENVIRONMENT if beside else STDIN_SECONDS)
    kept = bytearray()
    length = 0
    try:
        # Bytes that are not kept are read too: an agent must not fail because its pipe was closed.
        while chunk := posix.read(0, 65_536):
            length += len(chunk)
            kept += chunk[: MAX_PAYLOAD_BYTES - len(kept)]
    except OSError:
        pass  # late, or closed: the bytes so far are the payload
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    if not kept.strip():
        return text[:MAX_PAYLOAD_BYTES], len(text)
    return bytes(kept), length


def request_head(agent: str, event: str, event_id: str, started_ns: int, kept: int, length: int) -> str:
    """The request as it is spooled; for sending, only the host and the token are added."""
    lines = [
        f"POST /v1/hooks/{quoted(as_bytes(agent)[:MAX_TEXT_BYTES])}?retrieve=true HTTP/1.1",
        "Content-Type: application/json",
        f"Content-Length: {kept}",
        f"X-Hook-Event: {quoted(as_bytes(event)[:MAX_TEXT_BYTES])}",
        f"X-Hook-Event-Id: {event_id}",
        f"X-Hook-Process: {posix.getpgrp()}",
        f"X-Hook-Time: {started_ns // 1_000_000}",
    ]
    try:
        lines.append(f"X-Hook-Cwd: {quoted(posix.getcwdb())}")
    except OSError:
        pass  # deleted under the agent's feet; the payload may still name it
    for name, variable in (("Kiro-Session-Id", b"KIRO_SESSION_ID"), ("User-Prompt", b"USER_PROMPT")):
        if value := posix.environ.get(variable):
            lines.append(f"X-Hook-Env-{name}: {quoted(value[:MAX_TEXT_BYTES])}")
    if kept < length:
        lines.append(f"X-Hook-Truncated: {length}")
    return "\r\n".join(lines)


def deliver(home: str, request: str, payload: bytes) -> tuple[int, bytes, bool]:
    """Send the request to the daemon of this home. Returns the answer's status and body, and whether the event is
    stored.

    Raises:
      NotDelivered: there is no such daemon.
      OSError, ValueError: it did not answer, or not in HTTP.
    """
    if not daemon_lives(home):
        raise NotDelivered
    address = read_line(home + "/daemon.address")
    token = read_line(home + "/token")
    host, _, port = address.rpartition(":")
    host = host.strip("[]")

    connection = _socket.socket(_socket.AF_INET6 if ":" in host else _socket.AF_INET, _socket.SOCK_STREAM)
    connection.connect((host, int(port)))
    head = f"{request}\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    connection.sendall(head.encode() + payload)
    return read_answer(connection)


def daemon_lives(home: str) -> bool:
    """Whether a daemon holds the home's lock.

    After a crash the address file still exists, and another program may listen on that port; it must not get the token
    and the prompt. Only Linux lets us test the lock without taking it.
    """
    lock = posix.open(home + "/daemon.lock", posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        posix.lockf(lock, posix.F_TEST, 0)
    except (PermissionError, BlockingIOError):
        return True
    finally:
        posix.close(lock)
    return sys.platform != "linux"


def build_of_daemon(home: str) -> str:
    """The build of the daemon that holds the home, from its lock; empty if the lock names none."""
    try:
        return (read_lines(home + "/daemon.lock") + [""])[1]
    except (OSError, ValueError):
        return ""


def read_line(path: str) -> str:
    """The first line of a small file."""
    return read_lines(path)[0]


def read_lines(path: str) -> list[str]:
    """The lines of a small file, and the text after its last line end."""
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        return posix.read(descriptor, 4096).decode("ascii").split("\n")
    finally:
        posix.close(descriptor)


def read_answer(connection: _socket.socket) -> tuple[int, bytes, bool]:
    """Read one response up to its Content-Length, not to its end, since a server may keep the connection open."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += some(connection, received)
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(header(head, b"content-length") or 0)
    while len(body) < length:
        body += some(connection, body)
    is_stored = header(head, b"x-hook-stored") != b"pending"
    return int(head.partition(b" ")[2][:3]), body[:length], is_stored


def some(connection: _socket.socket, before: bytes) -> bytes:
    """The next piece of an answer; ``before`` are the bytes received so far."""
    chunk = connection.recv(65_536)
    if not chunk or len(before) > MAX_ANSWER_BYTES:
        raise NotDelivered
    return chunk


def header(head: bytes, wanted: bytes) -> bytes:
    """The value of a header in ``head``, given by its name in lower case; empty if it is missing."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == wanted:
            return value.strip()
    return b""


def spool(home: str, name: str, request: bytes) -> None:
    """Keep the request for the daemon. The file's name sorts by time and ends in the size; it appears as a whole."""
    folder = home + "/spool"
    try:
        names = names_in(folder)
        request = sealed(home, request)
        if is_full(names, len(request)):
            complain("an event was lost: the spool is full, and the daemon is not running")
            return
        keep(f"{folder}/.{name}", f"{folder}/{name}-{len(request)}", request)
    except ImportError:
        complain("an event was lost: bin/spool_cipher.py is gone; run kiro-learn restart")
    except OSError as error:
        complain(f"an event was lost: {error.strerror or 'the disk is too slow'}")


def keep(hidden: str, path: str, content: bytes) -> None:
    """Write the file ``path`` whole or not at all, first under the name ``hidden``."""
    descriptor = posix.open(hidden, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
    try:
        write_all(descriptor, content)
        try:
            posix.fsync(descriptor)
        except TooLate:
            pass  # a busy disk; the file is whole, and only a power cut could still take it
        posix.rename(hidden, path)
    except OSError:
        posix.unlink(hidden)  # else a full disk would get another empty file with each event
        raise


def start_daemon(home: str) -> None:
    """Run ``bin/start`` if the settings allow it and no daemon runs, without waiting for it.

    The daemon writes or removes that file, as [server] start_on_hook says. ``kiro-learn stop`` leaves
    ``daemon.stopped`` until a daemon is started by hand. ``daemon.tried`` has the time of the last start, and only the
    hook that holds its lock may try; so only one of many hooks does.
    """
    script = home + "/bin/start"
    if not exists(script) or exists(home + "/daemon.stopped") or is_served(home):
        return
    try:
        tried = posix.open(home + "/daemon.tried", posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
        posix.lockf(tried, posix.F_TLOCK, 0)
        found = posix.fstat(tried)
        # An empty file was just made. A clock that was set back must not prevent starts for ever.
        if found.st_size and abs(time.time() - found.st_mtime) < START_AGAIN_SECONDS:
            return
        posix.pwrite(tried, b"%d\n" % posix.getpid(), 0)
        detached("/bin/sh", script)
    except OSError:
        return  # another hook tries right now; or the home cannot be written, as the spool has reported


def exists(path: str) -> bool:
    """Whether the file or folder exists, as far as we may look."""
    try:
        posix.stat(path)
    except OSError:
        return False
    return True


def is_served(home: str) -> bool:
    """Whether a daemon is known to hold the home; no second one must be started if it only does not answer."""
    try:
        return sys.platform == "linux" and daemon_lives(home)
    except OSError:
        return False


def detached(*command: str) -> None:
    """Run ``command`` in a session of its own, without the agent's streams and files, since an agent may wait for their
    end.
    """
    environment = dict(posix.environ)
    for of_the_agent in (b"USER_PROMPT", b"KIRO_SESSION_ID"):
        environment.pop(of_the_agent, None)
    actions = [
        *[(posix.POSIX_SPAWN_OPEN, number, "/dev/null", posix.O_RDWR, 0) for number in (0, 1, 2)],
        *[(posix.POSIX_SPAWN_CLOSE, number) for number in inherited()],
    ]
    posix.posix_spawn(command[0], command, environment, file_actions=actions, setsid=True)


def inherited() -> list[int]:
    """Open files, other than the streams, that a child would inherit."""
    found = []
    for name in posix.listdir("/dev/fd"):
        try:
            if int(name) > 2 and posix.get_inheritable(int(name)):
                found.append(int(name))
        except OSError:
            pass  # the descriptor of the listing itself
    return found


def sealed(home: str, request: bytes) -> bytes:
    """The request encrypted for the daemon of this home; the cipher is loaded only here."""
    # The cipher is next to this copy if agents run it, and in the package if ``kiro-learn hook`` does.
    sys.path[:0] = [home + "/bin", __file__.rpartition("/")[0] + "/../adapters/files"]
    import spool_cipher  # type: ignore[import-not-found]  # noqa: PLC0415  # see above

    hidden: bytes = spool_cipher.sealed(spool_cipher.key_at(home + "/spool.key"), request)
    return hidden


def names_in(folder: str) -> list[str]:
    """The names in ``folder``, which is made if it does not exist."""
    try:
        return posix.listdir(folder)
    except FileNotFoundError:
        posix.mkdir(folder, 0o700)
        return []


def is_full(names: list[str], size: int) -> bool:
    """Whether the files ``names`` and ``size`` bytes more would exceed the spool's limits."""
    sizes = (name.rpartition("-")[2] for name in names)
    return len(names) >= MAX_SPOOL_FILES or sum(int(s) for s in sizes if s.isdecimal()) + size > MAX_SPOOL_BYTES


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of ``content``, in as many pieces as needed."""
    rest = memoryview(content)
    while rest:
        rest = rest[posix.write(descriptor, rest) :]


def complain(sentence: str) -> None:
    """Write one line to standard error."""
    write_all(2, f"[kiro-learn] {sentence}\n".encode("utf-8", "backslashreplace"))


def new_ulid(unix_ms: int) -> str:
    """A ULID of this time, in upper case."""
    value = unix_ms << 80 | int.from_bytes(posix.urandom(10), "big")
    return "".join([CROCKFORD[value >> shift & 31] for shift in range(125, -1, -5)])


def quoted(value: bytes) -> str:
    """``value`` percent-encoded, so that no byte can end a header."""
    return "".join([chr(byte) if byte in UNRESERVED else f"%{byte:02X}" for byte in value])


def as_bytes(argument: str) -> bytes:
    """An argument as the bytes that the agent gave."""
    return argument.encode("utf-8", "surrogateescape")


def run(arguments: list[str], build: str = "") -> None:
    """Run ``main`` and end the process at once: an ordinary end takes the interpreter longer than all of the above."""
    try:
        home, agent, event = (arguments + ["", "", ""])[:3]
        main(home, agent, event, build)
    finally:
        posix._exit(0)


if __name__ == "__main__":
    run(sys.argv[1:])
