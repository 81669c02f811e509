"""A strict API's model."""

from datetime import date
from decimal import Decimal

from pydantic import BaseModel


class Contract(BaseModel):
    effective_date: date
    total: Decimal
    net_weight: Decimal
    auto_renew: bool
