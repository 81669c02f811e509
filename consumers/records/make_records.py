"""Make the records of the reference pipeline: 240 contracts as a model extracts them, and what people say is right.

``python consumers/records/make_records.py`` writes completions.jsonl and references.csv beside this file. The same
bytes every time: one seed, no clock, no locale. Each field has a plan, which says how many contracts are written in
which way; the plans are dealt like cards, so a contract holds a mix, as real extractions do.
"""

import csv
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import NamedTuple, TextIO

SEED = 20240301
CASES = 240
TRUNCATED, REFUSED, MISSING = 3, 1, 2

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
PARTIES = ("Alder", "Birch", "Cedar", "Elm", "Hazel", "Juniper", "Larch", "Maple", "Rowan", "Willow")
TRADES = ("Freight", "Foods", "Glass", "Instruments", "Labs", "Paper", "Software", "Steel")
DAY_FIRST, MONTH_FIRST, NOWHERE = ("en_GB", "de_DE"), ("en_US",), ("",)
LOCALES = ("en_US", "en_US", "en_US", "en_GB", "en_GB", "de_DE", "")


class Pair(NamedTuple):
    """What the annotator wrote (None: nothing) and the JSON text that the model did (None: no such key)."""

    reference: str | None
    prediction: str | None
    locales: tuple[str, ...] = ()  # where a document with such a date comes from; empty: anywhere


#: How many contracts are written in one way, and a writer of one of them.
Plan = list[tuple[int, Callable[[Random], Pair]]]


@dataclass
class Contract:
    """One case: its references and the JSON texts of its payload."""

    case_id: str
    locale: str
    parties: str
    references: dict[str, str | None] = field(default_factory=dict)
    payload: dict[str, str | None] = field(default_factory=dict)
    is_plain: bool = False  # the effective date is as it should be: nothing is lost when the completion is blocked


# --- ways of writing ---------------------------------------------------------------------------------------------


def text(value: object) -> str:
    """JSON text of a string."""
    return json.dumps(str(value), ensure_ascii=False)


def iso(day: date) -> str:
    """2024-03-01"""
    return day.isoformat()


def slash_iso(day: date) -> str:
    """2024/03/01"""
    return day.isoformat().replace("-", "/")


def zulu(day: date) -> str:
    """2024-03-01T00:00:00Z"""
    return f"{day.isoformat()}T00:00:00Z"


def month_first(day: date) -> str:
    """March 1, 2024"""
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def day_first(day: date) -> str:
    """1 March 2024"""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def padded_day_first(day: date) -> str:
    """01 March 2024"""
    return f"{day.day:02} {MONTHS[day.month - 1]} {day.year}"


def british(day: date) -> str:
    """01/03/2024"""
    return f"{day.day:02}/{day.month:02}/{day.year}"


def american(day: date) -> str:
    """03/01/2024"""
    return f"{day.month:02}/{day.day:02}/{day.year}"


def month_only(day: date) -> str:
    """March 2024"""
    return f"{MONTHS[day.month - 1]} {day.year}"


def clause(day: date) -> str:
    """A clause: the 1st day of March, 2024"""
    suffix = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}.get(day.day, "th")
    return f"the {day.day}{suffix} day of {MONTHS[day.month - 1]}, {day.year}"


def any_day(random: Random) -> date:
    """A day from 2021 to 2025."""
    return date(2021, 1, 1) + timedelta(days=random.randrange(5 * 365))


def late_day(random: Random) -> date:
    """A day after the 12th: its number is no month."""
    return any_day(random).replace(day=random.randrange(13, 29))


def early_day(random: Random) -> date:
    """A day that is another day when day and month change places."""
    month = random.randrange(1, 13)
    day = random.choice([number for number in range(1, 13) if number != month])
    return date(random.randrange(2021, 2026), month, day)


def first_day(random: Random) -> date:
    """The first of a month, which contracts often call by the month alone."""
    return date(random.randrange(2021, 2026), random.randrange(1, 13), 1)


Writer = Callable[[date], str]
Day = Callable[[Random], date]


def dated(
    prediction: Writer, reference: Writer = iso, day: Day = any_day, locales: tuple[str, ...] = ()
) -> Callable[[Random], Pair]:
    """One day, as the model writes it and as the annotator does."""

    def write(random: Random) -> Pair:
        truth = day(random)
        return Pair(reference(truth), text(prediction(truth)), locales)

    return write


