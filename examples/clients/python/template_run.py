"""Client of the Template Run Service in one file: Python 3.9 or later, nothing but the standard library.

It keeps the rules of docs/how-to/send-files.md: each call has one Idempotency-Key, so that a Run is charged once whatever has to be tried
again; uploads and downloads are streamed; a download goes on where it was cut, and its file gets its name when it is whole.

    client = TemplateRunClient("https://runs.example.com", os.environ["TEMPLATE_RUN_API_KEY"])
    run, path = client.transform("shop-orders", "orders.csv", "orders-clean.csv")

On the command line: python3 template_run.py send TEMPLATE FILE... -o PATH
"""

from __future__ import annotations

import argparse
import base64
import collections
import concurrent.futures
import contextlib
import errno
import hashlib
import http.client
import io
import json
import os
import random
import re
import selectors
import signal
import socket
import ssl
import stat
import sys
import tempfile
import threading
import urllib.parse
import uuid
from typing import (
    Any,
    BinaryIO,
    Callable,
    Dict,
    FrozenSet,
    Iterator,
    List,
    NamedTuple,
    NoReturn,
    Optional,
    Set,
    TextIO,
    Tuple,
    TypedDict,
    TypeVar,
    Union,
)

__all__ = [
    "Cancelled",
    "Run",
    "RunError",
    "RunFailedError",
    "RunFile",
    "Template",
    "TemplateRunClient",
    "TemplateRunError",
    "Usage",
]


class RunFile(TypedDict):
    """The output of a Run, or its rejected rows."""

    name: str
    mime_type: str
    size_bytes: int
    download_url: str


class RunError(TypedDict):
    """Why a Run failed."""

    code: str
    message: str


class _RunBase(TypedDict):
    id: str
    # "running", "succeeded" or "failed"
    status: str
    template_id: str
    created_at: str


class Run(_RunBase, total=False):
    """A Run as the service reports it. `output` and `rows_written` are None unless it succeeded, `error` unless it failed."""

    completed_at: Optional[str]
    expires_at: Optional[str]
    rows_written: Optional[int]
    truncated: bool
    output: Optional[RunFile]
    rejects: RunFile
    error: Optional[RunError]
    report: Optional[Dict[str, Any]]


class _TemplateBase(TypedDict):
    id: str


class Template(_TemplateBase, total=False):
    """A Template that the account can use."""

    name: Optional[str]
    description: Optional[str]
    output_format: Optional[str]


class Usage(TypedDict):
    """What an account has used of its plan. A limit or a ceiling that is None does not exist."""

    used: int
    limit: Optional[int]
    resets_at: str
    runs_in_flight: int
    ceilings: Dict[str, Optional[int]]


# A path, bytes, or what opens a new stream of the same bytes for each try.
Source = Union[str, "os.PathLike[str]", bytes, Callable[[], BinaryIO]]
# Told of a phase ("upload" or "download"), bytes so far, and bytes in all (None: not known before the end).
Progress = Callable[[str, int, Optional[int]], None]
# A path, or what gives it for the Run.
Target = Union[str, "os.PathLike[str]", Callable[[Run], str]]
_Result = TypeVar("_Result")

RETRIES = 5
# A POST waits 30 s for its Run before the first byte of its answer comes.
IDLE_SECONDS = 90.0
POLL_SECONDS = 1
# As long as a repeat may have to wait: what the service asks for may be more than a timer can.
POLL_SECONDS_MAX = 300
FIRST_DELAY_SECONDS = 0.25
DELAY_SECONDS_MAX = 20.0
# A service that asks for more is not waited for: the caller learns how long it would take.
RETRY_AFTER_SECONDS_MAX = 300
PIECE_BYTES = 256 * 1024
BODY_BYTES_MAX = 16 * 1024 * 1024

RETRIED_CODES = {
    "CONNECTION_LOST",
    "CONCURRENCY_LIMIT_REACHED",
    "RATE_LIMITED",
    "SERVER_BUSY",
    "INTERNAL_ERROR",
    "RUN_INTERRUPTED",
    "RUN_TIMEOUT",
    "OUTPUT_DAMAGED",
}
# Also of a proxy before the service, which knows no codes or has others of its own; no error that stays has one of these.
RETRIED_STATUSES = {429, 500, 502, 503, 504}

# Of a request's head; answers of 1xx say nothing of the request.
INTERIM = b"HTTP/1.1 1"
INTERIM_BYTES_MAX = 64 * 1024
# To wait in the system for whoever reads or writes a pipe would leave nothing that `cancel` could end.
UNBLOCKED = getattr(os, "O_NONBLOCK", 0)
READER_SECONDS = 0.02
SPACE_SECONDS = 0.002

PARALLEL = 4
# What API keys begin with.
KEY_PREFIX = "trs_"
UNPRINTABLE = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]")
# Of a name behind its stem. Rejected rows are CSV, whatever the output is.
REJECTS = ".rejects"
REJECTS_ENDING = REJECTS + ".csv"


