"""The portal's API: strict types, so that what a client sends is what is stored."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints


def _split_money(text: str) -> tuple[Decimal, str]:
    amount, currency = text.split(" ")
    return Decimal(amount), currency


Money = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]{1,2})? [A-Z]{3}$"), AfterValidator(_split_money)]


class Contract(BaseModel):
    """A contract as the portal takes it."""

    model_config = ConfigDict(strict=True, extra="ignore")

    effective_date: date
    signed_at: datetime | None = None
    total: Money
    discount: Annotated[Decimal, Field(ge=0, le=100)] | None = None
    term_months: Annotated[int, Field(ge=1, le=600)]
    risk_score: Annotated[int, Field(ge=1, le=5)]
    auto_renew: bool
    billing_cycle: Literal["monthly", "quarterly", "annual"]
    po_number: Annotated[str, StringConstraints(pattern=r"^([0-9]{7,10}|PO-[0-9]{4}-[0-9]{5})$")]
