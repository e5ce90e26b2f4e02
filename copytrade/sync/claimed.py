"""What a claim hands out: the job, its account, and the account's sealed key, all as columns of one statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

from copytrade.models import Account, Credential, DataKey, SyncJob

_Of = TypeVar("_Of", bound=Model)
_PARTS: tuple[tuple[str, type[Model]], ...] = (
    ("job", SyncJob), ("account", Account), ("credential", Credential), ("data_key", DataKey),
)  # fmt: skip
COLUMNS = ", ".join(
    f"{alias}.{field.column}" for alias, model in _PARTS for field in model._meta.concrete_fields
)
TABLES = """copytrade_account AS account
     LEFT JOIN copytrade_credential AS credential ON credential.account_id = account.id
     LEFT JOIN copytrade_datakey AS data_key ON data_key.user_id = account.owner_id"""


def job_of(row: Sequence[Any]) -> SyncJob:
    """The job of a row of COLUMNS. Its account knows its key, and that there is none where none is stored."""
    found, start = [], 0
    for _, model in _PARTS:
        end = start + len(model._meta.concrete_fields)
        found.append(_made(model, row[start:end]))
        start = end
    job, account, credential, key = found
    job.account = account
    account.at_hand = credential, key
    return job


def _made(model: type[_Of], values: Sequence[Any]) -> _Of | None:
    """A row as the ORM would make it; None where a left join found nothing."""
    if values[0] is None:
        return None
    fields = model._meta.concrete_fields
    told = [
        field.from_db_value(value, None, connection) if hasattr(field, "from_db_value") else value
        for field, value in zip(fields, values, strict=True)
    ]
    return model.from_db(connection.alias, [field.attname for field in fields], told)
