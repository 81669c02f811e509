"""A model whose validator misbehaves on the strings that `poison` knows by name."""

import poison
from pydantic import BaseModel, field_validator


class Order(BaseModel):
    number: str
    note: str = ""

    @field_validator("number", mode="before")
    @classmethod
    def look(cls, value):
        if value in poison.POISONS:
            poison.POISONS[value]()
        return value