def misdated(prediction: Writer, *days_off: int) -> Callable[[Random], Pair]:
    """Another day than the right one: of the signature, of the invoice, of the year before."""

    def write(random: Random) -> Pair:
        truth = any_day(random)
        return Pair(iso(truth), text(prediction(truth + timedelta(days=random.choice(days_off)))))

    return write


def said(prediction: str, reference: Writer = iso, day: Day = any_day) -> Callable[[Random], Pair]:
    """The same words whatever the day is."""
    return lambda random: Pair(reference(day(random)), text(prediction))


def exactly(prediction: str | None, reference: str | None) -> Callable[[Random], Pair]:
    """This very pair."""
    return lambda random: Pair(reference, prediction)


def some(*pairs: tuple[str, str]) -> Callable[[Random], Pair]:
    """One of these pairs."""
    return lambda random: Pair(*random.choice(pairs))


# --- plans ----------------------------------------------------------------------------------------------------------


EFFECTIVE_DATE: Plan = [
    (139, dated(iso)),  # the blocked cases are among these
    (6, dated(iso, month_first)),
    (4, dated(iso, day_first)),
    (1, exactly(text("2024-03-01"), "March 1, 2024")),
    (4, dated(zulu)),
    (1, exactly(text("2024-03-01T00:00:00Z"), "2024-03-01")),
    (1, dated(slash_iso)),
    (6, misdated(iso, -1, 1, -14, 365)),
    (21, dated(month_first)),
    (6, dated(month_first, month_first)),
    (2, dated(month_first, day_first)),
    (1, exactly(text("March 1, 2024"), "1 March 2024")),
    (11, dated(day_first)),
    (3, dated(day_first, day_first)),
    (6, dated(padded_day_first)),
    (1, exactly(text("01 March 2024"), "2024-03-01")),
    (5, dated(british, iso, late_day, DAY_FIRST)),
    (4, dated(american, iso, late_day, MONTH_FIRST)),
    (5, dated(british, iso, early_day, DAY_FIRST)),
    (2, dated(british, british, early_day, ("en_GB",))),
    (1, dated(british, british, early_day, NOWHERE)),
    (1, dated(day_first, british, early_day, NOWHERE)),
    (4, dated(month_only, iso, first_day)),
    (1, exactly(text("March 2"), "March 1")),
    (1, dated(clause)),
    (3, said("N/A")),
]


def moment(form: str, *, right: bool = True) -> Callable[[date, Random], Pair]:
    """A signature in the afternoon of a day."""

    def write(day: date, random: Random) -> Pair:
        truth = datetime.combine(day, time(random.randrange(9, 18), random.choice((0, 15, 30, 45))))
        stated = truth if right else truth + timedelta(hours=random.choice((-24, 1, 12)))
        hour = stated.hour % 12 or 12
        half = "AM" if stated.hour < 12 else "PM"
        shown = form.format(
            iso=stated.isoformat(), space=f"{stated:%Y-%m-%d %H:%M}", day=stated.date().isoformat(),
            clock=f"{stated:%H:%M}", noon=f"{hour}:{stated.minute:02} {half}",
            british=day_first(stated.date()), american=month_first(stated.date()),
        )  # fmt: skip
        return Pair(truth.isoformat(), text(shown))

    return write


SIGNED_AT: list[tuple[int, Callable[[date, Random], Pair]]] = [
    (124, moment("{iso}")),
    (20, moment("{space}")),
    (18, moment("{iso}Z")),
    (9, moment("{iso}+01:00")),
    (14, moment("{british}, {clock}")),
    (13, moment("{american} {noon}")),
    (9, moment("{day}")),
    (8, moment("{iso}", right=False)),
    (3, moment("not signed")),
    (5, lambda day, random: moment("")(day, random)._replace(prediction=None)),
    (17, lambda day, random: Pair(None, "null")),
]


def cents(random: Random) -> Decimal:
    """An amount between 1,000 and 250,000, often a round one."""
    if random.random() < 0.3:
        return Decimal(random.randrange(2, 500) * 500)
    return Decimal(random.randrange(100_000, 25_000_000)) / 100


