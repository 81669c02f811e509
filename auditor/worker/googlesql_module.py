"""GoogleSQL's reference implementation as compiled code: ``python googlesql_module.py FILE`` compiles it there.

The package brings WebAssembly, which takes a minute to compile; what came of it is loaded in a second.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def engine() -> "Any":
    """Give the engine that compiles and runs it, set up as the package's own client sets it up."""
    from wasmtime import Config, Engine

    config = Config()
    config.shared_memory = True
    return Engine(config)


def compile_to(file: str) -> None:
    """Compile the module and write it."""
    from wasmtime import Module
    from zetasql.wasi import get_wasm_path

    code = Module.from_file(engine(), str(get_wasm_path())).serialize()
    with open(file, "wb") as target:
        target.write(code)


if __name__ == "__main__":
    compile_to(sys.argv[1])
