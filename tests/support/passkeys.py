"""A passkey as a browser would have registered it, in the shape that the sign-in package stores."""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

FLAG = AuthenticatorData.FLAG


def registered(name: str) -> dict[str, Any]:
    """`Authenticator.data` of a passkey of this name; its private key is thrown away."""
    identity = name.encode()
    public = ES256.from_cryptography_key(ec.generate_private_key(ec.SECP256R1()).public_key())
    credential = AttestedCredentialData.create(b"\0" * 16, identity, public)
    data = AuthenticatorData.create(b"\0" * 32, FLAG.UP | FLAG.AT, 0, credential)
    told = {
        "clientDataJSON": websafe_encode(
            CollectedClientData.create("webauthn.create", b"x", "http://localhost")
        ),
        "attestationObject": websafe_encode(AttestationObject.create("none", data, {})),
    }
    number = websafe_encode(identity)
    return {
        "name": name,
        "credential": {"id": number, "rawId": number, "type": "public-key", "response": told},
    }
