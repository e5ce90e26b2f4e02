"""Telling by each kind of channel. Whatever goes wrong becomes one sentence, without any part of an address."""

from __future__ import annotations

import time
from collections.abc import Sequence
from smtplib import SMTPAuthenticationError, SMTPException, SMTPRecipientsRefused

from django.conf import settings

from copytrade.models import Channel, Delivery
from copytrade.vault import VaultError

from . import channels, letters, posting, services, signing, words


class NotTold(Exception):
    """It did not arrive, or nobody said that it did. `sentence` holds no secret; `gone`: it never will again."""

    def __init__(self, sentence: str, *, gone: bool = False) -> None:
        super().__init__(sentence)
        self.sentence, self.gone = sentence, gone


def tell(channel: Channel, rows: Sequence[Delivery], again: bool = False) -> None:
    """Tell these: several alerts in one letter, otherwise one row. Raises NotTold."""
    try:
        if channel.kind == Channel.Kind.MAIL:
            _mail(channel, rows, again)
        elif channel.kind == Channel.Kind.APPRISE:
            title, text = words.short(rows[0], again=again)
            services.send(channels.address_of(channel), title, text)
        else:
            _post(channel, rows[0])
    except posting.NotPosted as error:
        raise NotTold(error.sentence, gone=error.gone) from None
    except (services.NotSent, services.BadService, posting.BadAddress, VaultError) as error:
        raise NotTold(str(error)) from None


def _post(channel: Channel, row: Delivery) -> None:
    body = words.payload(row)
    signed = signing.headers(channels.secret_of(channel), int(time.time()), body, str(row.key))
    posting.post(channels.address_of(channel), body, signed, inside=settings.WEBHOOK_INSIDE)


def _mail(channel: Channel, rows: Sequence[Delivery], again: bool) -> None:
    if not settings.EMAIL_HOST:
        raise NotTold("This desk has no mail server.")
    if not channel.owner.email:
        raise NotTold("You have no e-mail address here.")
    try:
        letters.letter(channel.owner, rows, again=again).send()
    except SMTPRecipientsRefused:
        raise NotTold("The mail server refused your address.") from None
    except SMTPAuthenticationError:
        raise NotTold("The mail server refused the desk's own sign-in. The operator must look.") from None
    except (SMTPException, OSError) as error:
        raise NotTold(f"The mail server did not take it ({type(error).__name__}).") from None
