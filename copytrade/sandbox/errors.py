"""The sandbox's failures: the catalogue of codes, and the exception that carries one.

Codes, meanings and HTTP statuses: open-points.md, "Errors". The two marked "ours" fill a gap there.
"""

from __future__ import annotations

# code -> (HTTP status, text sent when nothing better is known)
CATALOGUE: dict[int, tuple[int, str]] = {
    -1000: (500, "An unknown error occurred while processing the request."),
    -1003: (
        429,
        "Too many requests: the limit of this window is used up.",
    ),  # ours: only the status is documented
    -1040: (400, "The header ACCESS-KEY is missing."),
    -1041: (400, "The header ACCESS-SIGN is missing."),
    -1042: (400, "The header ACCESS-TIMESTAMP is missing."),
    -1043: (400, "The header ACCESS-TIMESTAMP is malformed: 13 digits, Unix milliseconds."),
    -1044: (401, "The API key is unknown."),
    -1045: (400, "The content type must be application/json."),
    -1046: (400, "The request timestamp has expired: it must be within 30 s of the server's time."),
    -1047: (401, "The signature does not match the request."),
    -1049: (401, "The API key or passphrase is wrong."),
    -1050: (403, "The user's state does not allow this action."),
    -1051: (403, "The permission for this operation is missing."),
    -1052: (403, "The API key lacks the permission for this action."),
    -1053: (403, "The permission for this pair is missing."),
    -1054: (500, "System error."),
    -1055: (403, "Two-factor authentication is not bound."),
    -1056: (403, "This IP address is not on the key's list."),
    -1057: (403, "The account is locked."),
    -1058: (403, "The permission for this API is missing."),
    -1115: (400, "timeInForce is not valid."),
    -1116: (400, "The order type is not valid."),
    -1117: (400, "The side is not valid."),
    -1121: (400, "The symbol is not valid."),
    -1128: (400, "A required parameter is missing."),
    -1135: (400, "The body is not valid JSON."),
    -1140: (400, "A parameter is out of bounds."),
    -1141: (400, "A parameter is not valid."),
    -1142: (400, "A parameter has the wrong type, form or value."),
    -1150: (405, "This method is not supported for this path."),
    -1160: (400, "A parameter is not valid."),
    -1170: (400, "The time range is too long or lies too far back."),
    -1171: (400, "The start time is after the end time."),
    -1180: (400, "A parameter is not valid."),
    -1190: (403, "Access is forbidden."),
    -2007: (404, "The symbol does not exist."),
    -2200: (404, "The order does not exist."),
    -3235: (403, "The permission for this copy-trading operation is missing."),
    -3236: (403, "Only copy-trade API keys may call this operation."),
    -3313: (400, "The leverage is above the maximum of 125."),  # ours: no maximum is documented
}


class Refusal(Exception):
    """A request that is answered with an error: `code` of the catalogue, its text, its HTTP status."""

    def __init__(self, code: int, message: str | None = None, *, http: int | None = None) -> None:
        status, text = CATALOGUE[code]
        super().__init__(message or text)
        self.code = code
        self.message = message or text
        self.http = http or status