def priced(form: str, reference: str = "{plain} {code}", codes: str = "EUR USD GBP") -> Callable[[Random], Pair]:
    """An amount, as the model writes it and as the annotator does."""

    def write(random: Random) -> Pair:
        amount = cents(random)
        code = random.choice(codes.split())
        sign = {"EUR": "€", "USD": "$", "GBP": "£"}[code]
        english = f"{amount:,.2f}"
        words = {
            "plain": f"{amount:.2f}",
            "english": english,
            "german": english.translate(str.maketrans(",.", ".,")),
            "whole": f"{int(amount):,}",
            "german_whole": f"{int(amount):,}".replace(",", "."),
            "short": f"{amount.normalize():f}",
            "off": f"{amount + random.choice((-100, 10, 1000)):.2f}",
            "code": code,
            "sign": sign,
        }
        prediction = form.format(**words)
        return Pair(reference.format(**words), prediction if form == "{short}" else text(prediction))

    return write


TOTAL: Plan = [
    (64, priced("{plain} {code}")),
    (58, priced("{english} {code}")),
    (20, priced("{code} {english}")),
    (9, priced("{code} {english}", "{code} {english}")),
    (26, priced("{sign}{english}")),
    (10, priced("€{german}", codes="EUR")),
    (5, priced("{german} {code}", codes="EUR")),
    (4, priced("{german_whole} {code}", "{whole} {code}", codes="EUR")),
    (12, priced("{code} {whole}", "{whole}.00 {code}")),
    (14, priced("{short}", codes="EUR EUR EUR USD")),
    (8, priced("{off} {code}")),
    (4, priced("{plain} USD", codes="EUR GBP")),
    (3, priced("N/A")),
    (1, exactly(text("1,234.50 EUR"), "1234.50 EUR")),
    (1, exactly("1234.5", "1234.50 EUR")),
    (1, exactly(text("USD 1,000"), "1000.00 USD")),
]


def percent(form: str, *, quoted: bool = True) -> Callable[[Random], Pair]:
    """A discount in per cent."""

    def write(random: Random) -> Pair:
        rate = random.choice(("1.5", "2", "2.5", "3", "5", "7.5", "10", "12.5", "15"))
        whole, _, rest = rate.partition(".")
        prediction = form.format(
            rate=rate, comma=f"{whole},{rest or '0'}", fraction=f"{Decimal(rate) / 100:f}", off=Decimal(rate) + 1
        )
        return Pair(rate, text(prediction) if quoted else prediction)

    return write


DISCOUNT: Plan = [
    (54, percent("{rate}", quoted=False)),
    (34, percent("{rate}")),
    (40, percent("{rate}%")),
    (16, percent("{rate} %")),
    (10, percent("{comma} %")),
    (5, percent("{fraction}", quoted=False)),
    (7, percent("{off}%")),
    (3, percent("N/A")),
    (6, percent("null", quoted=False)),
    (57, exactly("null", None)),
    (5, exactly(text("0%"), None)),
    (3, exactly(None, None)),
]


def weighed(form: str, reference: str = "{kilograms} kg", *, quoted: bool = True) -> Callable[[Random], Pair]:
    """A shipment between half a kilogram and nine hundred."""

    def write(random: Random) -> Pair:
        grams = random.randrange(5, 9000) * 100
        kilograms = f"{(Decimal(grams) / 1000).normalize():f}"
        words = {
            "grams": grams,
            "commas": f"{grams:,}",
            "kilograms": kilograms,
            "comma": kilograms.replace(".", ",") if "." in kilograms else f"{kilograms},0",
            "pounds": f"{Decimal(grams) / Decimal('453.59237'):.4f}",
            "off": grams + random.choice((-500, 250, 9000)),
        }
        prediction = form.format(**words)
        return Pair(reference.format(**words), text(prediction) if quoted else prediction)

    return write


NET_WEIGHT: Plan = [
    (62, weighed("{kilograms} kg")),
    (12, weighed("{kilograms} kg", "{grams} g")),
    (44, weighed("{grams} g")),
    (26, weighed("{commas} g")),
    (12, weighed("{pounds} lb")),
    (7, weighed("{comma} kg")),
    (6, weighed("{kilograms} KG")),
    (7, weighed("{grams}", quoted=False)),
    (5, weighed("{off} g")),
    (2, weighed("N/A")),
    (3, weighed("null", quoted=False)),
    # Around half a gram: the first two are the same weight once rounded, the others are half a gram apart or less.
    (2, some(("12500 g", text("12.4995 kg")), ("8200 g", text("8200.4 g")))),
    (1, exactly(text("12499.4 g"), "12499.6 g")),
    (1, exactly(text("3.2505 kg"), "3250.1 g")),
    (1, exactly(text("1,250 g"), "1.25 kg")),
    (1, exactly(text("12.5005 kg"), "12501 g")),
    (48, exactly(None, None)),
]


