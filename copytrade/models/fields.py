"""Columns that keep the exchange's numbers exactly as they were sent."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from django.core.exceptions import ValidationError
from django.db import models


class NumericField(models.DecimalField):
    """PostgreSQL `numeric` without precision or scale: nothing is rounded, trailing zeros stay.

    Django's own DecimalField wants a scale, and would round what the exchange sends beyond it.
    """

    def __init__(self, *args, **kwargs):
        kwargs["max_digits"] = None
        kwargs["decimal_places"] = None
        super().__init__(*args, **kwargs)

    def deconstruct(self):
        name, path, args, kwargs = super().deconstruct()
        kwargs.pop("max_digits", None)
        kwargs.pop("decimal_places", None)
        return name, path, args, kwargs

    def check(self, **kwargs):
        return models.Field.check(self, **kwargs)

    @property
    def validators(self):
        return list(self._validators)

    def db_type(self, connection):
        return "numeric"

    def to_python(self, value):
        if value is None or isinstance(value, Decimal):
            return value
        if isinstance(value, float):
            raise ValidationError("A float cannot be money: pass a Decimal or its text.")
        try:
            return Decimal(value)
        except InvalidOperation as error:
            raise ValidationError(f"Not a decimal number: {value!r}") from error

    def get_db_prep_save(self, value, connection):
        if hasattr(value, "as_sql"):
            return value
        return self._finite(self.to_python(value))

    def get_prep_value(self, value):
        return self._finite(self.to_python(models.Field.get_prep_value(self, value)))

    def get_db_prep_value(self, value, connection, prepared=False):
        return value if prepared else self.get_prep_value(value)

    @staticmethod
    def _finite(value):
        if isinstance(value, Decimal) and not value.is_finite():
            raise ValidationError("NaN and Infinity are not money.")
        return value
