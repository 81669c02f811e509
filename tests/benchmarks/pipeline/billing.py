"""A billing job's parsers: dateutil for dates, Decimal for amounts."""

from decimal import Decimal

from dateutil import parser

_PAID = {"true": True, "yes": True, "false": False, "no": False}


def day(text):
    return parser.parse(text).date()


def amount(text):
    return Decimal(text)


def moment(text):
    return parser.parse(text)


def flag(text):
    return _PAID[text]