def counted(form: str, *, quoted: bool = True) -> Callable[[Random], Pair]:
    """A term in months."""

    def write(random: Random) -> Pair:
        years = random.choice((1, 1, 2, 2, 3, 3, 4, 5))
        words = ("twelve", "twenty-four", "thirty-six", "forty-eight", "sixty")[years - 1]
        prediction = form.format(
            months=years * 12, years=years, words=words, off=years * 12 + random.choice((-6, 6)), s="s" * (years > 1)
        )
        return Pair(str(years * 12), text(prediction) if quoted else prediction)

    return write


TERM_MONTHS: Plan = [
    (118, counted("{months}", quoted=False)),
    (38, counted("{months}")),
    (16, counted("{months}.0", quoted=False)),
    (30, counted("{months} months")),
    (10, counted("{years} year{s}")),
    (8, counted("{words} ({months}) months")),
    (5, counted("{years}", quoted=False)),
    (8, counted("{off}", quoted=False)),
    (3, counted("N/A")),
    (4, counted("null", quoted=False)),
]


def scored(form: str, *, quoted: bool = False, only: str = "12345") -> Callable[[Random], Pair]:
    """A risk score from 1 to 5."""

    def write(random: Random) -> Pair:
        score = random.choice(only)
        names = ("very low", "low", "medium", "high", "very high")
        prediction = form.format(score=score, name=names[int(score) - 1], off=int(score) % 5 + 1)
        return Pair(score, text(prediction) if quoted else prediction)

    return write


RISK_SCORE: Plan = [
    (120, scored("{score}")),
    (34, scored("{score}", quoted=True)),
    (18, scored("{score}.0")),
    (14, scored("{score}/5", quoted=True)),
    (5, scored("true", only="1")),
    (2, scored("true", only="4")),
    (12, scored("{name}", quoted=True)),
    (3, scored("7", only="5")),
    (26, scored("{off}")),
    (3, scored("N/A", quoted=True)),
    (3, scored("null")),
]


def answered(yes: str, no: str, *, quoted: bool = True, wrong: bool = False) -> Callable[[Random], Pair]:
    """Whether the contract renews itself."""

    def write(random: Random) -> Pair:
        renews = random.random() < 0.45
        reference = random.choice(("true", "true", "yes") if renews else ("false", "false", "no"))
        prediction = yes if renews is not wrong else no
        return Pair(reference, text(prediction) if quoted else prediction)

    return write


AUTO_RENEW: Plan = [
    (104, answered("true", "false", quoted=False)),
    (34, answered("true", "false")),
    (28, answered("yes", "no")),
    (14, answered("Yes", "No")),
    (24, answered("[x]", "[ ]")),
    (14, answered("Annual", "None")),
    (12, answered("true", "false", quoted=False, wrong=True)),
    (4, answered("N/A", "N/A")),
    (3, answered("1", "0", quoted=False)),
    (3, answered("null", "null", quoted=False)),
]


def cycled(*writers: str, of: str = "monthly quarterly annual") -> Callable[[Random], Pair]:
    """How often is invoiced."""

    def write(random: Random) -> Pair:
        truth = random.choice(of.split())
        return Pair(truth, text(random.choice(writers).format(same=truth, capital=truth.capitalize())))

    return write


BILLING_CYCLE: Plan = [
    (158, cycled("{same}")),
    (32, cycled("{capital}")),
    (22, cycled("Annually", "yearly", "per annum", of="annual")),
    (8, cycled("every 3 months", of="quarterly")),
    (6, cycled("per month", of="monthly")),
    (8, cycled("monthly", of="quarterly annual")),
    (3, cycled("N/A")),
    (3, cycled("upon delivery")),
]


def ordered(form: str, kind: str = "zeros dashed long", *, quoted: bool = True) -> Callable[[Random], Pair]:
    """A purchase order: zero-padded, with a year, or of ten digits."""

    def write(random: Random) -> Pair:
        serial = random.randrange(10_000, 99_999)
        number = {
            "zeros": f"00{serial}",
            "dashed": f"PO-{random.randrange(2021, 2026)}-{serial}",
            "long": f"45000{serial}",
        }[random.choice(kind.split())]
        prediction = form.format(
            same=number, bare=number.lstrip("0"), low=number.lower(), loose=number.replace("PO-", "PO "), off=serial + 1
        )
        return Pair(number, text(prediction) if quoted else prediction)

    return write


