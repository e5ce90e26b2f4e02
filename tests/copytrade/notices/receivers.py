"""A program that receives: a server on this machine, plain or with TLS, that keeps what it was sent."""

from __future__ import annotations

import datetime
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

NAME = "hooks.example.test"
PUBLIC = "93.184.215.14"


@dataclass
class Receiver:
    """`status` is what the next answers say; `received` holds (path, headers, body) of each request."""

    port: int = 0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    received: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"


@contextmanager
def receiver(certificate: Path | None = None) -> Iterator[Receiver]:
    """`certificate`: a file with key and certificate, for TLS."""
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            kept.received.append((self.path, dict(self.headers), body))
            self.send_response(kept.status)
            for name, value in kept.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    kept.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def certificate_for(name: str, folder: Path) -> tuple[Path, Path]:
    """(key and certificate, certificate alone), for a name, trusted by nobody."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), False)
        .sign(key, hashes.SHA256())
    )
    public = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "both.pem").write_bytes(private + public)
    (folder / "public.pem").write_bytes(public)
    return folder / "both.pem", folder / "public.pem"


def resolver(*answers: list[str]) -> Callable[[str, int], list[Any]]:
    """A resolver that gives the first list of addresses when first asked, then the second; the last for ever."""
    left = list(answers)
    asked: list[tuple[str, int]] = []

    def find(host: str, port: int) -> list[Any]:
        asked.append((host, port))
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(10 if ":" in one else 2, 1, 6, "", (one, port)) for one in found]

    find.asked = asked  # type: ignore[attr-defined]
    return find
