"""The locales of the probes: two always, and two in the languages and scripts of the strings at hand.

The name of a month, the digits of a script or a space between thousands are read only where the process's locale has
them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

#: A comma for decimals; a dotless i; years of another calendar, where a library goes by the locale; the day first.
LOCALES = ("de_DE.UTF-8", "tr_TR.UTF-8", "th_TH.UTF-8", "en_GB.UTF-8")

#: Those that give way to a language of the strings: what tr_TR has of decimals, de_DE has too.
_GIVING_WAY = (2, 0)

#: Names of months that are not English, by the language's locale. One that several languages share is of each.
_MONTHS: Final[Mapping[str, str]] = {
    "de_DE": "januar februar märz mai juni juli oktober dezember",
    "fr_FR": "janvier janv février févr mars avril avr mai juin juillet juil août "
    "septembre octobre novembre décembre déc",
    "es_ES": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it_IT": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "nl_NL": "januari februari maart mrt mei juni juli augustus oktober",
    "pt_BR": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "pl_PL": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "sv_SE": "januari februari mars maj juni juli augusti oktober",
    "da_DK": "januar februar marts maj juni juli oktober",
    "nb_NO": "januar februar mars mai juni juli oktober desember",
    "fi_FI": "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta "
    "lokakuuta marraskuuta joulukuuta",
    "cs_CZ": "ledna února března dubna května června července srpna září října listopadu prosince",
    "hu_HU": "január február március április május június július augusztus szeptember október",
    "ro_RO": "ianuarie februarie martie aprilie mai iunie iulie septembrie octombrie noiembrie decembrie",
}

#: Characters of a script, or what only one country puts between thousands.
_SCRIPTS: Final = (
    ("th_TH", re.compile("[\u0e00-\u0e7f]")),
    ("fa_IR", re.compile("[\u06f0-\u06f9]")),
    ("ar_EG", re.compile("[\u0600-\u06ef]")),
    ("hi_IN", re.compile("[\u0900-\u097f]")),
    ("he_IL", re.compile("[\u0590-\u05ff]")),
    ("el_GR", re.compile("[\u0370-\u03ff]")),
    ("ru_RU", re.compile("[\u0400-\u04ff]")),
    ("ko_KR", re.compile("[\uac00-\ud7af]")),
    ("ja_JP", re.compile("[\u3040-\u30ff]|[0-9]年")),
    ("fr_FR", re.compile("[0-9][\u00a0\u202f][0-9]{3}(?![0-9])")),
    ("de_CH", re.compile("[0-9]['\u2019][0-9]{3}(?![0-9])")),
)

_BY_MONTH: Final = {
    month: tuple(name for name, months in _MONTHS.items() if month in months.split())
    for month in " ".join(_MONTHS.values()).split()
}

#: Which language is taken where several have a word.
_ORDER = list(dict.fromkeys((*_MONTHS, *(name for name, _ in _SCRIPTS))))

_WORD = re.compile(r"[^\W\d_]+")


def locales_for(strings: Iterable[str]) -> tuple[str, ...]:
    """Choose the locales: those that no string is in the language of give way to those of the other strings.

    >>> locales_for(["1 mars 2024", "14 juillet 2024"])
    ('de_DE.UTF-8', 'tr_TR.UTF-8', 'fr_FR.UTF-8', 'en_GB.UTF-8')
    """
    asked = Counter(languages for text in strings if (languages := frozenset(_asked_by(text))))
    found = list(LOCALES)
    kept = {name for name in found if any(_language(name) in languages for languages in asked)}
    for at in (at for at in _GIVING_WAY if found[at] not in kept):
        left = Counter[str]()
        for languages, count in asked.items():
            if languages.isdisjoint(map(_language, kept)):
                left.update(dict.fromkeys(sorted(languages, key=_ORDER.index), count))
        if left:
            found[at] = f"{left.most_common(1)[0][0]}.UTF-8"
            kept.add(found[at])
    return tuple(found)


def _language(locale: str) -> str:
    return locale.removesuffix(".UTF-8")


def _asked_by(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.lower()):
        yield from _BY_MONTH.get(word, ())
    if not text.isascii() or "'" in text:
        yield from (name for name, pattern in _SCRIPTS if pattern.search(text))