PO_NUMBER: Plan = [
    (176, ordered("{same}")),
    (17, ordered("{bare}", "zeros", quoted=False)),
    (1, exactly("12345", "0012345")),
    (5, ordered("{bare}", "zeros")),
    (14, ordered("{same}", "long", quoted=False)),
    (8, ordered("#{same}")),
    (5, ordered("{low}", "dashed")),
    (4, ordered("{loose}", "dashed")),
    (6, ordered("00{off}", "zeros")),
    (3, ordered("N/A")),
    (1, exactly(text("0012345"), "0012345")),
]


# --- dealing and writing ----------------------------------------------------------------------------------------------


def deal(plan: list[tuple[int, Callable[..., Pair]]], random: Random) -> list[Callable[..., Pair]]:
    """Give each contract its way of writing."""
    ways = [way for count, way in plan for _ in range(count)]
    if len(ways) != CASES:
        raise AssertionError(f"a plan is for {len(ways)} contracts instead of {CASES}")
    random.shuffle(ways)
    return ways


def make_contracts(random: Random) -> list[Contract]:
    """Make all contracts, field by field."""
    contracts = [
        Contract(f"C-{number:04}", random.choice(LOCALES), f"{random.choice(PARTIES)} {random.choice(TRADES)}")
        for number in range(1, CASES + 1)
    ]
    plain = EFFECTIVE_DATE[0][1]
    for contract, way in zip(contracts, deal(EFFECTIVE_DATE, random), strict=True):
        pair = way(random)
        put(contract, "effective_date", pair)
        contract.is_plain = way is plain
        contract.locale = random.choice(pair.locales) if pair.locales else contract.locale
    for contract, way in zip(contracts, deal(SIGNED_AT, random), strict=True):
        put(contract, "signed_at", way(signing_day(contract, random), random))
    plans = {
        "total": TOTAL,
        "discount": DISCOUNT,
        "net_weight": NET_WEIGHT,
        "term_months": TERM_MONTHS,
        "risk_score": RISK_SCORE,
        "auto_renew": AUTO_RENEW,
        "billing_cycle": BILLING_CYCLE,
        "po_number": PO_NUMBER,
    }
    for name, plan in plans.items():
        for contract, way in zip(contracts, deal(plan, random), strict=True):
            put(contract, name, way(random))
    return contracts


def signing_day(contract: Contract, random: Random) -> date:
    """A day in the three weeks before the contract takes effect."""
    effective = contract.references["effective_date"] or ""
    try:
        day = date.fromisoformat(effective)
    except ValueError:
        day = any_day(random)
    return day - timedelta(days=random.randrange(21))


def put(contract: Contract, name: str, pair: Pair) -> None:
    """Write one field of a contract."""
    contract.references[name], contract.payload[name] = pair.reference, pair.prediction


def payload_of(contract: Contract) -> str:
    """The JSON object that the model replies with; the weight is nested, and a missing key is left out."""
    members = {"parties": text(contract.parties)}
    members |= {name: token for name, token in contract.payload.items() if token is not None}
    weight = members.pop("net_weight", None)
    if weight is not None:
        members["shipment"] = f'{{"net_weight": {weight}}}'
    return "{" + ", ".join(f'"{name}": {token}' for name, token in members.items()) + "}"


def completions_of(contracts: list[Contract], random: Random) -> list[dict[str, str]]:
    """The model's replies: a few were cut off, refused or never came."""
    blocked = random.sample([contract.case_id for contract in contracts if contract.is_plain], 6)
    truncated, refused, missing = blocked[:TRUNCATED], blocked[TRUNCATED : TRUNCATED + REFUSED], blocked[-MISSING:]
    rows = []
    for contract in contracts:
        completion, finish = payload_of(contract), "stop"
        if contract.case_id in truncated:
            completion, finish = completion[: len(completion) * 2 // 3], "length"
        elif contract.case_id in refused:
            completion, finish = "", "content_filter"
        if contract.case_id not in missing:
            rows.append({"case_id": contract.case_id, "completion": completion, "finish_reason": finish})
    return rows


def write_references(contracts: list[Contract], file: TextIO) -> None:
    """A row per contract; an empty cell is a field that the contract does not have."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["case_id", "locale", *contracts[0].references])
    for contract in contracts:
        writer.writerow([contract.case_id, contract.locale, *contract.references.values()])


def main(folder: Path) -> None:
    """Write both files into a folder."""
    random = Random(SEED)
    contracts = make_contracts(random)
    rows = completions_of(contracts, random)
    with (folder / "completions.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    with (folder / "references.csv").open("w", encoding="utf-8", newline="") as file:
        write_references(contracts, file)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
