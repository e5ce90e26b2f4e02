"""https: an exchange whose certificate is not trusted is not talked to; one that is trusted keeps to the deadline."""

import datetime
import ipaddress
import socket
import ssl
import threading
import time

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from copytrade.exchange import Unreachable
from copytrade.exchange.connections import call, resolve
from copytrade.exchange.transport import Transport, TransportFailure

from .samples import LEAST, sample
from .scripted import HUNG, answer, client_of


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for 127.0.0.1 that nobody trusts by itself: (certificate with key, certificate)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "exchange.test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    public = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "both.pem").write_bytes(private + public)
    (folder / "public.pem").write_bytes(public)
    return folder / "both.pem", folder / "public.pem"


@pytest.fixture
def server(certificate):
    """serve(reply, pause) is the address of a TLS server that drips its reply, and what it received."""
    listeners = []

    def serve(reply, pause=0.0):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate[0])
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        received = []

        def run():
            while True:
                try:
                    with context.wrap_socket(listener.accept()[0], server_side=True) as connection:
                        received.append(connection.recv(65536))
                        for byte in reply:
                            connection.sendall(bytes([byte]))
                            time.sleep(pause)
                except ssl.SSLError:
                    continue
                except OSError:
                    return

        threading.Thread(target=run, daemon=True).start()
        return f"https://127.0.0.1:{listener.getsockname()[1]}", received

    yield serve
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.mark.parametrize("name", ["my_traders", "place_order"])
def test_an_untrusted_certificate_means_that_nothing_was_sent(server, name):
    url, received = server(answer(sample(name)))
    with pytest.raises(Unreachable, match="secure connection was refused"):
        getattr(client_of(url, deadline=0.5), name)(**LEAST[name])
    assert received == []


def trusting(certificate):
    transport = Transport()
    transport.session.verify = str(certificate[1])
    return transport


def test_a_trusted_certificate_is_talked_to(server, certificate):
    url, received = server(answer({"ok": True}))
    reply = trusting(certificate).send("GET", url, "/x?y=1", {}, b"", seconds=5)
    assert reply.body == b'{"ok": true}'
    assert received[0].startswith(b"GET /x?y=1 HTTP/1.1\r\n")


def test_the_deadline_holds_under_tls_too(server, certificate):
    url, _ = server(answer({"ok": True}), pause=0.1)
    began = time.monotonic()
    with pytest.raises(TransportFailure, match="no answer in time") as failure:
        trusting(certificate).send("GET", url, "/x", {}, b"", seconds=0.5)
    assert time.monotonic() - began < HUNG
    assert failure.value.sent


def test_a_handshake_that_hangs_ends_by_the_deadline_with_nothing_sent():
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        began = time.monotonic()
        with pytest.raises(Unreachable, match="no answer in time"):
            client_of(f"https://127.0.0.1:{deaf.getsockname()[1]}", deadline=0.3).place_order(
                **LEAST["place_order"]
            )
        assert time.monotonic() - began < HUNG


def test_names_are_resolved_within_the_deadline():
    call.deadline = time.monotonic() + 2
    assert {entry[4][0] for entry in resolve("localhost", 80)} <= {"127.0.0.1", "::1"}
    assert resolve("127.0.0.1", 80)[0][4] == ("127.0.0.1", 80)
    call.deadline = time.monotonic() - 1
    with pytest.raises(TimeoutError):
        resolve("localhost", 80)
