"""Prints what the Pydantic of this interpreter makes of seven values as an integer: the lines of pairs/integers.txt.

Tab-separated: the value as JSON, the major version, the mode, how the value arrives, and what comes of it: a value as
`type:text`, or `rejected` with Pydantic's own code of the error.
"""

import json

import pydantic

VALUES = ("3", "0", "true", "3.0", '"3"', "3.7", "null")
MAJOR = int(pydantic.VERSION.partition(".")[0])


class Lax(pydantic.BaseModel):
    count: int


class Strict(pydantic.BaseModel):
    count: pydantic.StrictInt


def read(model, arrival, raw):
    """Give what a model makes of a value within a payload."""
    payload = '{"count": %s}' % raw
    if MAJOR == 1:
        parse = model.parse_raw if arrival == "json" else lambda text: model.parse_obj(json.loads(text))
    else:
        parse = model.model_validate_json if arrival == "json" else lambda text: model.model_validate(json.loads(text))
    try:
        value = parse(payload).count
    except pydantic.ValidationError as error:
        return "rejected " + error.errors()[0]["type"]
    return "%s:%s" % (type(value).__name__, value)


if __name__ == "__main__":
    for raw in VALUES:
        for mode, model in (("lax", Lax), ("strict", Strict)):
            for arrival in ("json", "python"):
                print("\t".join((raw, "pydantic %d" % MAJOR, mode, arrival, read(model, arrival, raw))))
