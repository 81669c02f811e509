"""A strict API's model."""

from datetime import date, datetime
from decimal import Decimal

from pydantic import BaseModel


class Contract(BaseModel):
    effective_date: date
    total: Decimal
    signed_at: datetime
    auto_renew: bool
