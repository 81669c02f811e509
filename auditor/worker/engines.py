"""SQL engines other than DuckDB, one file each (``engine_<name>.py``):
opened in the worker, with columns of texts going in and out.

An engine is what `open_engine(config)` of its file gives, with

    name                            product and full version, as the engine says it
    settings: {str: str}            what is in force in its session, read back from the engine
    reader(field, target, kind)     what reads one field: an expression with ``{value}``, or a column's type where the
                                    statement loads values; `kind` is the field's type in the spec
    canary() -> {}                  the clock, zone and locale that the engine itself sees (see `main.py`)
    server                          the private server that was started for it, or None
    moved(done)                     set before a column is read: called with how many values are done, by an engine that
                                    takes long for some
    gone                            errors after which it answers nothing more

and a reader has `shown`, `kind` (the engine's name of its type), `tag` (see `engine_texts.py`) and `read(values)`,
which gives a `Column` (see `engine_common.py`).

Whatever the engine: values are bound as a column and never written into a statement; the consumer's own text runs
unchanged; a value is the engine's own text of it; one bad value costs no other; where an engine has a form that tries
and one that raises, the one that the consumer wrote decides.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def open_engine(config: "dict[str, Any]") -> "Any":
    """Open the engine that a consumer names."""
    package = __name__.rpartition(".")[0]
    module = __import__(package + ".engine_" + config["engine"], fromlist=["open_engine"])
    return module.open_engine(config)
