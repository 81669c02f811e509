"""Which comes first in a short date where a case comes from: CLDR's short date pattern of its locale or territory."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from babel import Locale, UnknownLocaleError
from babel.core import get_global

#: What comes first in a short date.
Order = Literal["day", "month"]

#: Georgia is missing: it is a state of the US and a country, and settles nothing.
_US_STATES = (
    "alabama", "alaska", "arizona", "arkansas", "california", "colorado", "connecticut", "delaware",
    "florida", "hawaii", "idaho", "illinois", "indiana", "iowa", "kansas", "kentucky", "louisiana", "maine",
    "maryland", "massachusetts", "michigan", "minnesota", "mississippi", "missouri", "montana", "nebraska",
    "nevada", "ohio", "oklahoma", "oregon", "pennsylvania", "tennessee", "texas", "utah", "vermont",
    "virginia", "washington", "wisconsin", "wyoming", "new hampshire", "new jersey", "new mexico", "new york",
    "north carolina", "north dakota", "rhode island", "south carolina", "south dakota", "west virginia",
    "district of columbia",
)  # fmt: skip

#: Regions whose law contracts name.
_REGIONS: dict[str, str] = {
    **dict.fromkeys(_US_STATES, "US"),
    **dict.fromkeys(("england", "wales", "england & wales", "scotland", "northern ireland"), "GB"),
    **dict.fromkeys(("ontario", "quebec", "british columbia", "alberta", "nova scotia", "manitoba"), "CA"),
    **dict.fromkeys(("new south wales", "victoria", "queensland", "western australia", "south australia"), "AU"),
}

#: Names of countries that CLDR writes otherwise.
_COUNTRIES: dict[str, str] = {
    **dict.fromkeys(("usa", "u.s.a.", "u.s.", "united states of america"), "US"),
    **dict.fromkeys(("uk", "u.k.", "great britain"), "GB"),
    **dict.fromkeys(("people's republic of china", "prc"), "CN"),
    "federal republic of germany": "DE",
    "hong kong": "HK",
    "korea": "KR",
    "turkey": "TR",
    "czech republic": "CZ",
}

#: Postal codes of US states; those that are also ISO codes of countries (DE, CA, IN) settle nothing.
_POSTAL_CODES = (
    "AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY",
    "LA", "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND",
    "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY", "DC",
)  # fmt: skip

_FORMS = re.compile(r"^(the |laws? of |state of |commonwealth of |republic of |kingdom of |province of )+")


def settled_order(place: str | None) -> Order | None:
    """Give the order that a ``locale|jurisdiction`` settles; None where it settles nothing, or contradicts itself.

    >>> settled_order("en-GB|"), settled_order("|New York"), settled_order("en|"), settled_order("en-US|England")
    ('day', 'month', None, None)
    """
    locale, _, jurisdiction = (place or "").partition("|")
    orders = {order for order in (order_of_locale(locale), order_of_jurisdiction(jurisdiction)) if order}
    return orders.pop() if len(orders) == 1 else None


@cache
def order_of_locale(locale: str) -> Order | None:
    """Give the order of a locale; English without a territory settles nothing."""
    name = re.split("[.@]", locale.strip().replace("-", "_"))[0]
    if name in ("C", "POSIX"):
        return None
    try:
        parsed = Locale.parse(name) if name else None
    except (UnknownLocaleError, ValueError):
        return None
    if parsed is None or (parsed.language == "en" and parsed.territory is None):
        return None
    return _order_of_pattern(parsed)


@cache
def order_of_jurisdiction(jurisdiction: str) -> Order | None:
    """Give the order of a jurisdiction; of several, one only if they all have it."""
    groups = [group for group in re.split(r"[;/]", jurisdiction) if group.strip()]
    orders = {_order_of_group(group) for group in groups}
    return orders.pop() if len(orders) == 1 else None


def _order_of_group(group: str) -> Order | None:
    """Read ``Ontario, Canada`` as its country; parts that are regions or countries of their own must agree."""
    whole = _country(group) or _REGIONS.get(_normal(group))
    last = group.rpartition(",")[2]
    if whole or _country(last):
        return _order_of_territory(whole or str(_country(last)))
    parts = re.split(r",| and ", group)
    codes = [_country(part) or _REGIONS.get(_normal(part)) for part in parts]
    orders = {_order_of_territory(code) if code else None for code in codes}
    return orders.pop() if len(orders) == 1 else None


def _country(name: str) -> str | None:
    """Give the ISO code of a country's English name, or of an ISO code of a country or region (US-NY)."""
    code, plain = name.strip().partition("-")[0], _normal(name)
    if re.fullmatch("[A-Z]{2}(-[A-Z0-9]{1,3})?", name.strip()):
        if name.strip() in _POSTAL_CODES:
            return None
        if code in Locale("en").territories:
            return code
    return None if plain == "georgia" else _COUNTRIES.get(plain) or _territories().get(plain)


def _normal(name: str) -> str:
    plain = re.sub(r"\s+", " ", name.strip().casefold().replace("’", "'")).replace(" and ", " & ")
    return plain if plain in _COUNTRIES else _FORMS.sub("", plain)


@cache
def _territories() -> dict[str, str]:
    names = Locale("en").territories
    return {name.casefold(): code for code, name in names.items() if re.fullmatch("[A-Z]{2}", code)}


@cache
def _order_of_territory(territory: str) -> Order | None:
    for name in (f"en_{territory}", _likely_locale(territory)):
        try:
            return _order_of_pattern(Locale.parse(name)) if name else None
        except (UnknownLocaleError, ValueError):
            continue
    return None


def _likely_locale(territory: str) -> str | None:
    likely = get_global("likely_subtags").get(f"und_{territory}")
    return str(likely) if likely else None


def _order_of_pattern(locale: Locale) -> Order | None:
    """Read the order off the short date pattern; where the year comes first, a day-month-year text is of no order."""
    pattern = re.sub(r"'[^']*'", "", str(locale.date_formats["short"].pattern))
    parts = [mark for mark in pattern.replace("L", "M") if mark in "dMy"]
    if not parts or parts[0] == "y":
        return None
    return "day" if parts[0] == "d" else "month"