class TemplateRunError(Exception):
    """A request that did not succeed: look at `code`."""

    def __init__(
        self,
        code: str,
        message: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[int] = None,
        quota: Optional[Dict[str, Any]] = None,
        columns: Optional[List[str]] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.quota = quota
        self.columns = columns

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class RunFailedError(TemplateRunError):
    """The Run came to its end and failed. It was not charged."""

    def __init__(self, run: Run) -> None:
        error: Dict[str, Any] = dict(run.get("error") or {})
        super().__init__(error.get("code", "INTERNAL_ERROR"), error.get("message", "The Run failed."))
        self.run = run


class Cancelled(Exception):
    """`cancel` was called."""


class TemplateRunClient:
    """Threads may share one."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        retries: int = RETRIES,
        idle_seconds: float = IDLE_SECONDS,
        tls: Optional[ssl.SSLContext] = None,
    ) -> None:
        url = urllib.parse.urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError("base_url begins with http: or https:.")
        if not re.fullmatch(r"[\x21-\x7e]+", api_key):
            raise ValueError("api_key is not an API key.")
        self._path = url.path.rstrip("/") + "/api/v1"
        self._key = api_key
        self._retries = retries
        self._connections = _Connections(url, idle_seconds, tls)

    def templates(self) -> List[Template]:
        """The account's Templates."""
        body, answer = self._retrying(lambda _: self._json("/templates"))
        if not isinstance(body.get("data"), list):
            raise answer.unexpected()
        templates: List[Template] = body["data"]
        return templates

    def usage(self) -> Usage:
        """What the account has used of its plan, and the plan's ceilings."""
        body, answer = self._retrying(lambda _: self._json("/usage"))
        if not isinstance(body.get("used"), int) or not isinstance(body.get("resets_at"), str):
            raise answer.unexpected()
        usage: Usage = body
        return usage

    def get(self, run_id: str) -> Run:
        """The Run as it stands now."""
        return self._look(run_id)[0]

    def run(
        self,
        template: str,
        source: Source,
        delimiter: Optional[str] = None,
        header_row: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        on_progress: Optional[Progress] = None,
    ) -> Run:
        """Applies a Template to a file, and returns the Run that succeeded. All tries send the same bytes under one key."""
        key = idempotency_key or str(uuid.uuid4())
        fields = {"delimiter": delimiter, "header_row": None if header_row is None else str(header_row)}
        path = f"/templates/{_quoted(template)}/runs"

        def one_try(_: Callable[[], None]) -> Run:
            with _Form(source, fields, on_progress) as form:
                answer = self._ask("POST", path, {"Idempotency-Key": key, **form.headers}, form)
            run = self._ended(*_run_of(_checked(answer)))
            if run["status"] == "failed":
                raise RunFailedError(run)
            return run

        # The Run of a service that was started anew is lost; the repeat makes it again.
        return self._retrying(one_try, also_retried=frozenset({"RUN_NOT_FOUND"}))

    def download(
        self, run: Run, path: Union[str, "os.PathLike[str]"], file: str = "output", on_progress: Optional[Progress] = None
    ) -> None:
        """Puts the Run's output at `path`, or with file="rejects" its rejected rows: whole and compared with the service's
        digest, or not at all. A file that is there is replaced, also behind a link, and its permissions stay; a pipe or a device
        is written into."""
        url = f"/runs/{_quoted(run['id'])}/{file}"
        # Of the whole file; None: the caller does not know it.
        described: Any = run.get(file)
        reported = (described or {}).get("size_bytes")
        with _Part(os.fspath(path)) as part:
            self._retrying(lambda advanced: self._fetch(url, part, reported, advanced, on_progress))
            part.keep(self._connections.wait)

    def transform(
        self,
        template: str,
        source: Source,
        target: Target,
        rejects: Optional[Target] = None,
        **options: Any,
    ) -> Tuple[Run, str]:
        """`run` and `download` in one: a Run that is lost between the two is made again under the same key, and not charged
        again. Returns the Run and the path. `rejects`: where the rows go that the Template rejects, where it may reject any;
        without it they are not fetched."""
        options["idempotency_key"] = options.get("idempotency_key") or str(uuid.uuid4())
        for place in (target, rejects):
            if place is not None and not callable(place):
                # A Run is charged: that its output cannot be written is told before.
                with _Part(os.fspath(place)):
                    pass
        losses = 0
        while True:
            run = self.run(template, source, **options)
            path = _place_for(run, target)
            try:
                self.download(run, path, on_progress=options.get("on_progress"))
                if rejects is not None and run.get("rejects") is not None:
                    self.download(run, _place_for(run, rejects), file="rejects")
                return run, path
            except TemplateRunError as error:
                losses += 1
                if error.code != "RUN_NOT_FOUND" or losses > self._retries:
                    raise

    def cancel(self) -> None:
        """From another thread: ends all that the client does, at once. Its calls raise Cancelled; one that waits for a source of
        the caller's, for its opening or its bytes, when that gives something."""
        self._connections.cancel()

    def close(self) -> None:
        """Closes idle connections, and others when they are done."""
        self._connections.close_idle()

    def __enter__(self) -> TemplateRunClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _retrying(
        self, work: Callable[[Callable[[], None]], _Result], also_retried: FrozenSet[str] = frozenset()
    ) -> _Result:
        """Full jitter below a bound that doubles, never before Retry-After has passed. A try that comes further than the last
        says so, and what went wrong before no longer counts."""
        failures = 0

        def advanced() -> None:
            nonlocal failures
            failures = 0

        while True:
            self._connections.check()
            try:
                return work(advanced)
            except TemplateRunError as error:
                self._connections.check()
                passes = _is_retried(error) or error.code in also_retried
                if not passes or failures >= self._retries or (error.retry_after or 0) > RETRY_AFTER_SECONDS_MAX:
                    raise
                failures += 1
                self._connections.wait(_delay_seconds(failures, error.retry_after))

    def _look(self, run_id: str) -> Tuple[Run, Optional[int]]:
        return self._retrying(lambda _: _run_of(self._json(f"/runs/{_quoted(run_id)}")))

    def _ended(self, run: Run, retry_after: Optional[int]) -> Run:
        while run["status"] == "running":
            seconds = POLL_SECONDS if retry_after is None else min(retry_after, POLL_SECONDS_MAX)
            self._connections.wait(_delay_seconds(1, seconds))
            run, retry_after = self._look(run["id"])
        return run

    def _json(self, path: str) -> Tuple[Any, _Answer]:
        return _checked(self._ask("GET", path, {}))

    def _ask(self, method: str, path: str, headers: Dict[str, str], form: Optional[_Form] = None) -> _Answer:
        sent = {"Authorization": f"Bearer {self._key}", "Accept-Encoding": "identity", **headers}
        return self._connections.send(method, self._path + path, sent, form)

    def _fetch(
        self,
        url: str,
        part: _Part,
        reported: Optional[int],
        advanced: Callable[[], None],
        on_progress: Optional[Progress],
    ) -> None:
        if part.total is None or part.bytes < part.total:
            headers = {"Want-Repr-Digest": "sha-256=1"}
            if part.total is not None and part.bytes > 0:
                headers.update({"Range": f"bytes={part.bytes}-", "If-Range": part.etag})
            answer = self._ask("GET", url, headers)
            with contextlib.closing(answer):
                if not 200 <= answer.status < 300:
                    _checked(answer)
                total = part.begin(answer)
                if reported is not None and total != reported:
                    raise _wrong_size(answer, reported)
                for piece in answer.pieces():
                    if part.bytes + len(piece) > total:
                        raise _wrong_size(answer, total)
                    if part.append(piece):
                        advanced()
                    if on_progress is not None:
                        on_progress("download", part.bytes, total)
        if not part.is_sound():
            part.clear()
            raise TemplateRunError(
                "OUTPUT_DAMAGED",
                "The downloaded file is damaged: its digest differs from the one that the service sent."
                " Download it again.",
            )


class _Connections:
    """Connections that stay open between requests, and the end of all of them."""

    def __init__(self, url: urllib.parse.SplitResult, idle_seconds: float, tls: Optional[ssl.SSLContext]) -> None:
        self._host = url.hostname or ""
        self._port = url.port or (443 if url.scheme == "https" else 80)
        self._tls = (tls or ssl.create_default_context()) if url.scheme == "https" else None
        self._idle_seconds = idle_seconds
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._idle: List[_Connection] = []
        self._open: Set[socket.socket] = set()
        self._is_closed = False

    def check(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled()

    def wait(self, seconds: float) -> None:
        if self._cancelled.wait(seconds):
            raise Cancelled()

    def cancel(self) -> None:
        with self._lock:
            self._cancelled.set()
            # Wakes up whoever sends, reads or connects.
            for sock in self._open:
                with contextlib.suppress(OSError):
                    # That of a TLS socket forgets first that there is TLS: another thread's next bytes would go out in clear.
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def close_idle(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            self.drop(connection)

    def send(self, method: str, path: str, headers: Dict[str, str], form: Optional[_Form]) -> _Answer:
        """Sends once. Raises CONNECTION_LOST where no answer came, and what a source says that cannot be read."""
        connection = self._take()
        try:
            with _lost():
                connection.putrequest(method, path, skip_accept_encoding=True)
                for name, value in headers.items():
                    connection.putheader(name, value)
                connection.endheaders()
            is_sent = form is None or self._send_form(connection.held, form)
            with _lost():
                response = connection.getresponse()
        except BaseException:
            self.drop(connection)
            raise
        return _Answer(self, connection, response, is_sent)

    def keep(self, connection: _Connection) -> None:
        with self._lock:
            is_kept = not self._is_closed
            if is_kept:
                self._idle.append(connection)
        if not is_kept:
            self.drop(connection)

    def drop(self, connection: _Connection) -> None:
        with self._lock:
            self._open.discard(connection.held)
        connection.close()
        connection.held.close()

    def _take(self) -> _Connection:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                break
            # One on which something came unasked was closed by the other side.
            if not _is_readable(connection.held):
                return connection
            self.drop(connection)
        with _lost():
            return _Connection(self._host, self._port, self._connect(), self._tls is not None)

    def _connect(self) -> socket.socket:
        failure = OSError("the name leads nowhere")
        for family, kind, protocol, _, address in socket.getaddrinfo(self._host, self._port, 0, socket.SOCK_STREAM):
            try:
                return self._connect_to(socket.socket(family, kind, protocol), address)
            except ssl.SSLCertVerificationError:
                raise
            except OSError as error:
                failure = error
        raise failure

    def _connect_to(self, sock: socket.socket, address: Any) -> socket.socket:
        """As socket.create_connection, but `cancel` reaches a socket that is not connected yet."""
        try:
            self._hold(sock)
            sock.settimeout(self._idle_seconds)
            sock.connect(address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                plain = sock
                sock = self._tls.wrap_socket(plain, server_hostname=self._host, do_handshake_on_connect=False)
                self._hold(sock, instead_of=plain)
                sock.do_handshake()
            return sock
        except BaseException:
            with self._lock:
                self._open.discard(sock)
            sock.close()
            raise

    def _hold(self, sock: socket.socket, instead_of: Optional[socket.socket] = None) -> None:
        with self._lock:
            if instead_of is not None:
                self._open.discard(instead_of)
            self._open.add(sock)
        self.check()

    def _send_form(self, sock: socket.socket, form: _Form) -> bool:
        """False: an answer may have come before all was sent. A refusal comes early, and nobody reads the rest."""
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_READ | selectors.EVENT_WRITE)
            return all(self._send_piece(selector, sock, piece) for piece in form.pieces())

    def _send_piece(self, selector: selectors.BaseSelector, sock: socket.socket, piece: bytes) -> bool:
        left = memoryview(piece)
        with _lost():
            try:
                # What can be read there need not be an answer.
                if isinstance(sock, ssl.SSLSocket):
                    sock.sendall(left)
                    return True
                while left:
                    ready = selector.select(self._idle_seconds)
                    if not ready:
                        raise socket.timeout("nothing moved on the connection")
                    if ready[0][1] & selectors.EVENT_READ and not self._pass_interim(sock):
                        return False
                    if ready[0][1] & selectors.EVENT_WRITE:
                        left = left[sock.send(left) :]
            except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
                return False
        return True

    def _pass_interim(self, sock: socket.socket) -> bool:
        """Takes an answer of 1xx off the connection. False: what has come is another one, or the connection's end."""
        start = sock.recv(len(INTERIM), socket.MSG_PEEK)
        if not start or not INTERIM.startswith(start):
            return False
        if len(start) < len(INTERIM):
            self.wait(SPACE_SECONDS)
            return True
        head = bytearray()
        while not head.endswith((b"\r\n\r\n", b"\n\n")):
            # Byte by byte: what stands behind may be the answer.
            piece = sock.recv(1)
            if not piece or len(head) == INTERIM_BYTES_MAX:
                raise http.client.IncompleteRead(bytes(head))
            head += piece
        return True


class _Lines:
    """Lines of a stream, and the last one that was read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.last = b""

    def readline(self, bytes_max: int = -1) -> bytes:
        self.last = self._stream.readline(bytes_max)
        return self.last


class _Response(http.client.HTTPResponse):
    """The library takes a head that is cut for a whole one: what is missing would be headers; and of answers that come before
    the answer it knows 100 alone."""

    def begin(self) -> None:
        self._begin()
        while 100 <= self.status < 200 and self.status != http.HTTPStatus.SWITCHING_PROTOCOLS:
            # Without headers it has not begun.
            self.headers = self.msg = None  # type: ignore[assignment]
            self._begin()

    def _begin(self) -> None:
        stream = self.fp
        lines = _Lines(stream)
        self.fp = lines  # type: ignore[assignment]
        try:
            super().begin()
        finally:
            self.fp = stream
        if lines.last not in (b"\r\n", b"\n"):
            raise http.client.IncompleteRead(lines.last)


class _Connection(http.client.HTTPConnection):
    """On a socket that is connected. The library forgets it before the answer is read."""

    auto_open = 0
    response_class = _Response

    def __init__(self, host: str, port: int, held: socket.socket, is_secure: bool) -> None:
        self.default_port = 443 if is_secure else 80
        super().__init__(host, port)
        self.held = held
        self.sock = held


class _Answer:
    """The head of an answer, and its body as it comes: it is read to its end, or closed."""

    def __init__(
        self,
        connections: _Connections,
        connection: _Connection,
        response: http.client.HTTPResponse,
        is_sent: bool,
    ) -> None:
        self.status = response.status
        self._connections = connections
        self._connection: Optional[_Connection] = connection
        self._response = response
        self._is_sent = is_sent

    def header(self, name: str) -> Optional[str]:
        return self._response.getheader(name)

    @property
    def retry_after(self) -> Optional[int]:
        text = self.header("Retry-After") or ""
        return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None

    def pieces(self) -> Iterator[bytes]:
        length = None if self._response.chunked else self._response.length
        while length != 0:
            with _lost():
                piece = self._response.read1(PIECE_BYTES if length is None else min(PIECE_BYTES, length))
                # An end that comes too early looks like any other to the library.
                if not piece and length is not None:
                    raise http.client.IncompleteRead(b"", length)
            if not piece:
                break
            if length is not None:
                length -= len(piece)
            yield piece
        self._finish(self._is_sent and not self._response.will_close)

    def close(self) -> None:
        self._finish(False)

    def unexpected(self) -> TemplateRunError:
        """What it says instead is not told: it may be anything."""
        message = f"The answer with status {self.status} does not come from this API. Check the base URL, and the proxies between client and service."
        return TemplateRunError("UNEXPECTED_ANSWER", message, self.status, self.header("X-Request-Id"), self.retry_after)

    def _finish(self, is_kept: bool) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        self._response.close()
        if is_kept:
            self._connections.keep(connection)
        else:
            self._connections.drop(connection)


class _Form:
    """The form around a file. Each try opens it anew."""

    def __init__(self, source: Source, fields: Dict[str, Optional[str]], on_progress: Optional[Progress]) -> None:
        boundary = f"template-run-{uuid.uuid4()}"
        name = "upload"
        self._length: Optional[int] = None
        self._on_progress = on_progress or (lambda *_: None)
        if isinstance(source, (bytes, bytearray)):
            self._stream: BinaryIO = io.BytesIO(source)
            self._length = len(source)
        elif callable(source):
            self._stream = source()
        else:
            name = os.path.basename(os.fspath(source))
            self._stream = open(source, "rb", buffering=0, opener=_open_unblocked)
            known = os.fstat(self._stream.fileno())
            if not stat.S_ISREG(known.st_mode):
                self._stream.close()
                message = f"{name} is not a regular file, so it cannot be read again if the request is repeated."
                raise ValueError(message)
            self._length = known.st_size
        parts = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
            for field, value in fields.items()
            if value is not None
        )
        escaped = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
        self._head = (
            f'{parts}--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{escaped}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode("utf-8", "surrogateescape")
        self._tail = f"\r\n--{boundary}--\r\n".encode()
        self.headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        if self._length is None:
            self.headers["Transfer-Encoding"] = "chunked"
        else:
            self.headers["Content-Length"] = str(len(self._head) + self._length + len(self._tail))

    def __enter__(self) -> _Form:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def pieces(self) -> Iterator[bytes]:
        if self._length is not None:
            yield from self._plain_pieces()
            return
        for piece in self._plain_pieces():
            yield b"%x\r\n%b\r\n" % (len(piece), piece)
        yield b"0\r\n\r\n"

    def _plain_pieces(self) -> Iterator[bytes]:
        sent = 0
        self._on_progress("upload", sent, self._length)
        yield self._head
        while self._length is None or sent < self._length:
            piece = self._stream.read(PIECE_BYTES if self._length is None else min(PIECE_BYTES, self._length - sent))
            if not piece:
                break
            yield piece
            sent += len(piece)
            self._on_progress("upload", sent, self._length)
        if self._length is not None and sent != self._length:
            raise ValueError("The file became shorter while it was being sent.")
        yield self._tail


class _Part:
    """An output on its way into a file: it gets its name when it is whole, and nothing is left of it when it is given up."""

    def __init__(self, path: str) -> None:
        if not path:
            raise _refused(errno.ENOENT, path)
        known = _stat_of(path)
        if path.endswith(os.sep) or (known is not None and stat.S_ISDIR(known.st_mode)):
            raise _refused(errno.EISDIR, path)
        if known is not None and stat.S_ISSOCK(known.st_mode):
            raise _refused(errno.ENXIO, path)
        # A rename asks for the folder's permission alone; who has made a file read-only means it.
        if known is not None and not os.access(path, os.W_OK):
            raise _refused(errno.EACCES, path)
        self._is_file = known is None or stat.S_ISREG(known.st_mode)
        # Links stay. A pipe that is open in this process has a path of its own, which leads nowhere.
        self._path = os.path.realpath(path) if self._is_file else path
        self._mode = stat.S_IMODE(known.st_mode) & 0o777 if known is not None and self._is_file else None
        # Not the target's name and more: that may be longer than a name can be.
        folder = os.path.dirname(self._path) if self._is_file else tempfile.gettempdir()
        self._part_path = os.path.join(folder, f".{uuid.uuid4()}.part")
        mode = 0o600 if not self._is_file else 0o666 if self._mode is None else self._mode
        self._file = open(self._part_path, "xb", buffering=0, opener=lambda name, flags: os.open(name, flags, mode))
        self._hash = hashlib.sha256()
        self._furthest = 0
        self.bytes = 0
        # Of the file that the bytes are of; no total: none is known.
        self.total: Optional[int] = None
        self.etag = ""
        self._sha256 = ""

    def __enter__(self) -> _Part:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._part_path)

    def begin(self, answer: _Answer) -> int:
        """Returns the size of the whole file."""
        etag = answer.header("ETag")
        digest = re.search(r"(?:^|,) *sha-256=:([A-Za-z0-9+/=]+):", answer.header("Repr-Digest") or "")
        total = answer.header("Content-Length") if answer.status == 200 else self._range_total(answer)
        if answer.status not in (200, 206) or etag is None or digest is None or not (total or "").isdigit():
            raise answer.unexpected()
        if answer.status == 200:
            self.clear()
        self.etag, self._sha256, self.total = etag, digest.group(1), int(total or 0)
        return self.total

    def append(self, piece: bytes) -> bool:
        """True: so far it has never come."""
        left = memoryview(piece)
        while left:
            left = left[self._file.write(left) :]
        self._hash.update(piece)
        self.bytes += len(piece)
        is_further = self.bytes > self._furthest
        self._furthest = max(self._furthest, self.bytes)
        return is_further

    def clear(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._hash = hashlib.sha256()
        self.bytes, self.total = 0, None

    def is_sound(self) -> bool:
        return base64.b64encode(self._hash.digest()).decode() == self._sha256

    def keep(self, wait: Callable[[float], None]) -> None:
        """The file is there whole, also after a loss of power; or all of it is in the pipe. `wait` ends with Cancelled."""
        if not self._is_file:
            self._pour(wait)
            return
        if self._mode is not None:
            # The umask has taken from it.
            os.chmod(self._part_path, self._mode)
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._part_path, self._path)

    def _pour(self, wait: Callable[[float], None]) -> None:
        while True:
            try:
                target = os.open(self._path, os.O_WRONLY | UNBLOCKED)
                break
            except OSError as error:
                # Nobody reads the pipe yet.
                if error.errno != errno.ENXIO or not stat.S_ISFIFO(os.stat(self._path).st_mode):
                    raise
            wait(READER_SECONDS)
        try:
            with open(self._part_path, "rb") as part:
                for piece in iter(lambda: part.read(PIECE_BYTES), b""):
                    left = memoryview(piece)
                    while left:
                        wait(0)
                        try:
                            left = left[os.write(target, left) :]
                        except BlockingIOError:
                            wait(SPACE_SECONDS)
        finally:
            os.close(target)

    def _range_total(self, answer: _Answer) -> Optional[str]:
        """None: another range was sent than was asked for."""
        found = re.fullmatch(r"bytes ([0-9]+)-[0-9]+/([0-9]+)", answer.header("Content-Range") or "")
        return found.group(2) if found is not None and int(found.group(1)) == self.bytes else None


@contextlib.contextmanager
def _lost() -> Iterator[None]:
    """Whether the service has done what it was asked for is not known."""
    try:
        yield
    except ssl.SSLCertVerificationError:
        # It would not be trusted at the next try either.
        raise
    except (OSError, http.client.HTTPException) as error:
        raise TemplateRunError("CONNECTION_LOST", f"The connection was lost: {error or type(error).__name__}") from error


def _checked(answer: _Answer) -> Tuple[Any, _Answer]:
    """The JSON of an answer, and the answer. Raises what one other than 2xx says."""
    with contextlib.closing(answer):
        text = bytearray()
        for piece in answer.pieces():
            text += piece
            if len(text) > BODY_BYTES_MAX:
                raise answer.unexpected()
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise answer.unexpected() from None
    if not isinstance(body, dict):
        raise answer.unexpected()
    if 200 <= answer.status < 300:
        return body, answer
    code, message = body.get("error"), body.get("message")
    if not isinstance(code, str) or not isinstance(message, str):
        raise answer.unexpected()
    request_id = body.get("request_id") or answer.header("X-Request-Id")
    found = (answer.status, request_id, answer.retry_after, body.get("quota"), body.get("columns"))
    raise TemplateRunError(code, message, *found)


def _wrong_size(answer: _Answer, size: int) -> TemplateRunError:
    """The download ends: a service that sends more than it says could fill the disk."""
    message = f"The output does not have the {size} bytes that the service reports. The download was stopped."
    return TemplateRunError("UNEXPECTED_ANSWER", message, answer.status)


def _printable(text: str) -> str:
    """For a terminal: control characters, and marks of direction, of a service or a file's name become their escapes."""
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _run_of(checked: Tuple[Any, _Answer]) -> Tuple[Run, Optional[int]]:
    """The Run, and when to ask again."""
    run, answer = checked
    if not _is_run(run):
        raise answer.unexpected()
    return run, answer.retry_after


def _is_run(run: Any) -> bool:
    """Whether a body has the fields that its status requires, and values of the types that callers rely on."""
    if not isinstance(run.get("id"), str) or not _is_file(run.get("output")) or not _is_file(run.get("rejects")):
        return False
    if run.get("status") == "succeeded":
        return _is_count(run.get("rows_written"))
    if run.get("status") == "failed":
        return isinstance(run.get("error"), dict) and isinstance(run["error"].get("code"), str)
    return bool(run.get("status") == "running")


def _is_file(file: Any) -> bool:
    if file is None:
        return True
    return isinstance(file, dict) and isinstance(file.get("name", ""), str) and _is_count(file.get("size_bytes", 0))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_retried(error: TemplateRunError) -> bool:
    return error.code in RETRIED_CODES or error.status in RETRIED_STATUSES


def _delay_seconds(failures: int, retry_after: Optional[int]) -> float:
    """The service's wish is the floor, with the jitter on top of it: else all that it sent away would come back at once."""
    bound = min(DELAY_SECONDS_MAX, FIRST_DELAY_SECONDS * 2.0 ** (failures - 1))
    return (retry_after or 0) + random.random() * bound


def _is_readable(sock: socket.socket) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _open_unblocked(path: str, flags: int) -> int:
    """Waits for nobody who writes a pipe."""
    return os.open(path, flags | UNBLOCKED)


def _stat_of(path: str) -> Optional[os.stat_result]:
    """None: nothing is there. Anything else that the system says would be said of the output too."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _refused(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)


def _place_for(run: Run, target: Target) -> str:
    return target(run) if callable(target) else os.fspath(target)


def _quoted(segment: str) -> str:
    return urllib.parse.quote(segment, safe="")


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(description="Sends files to a Template Run Service.")
    commands = parser.add_subparsers(dest="command", required=True)
    send = commands.add_parser("send", help="send files and fetch their outputs")
    send.add_argument("template", metavar="TEMPLATE")
    send.add_argument("files", metavar="FILE", nargs="+")
    send.add_argument("-o", "--output", metavar="PATH", required=True, help="file, or folder when it is one or ends in /")
    send.add_argument("--delimiter", metavar="C")
    send.add_argument("--header-row", metavar="N", type=int)
    parallel = f"files on their way at a time ({PARALLEL}, or as many Runs as the plan allows in flight)"
    send.add_argument("--parallel", metavar="N", type=int, help=parallel)
    usage = commands.add_parser("usage", help="print what the account has used of its plan")
    for each in (send, usage):
        each.add_argument("--url", default=os.environ.get("TEMPLATE_RUN_URL"), help="or TEMPLATE_RUN_URL")
        each.add_argument("--key", metavar="FILE", help="file with the API key, or TEMPLATE_RUN_API_KEY")
        each.add_argument("--retries", metavar="N", type=int, default=RETRIES)
    options = parser.parse_args(arguments)
    try:
        key = os.environ.get("TEMPLATE_RUN_API_KEY", "")
        if options.key is not None:
            key = _key_in(options.key, parser)
        if not options.url or not key:
            parser.error("write --url and --key FILE, or set TEMPLATE_RUN_URL and TEMPLATE_RUN_API_KEY")
        with TemplateRunClient(options.url, key, retries=options.retries) as client:
            if options.command == "send":
                return _send_files(client, key, options, parser)
            print(json.dumps(client.usage(), indent=2))
            return 0
    except (TemplateRunError, OSError, ValueError) as error:
        print(_printable(f"{parser.prog}: {error}"), file=sys.stderr)
        return 1


def _key_in(path: str, parser: argparse.ArgumentParser) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, ValueError):
        # The system's message would hold it: on a terminal, in a log.
        if KEY_PREFIX not in path:
            raise
    parser.error(
        "--key takes the path of a file that contains the API key, not the key itself."
        " No file at this path can be read."
    )


def _send_files(
    client: TemplateRunClient, key: str, options: argparse.Namespace, parser: argparse.ArgumentParser
) -> int:
    targets = _Targets(options.output, options.files, parser.error)
    saying = threading.Lock()

    def say(line: str, stream: TextIO) -> None:
        # print writes the line and its end apart: another thread's line could stand between them.
        with saying:
            print(_printable(line), file=stream, flush=True)

    def send(sent: _SentFile) -> _Ending:
        file = sent.path
        parameters = {"delimiter": options.delimiter, "header_row": options.header_row, "idempotency_key": sent.key}
        try:
            rejects = targets.rejects(file)
            run, path = client.transform(options.template, file, targets.output(file), rejects, **parameters)
        except (TemplateRunError, OSError, ValueError) as error:
            lacks_slot = getattr(error, "code", None) == "CONCURRENCY_LIMIT_REACHED"
            line = f"{file}: {error}"
            return _Ending(False, lacks_slot, lambda: say(line, sys.stderr))
        rejected = ""
        if run.get("rejects") is not None:
            unfetched = (
                f", rejected rows not downloaded: they are written next to the output, and {path} is not a file"
            )
            rejected = unfetched if rejects is None else f", rejected rows in {rejects}"
        return _Ending(True, False, lambda: say(f"{file}: {run.get('rows_written')} rows in {path}{rejected}", sys.stdout))

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        files = [_SentFile(file, str(uuid.uuid4())) for file in options.files]
        return 0 if _send_side_by_side(files, _parallel(key, options), send, client.cancel) else 1
    except KeyboardInterrupt:
        return 130


def _parallel(key: str, options: argparse.Namespace) -> int:
    """More than the plan lets be in flight would be refused. A key may lack the scope to ask, and a service be an old one; what
    else goes wrong is waited for, and told, with each file."""
    if options.parallel is not None or len(options.files) == 1:
        return max(1, options.parallel or 1)
    try:
        with TemplateRunClient(options.url, key, retries=0) as asking:
            ceilings = asking.usage().get("ceilings") or {}
    except (TemplateRunError, OSError):
        return PARALLEL
    return max(1, min(PARALLEL, ceilings.get("runs_in_flight_max") or PARALLEL))


class _SentFile(NamedTuple):
    path: str
    # Its own also where it is sent once more.
    key: str


class _Ending(NamedTuple):
    """What became of a file."""

    is_sent: bool
    # It was refused because the account had as many Runs in flight as its plan allows.
    lacks_slot: bool
    tell: Callable[[], None]


def _send_side_by_side(
    files: List[_SentFile], parallel: int, send: Callable[[_SentFile], _Ending], cancel: Callable[[], None]
) -> bool:
    """False: a file failed. A refusal for want of a slot is none while Runs of these files may have held it: the file goes back
    to those who have one, and one less is sent at a time. Raises the first fault, once nothing is under way any more."""
    left = collections.deque(files)
    working = min(parallel, len(files))
    is_all_sent = True
    faults: List[BaseException] = []
    lock = threading.Lock()

    def next_file() -> Optional[_SentFile]:
        nonlocal working
        with lock:
            if left:
                return left.popleft()
            working -= 1
            return None

    def work() -> None:
        nonlocal working, is_all_sent
        file = next_file()
        while file is not None:
            had_company = working > 1
            ending = send(file)
            with lock:
                if ending.lacks_slot and working > 1:
                    # Somebody is there who takes it.
                    left.append(file)
                    working -= 1
                    return
            # The Runs that held the slots have ended meanwhile.
            if ending.lacks_slot and had_company:
                continue
            ending.tell()
            is_all_sent = is_all_sent and ending.is_sent
            file = next_file()

    def worker() -> None:
        try:
            work()
        except BaseException as fault:
            faults.append(fault)
            cancel()

    with concurrent.futures.ThreadPoolExecutor(working) as pool:
        try:
            concurrent.futures.wait([pool.submit(worker) for _ in range(working)])
        except KeyboardInterrupt:
            # Who asks a second time does not want to wait for the uploads to end.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            cancel()
            raise
    if faults:
        raise faults[0]
    return is_all_sent


class _Targets:
    """Where `send` puts outputs and rejected rows. Looked at before anything is sent: a Run is charged, whatever becomes of its
    output. Calls `refuse` where files would be written over each other or over one that is sent."""

    def __init__(self, path: str, files: List[str], refuse: Callable[[str], NoReturn]) -> None:
        self._path = path
        self._is_folder = len(files) > 1 or path.endswith("/") or os.path.isdir(path)
        self._has_rejects = self._is_folder or not os.path.exists(path) or os.path.isfile(path)
        self._refuse = refuse
        there = self._there_in_folder(files) if self._is_folder else [path]
        if self._has_rejects and not self._is_folder:
            there.append(os.path.splitext(path)[0] + REJECTS_ENDING)
        self._refuse_written_over(there, files)

    def output(self, file: str) -> Target:
        if not self._is_folder:
            return self._path
        return lambda run: os.path.join(self._path, _stem(file) + _ending(run))

    def rejects(self, file: str) -> Optional[str]:
        """None: the output is not a file, so rejected rows cannot be written next to it."""
        if not self._has_rejects:
            return None
        return (os.path.join(self._path, _stem(file)) if self._is_folder else os.path.splitext(self._path)[0]) + REJECTS_ENDING

    def _there_in_folder(self, files: List[str]) -> List[str]:
        """Existing entries of the folder whose names an output (with any extension) or rejected rows could get."""
        os.makedirs(self._path, exist_ok=True)
        folder = os.path.realpath(self._path)
        if any(os.path.realpath(os.path.dirname(file) or ".") == folder for file in files):
            self._refuse("choose a folder that contains only outputs")
        stems = {_stem(file) for file in files}
        # Which ending outputs have is not known before, and so not whether they would meet rejected rows.
        if len(stems) < len(files) or any(stem + REJECTS in stems for stem in stems):
            self._refuse("two files could be written under one name: give them other names")

        def is_target(name: str) -> bool:
            is_rejects = name.endswith(REJECTS_ENDING) and name[: -len(REJECTS_ENDING)] in stems
            return is_rejects or os.path.splitext(name)[0] in stems

        there = [os.path.join(self._path, name) for name in os.listdir(self._path) if is_target(name)]
        for path in there:
            if os.path.isdir(path) and os.path.splitext(path)[1]:
                self._refuse(f"{path} is a folder with the name of an output")
            if os.path.isfile(path) and not os.access(path, os.W_OK):
                raise _refused(errno.EACCES, path)
        return there

    def _refuse_written_over(self, targets: List[str], files: List[str]) -> None:
        sent = {_identity(file) for file in files} - {None}
        written = set()
        for path in targets:
            if _identity(path) in sent:
                self._refuse(f"{path} would take the place of a file that is sent")
            if not os.path.isfile(path):
                continue
            # Links may lead two names to one file.
            real = os.path.realpath(path)
            if real in written:
                self._refuse(f"{path} is the same file as another output")
            written.add(real)


def _stem(file: str) -> str:
    """The input's name without its endings."""
    return os.path.splitext(re.sub(r"\.gz$", "", os.path.basename(file), flags=re.IGNORECASE))[0]


def _ending(run: Run) -> str:
    """Of the name that the service gives: anything but letters and digits is not taken into a local name."""
    output: Dict[str, Any] = dict(run.get("output") or {})
    ending = os.path.splitext(str(output.get("name", "")))[1]
    return ending if re.fullmatch(r"\.[A-Za-z0-9]{1,16}", ending) else ""


def _identity(path: str) -> Optional[Tuple[int, int]]:
    """None for what is not there, and for what keeps nothing that could be written over."""
    try:
        known = os.stat(path)
    except OSError:
        return None
    keeps = stat.S_ISREG(known.st_mode) or stat.S_ISBLK(known.st_mode)
    return (known.st_dev, known.st_ino) if keeps else None


if __name__ == "__main__":
    sys.exit(main())
