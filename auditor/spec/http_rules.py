"""What must hold between the keys of an http consumer."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, urljoin, urlsplit

from auditor.spec.entry import Entry
from auditor.spec.http_kinds import SECRET, SECRET_NAME, wrong_with_url
from auditor.spec.mistakes import Mistakes

#: The body of a request where the spec does not say and the url has no {value}.
REQUEST = '{"value": "{value}"}'


def check_http(name: str, consumer: Entry, folder: Path, mistakes: Mistakes) -> None:
    """Note the mistakes of an http consumer, and fill in the body of its requests."""
    key = ("consumers", name)
    if not consumer.has("url"):
        hint = 'add url = "https://contracts.example/validate/{field}"'
        mistakes.add((*key, "url"), "is missing: an http consumer is a service", hint)
    if not consumer.has("value"):
        hint = 'value = "value" takes it from the answer, value = "status" takes the string itself where it is accepted'
        mistakes.add((*key, "value"), "is missing: where the value stands in an answer", hint)
    if not consumer.has("reads") or (not consumer.get("reads") and "reads" in consumer.values):
        hint = 'such as reads = ["total"], or reads.total = "the service\'s own name for it"'
        mistakes.add((*key, "reads"), "is missing: an http consumer names the fields that it reads", hint)
    if consumer.get("receives") == "python":
        hint = '"text" sends the content as a JSON string, "json" the JSON value as it came'
        mistakes.add((*key, "receives"), "makes no sense for an http consumer: it is sent JSON", hint)
    if not consumer.has("message") and (soft := [one for one in consumer.get("rejected", ()) if one < 300]):
        what = f"{soft[0]} rejects a value only where the answer says so"
        mistakes.add((*key, "rejected"), what, 'name the path of what it says, such as message = "error"')
    url = consumer.get("url")
    if url is not None:
        _check_request(key, url, consumer, mistakes)
        _check_parameters(key, url, mistakes)
        _check_version(key, url, consumer, mistakes)
    _check_authority(key, folder, consumer, mistakes)


def _check_request(key: tuple[str, str], url: str, consumer: Entry, mistakes: Mistakes) -> None:
    method, in_url = consumer.get("method", "POST"), "{value}" in url
    if consumer.has("request") and method == "GET":
        hint = 'put it in the url, such as "https://contracts.example/validate/{field}?value={value}"'
        mistakes.add((*key, "request"), "makes no sense for GET, which has no body", hint)
    elif consumer.has("request"):
        body = consumer.get("request", "{value}")
        if in_url == ("{value}" in body):
            what = "the value is sent twice" if in_url else "the value is not sent: there is no {value}"
            mistakes.add((*key, "request"), what, 'such as { field = "{field}", value = "{value}" }')
        if consumer.get("receives") == "json" and body.count("{value}") != body.count('"{value}"'):
            what = "a JSON value cannot stand in a longer text"
            mistakes.add((*key, "request"), what, 'write "{value}" alone, or receives = "text"')
    elif not in_url and method == "GET":
        hint = 'such as "https://contracts.example/validate/{field}?value={value}"'
        mistakes.add((*key, "url"), "the value is not sent: there is no {value}", hint)
    elif not in_url:
        consumer.values["request"] = REQUEST
    if in_url and consumer.get("receives") == "json":
        mistakes.add((*key, "receives"), "a JSON value cannot stand in a url", 'send it in `request`, or write "text"')


def _check_parameters(key: tuple[str, str], url: str, mistakes: Mistakes) -> None:
    for name, text in parse_qsl(urlsplit(url).query):
        if SECRET_NAME.search(name) and not SECRET.search(text) and "{value}" not in text:
            hint = f"put it in the environment and write {name}={{env:API_KEY}}"
            mistakes.add((*key, "url"), f"its parameter {name} is a secret and must not stand in the spec", hint)


def _check_version(key: tuple[str, str], url: str, consumer: Entry, mistakes: Mistakes) -> None:
    version = consumer.get("version")
    if version is None or "/" not in version:
        return
    whole = urljoin(url, version)
    if wrong_with_url(whole) or "{" in version or urlsplit(whole)[:2] != urlsplit(url)[:2]:
        hint = 'such as "/version"; the headers with their secrets are sent there too. A name without "/" is a header'
        mistakes.add((*key, "version"), "must be a url of the same host, or the name of a header", hint)


def _check_authority(key: tuple[str, str], folder: Path, consumer: Entry, mistakes: Mistakes) -> None:
    file, url = consumer.get("ca"), consumer.get("url")
    if file is None:
        return
    path = folder / Path(file).expanduser()
    if not path.is_file():
        hint = "the path is relative to the folder of the spec; the file has the authority's certificate in PEM form"
        mistakes.add((*key, "ca"), f"there is no file {path}", hint)
    if url is not None and urlsplit(url).scheme == "http":
        hint = "write https:// in `url`, or remove it"
        mistakes.add((*key, "ca"), "makes no sense for http://, which has no certificate", hint)
