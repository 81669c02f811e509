"""Run a program without any network: ``python -I -S without_network.py -- program arguments...``.

The program replaces this process, in a network of its own that has no interface but a loopback that is down. No root
is needed: where the system asks for it, the process gets a user namespace in which it is who it was, so that files keep
their owners. Where neither is allowed the program runs all the same, and the reader's canary says so.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .become import become
    from .empty_network import leave_if_allowed
else:
    package = type(sys)("_auditor_launcher")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["_auditor_launcher"] = package
    from _auditor_launcher.become import become
    from _auditor_launcher.empty_network import leave_if_allowed


def main(arguments: list[str]) -> int:
    """Become the program; 127 where it is not found, 126 where it cannot be run, 2 for a wrong call."""
    if len(arguments) < 2 or arguments[0] != "--":
        sys.stderr.write("usage: without_network.py -- program arguments...\n")
        return 2
    leave_if_allowed()
    return become(arguments[1:], "without_network")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
