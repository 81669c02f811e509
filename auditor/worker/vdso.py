"""The page of code that the kernel maps into every process to answer for the time, led to constants.

For `at_clock.py`, whose tracer holds the process in its exec stop.
"""

from __future__ import annotations

import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PTRACE_POKEDATA = 5
AT_SYSINFO_EHDR = 33
ELF_X86_64 = 62
PT_LOAD, PT_DYNAMIC = 1, 2
DT_HASH, DT_STRTAB, DT_SYMTAB, DT_GNU_HASH = 4, 5, 6, 0x6FFFFEF5
PAGE = 4096
CODE_ROOM = 256

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long


class NotPatched(Exception):
    """The new image has no vDSO of a kind that is known here."""


def ptrace(request: int, pid: int, address: int = 0, data: int = 0) -> None:
    """Call ptrace; OSError where it fails."""
    if LIBC.ptrace(request, pid, address, data) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def clock_gettime_code(seconds: int, nanoseconds: int, at: int, original: int) -> bytes:
    """Answer realtime, realtime coarse, realtime alarm and TAI; every other clock goes on to the original function."""
    answer = b"\x48\xb8" + struct.pack("<q", seconds) + b"\x48\x89\x06"  # mov rax, seconds; mov [rsi], rax
    answer += b"\x48\xb8" + struct.pack("<q", nanoseconds) + b"\x48\x89\x46\x08"  # mov rax, ns; mov [rsi+8], rax
    answer += b"\x31\xc0\xc3"  # xor eax, eax; ret
    checks = b"\xf3\x0f\x1e\xfa"  # endbr64
    for left, clock in ((3, 0), (2, 5), (1, 8), (0, 11)):
        checks += b"\x83\xff" + bytes([clock, 0x74, 5 * left + 5])  # cmp edi, clock; je answer
    jump = at + len(checks) + 5
    return checks + b"\xe9" + struct.pack("<i", original - jump) + answer  # jmp original


def gettimeofday_code(seconds: int, microseconds: int) -> bytes:
    """Fill the timeval and a zeroed timezone where they are asked for."""
    fill = b"\x48\xb8" + struct.pack("<q", seconds) + b"\x48\x89\x07"  # mov rax, seconds; mov [rdi], rax
    fill += b"\x48\xb8" + struct.pack("<q", microseconds) + b"\x48\x89\x47\x08"  # mov rax, us; mov [rdi+8], rax
    code = b"\xf3\x0f\x1e\xfa\x48\x85\xff\x74" + bytes([len(fill)]) + fill  # endbr64; test rdi, rdi; jz past it
    code += b"\x48\x85\xf6\x74\x07\x48\xc7\x06\x00\x00\x00\x00"  # test rsi, rsi; jz past it; mov qword [rsi], 0
    return code + b"\x31\xc0\xc3"


def time_code(seconds: int) -> bytes:
    """Return the seconds and store them where that is asked for."""
    code = b"\xf3\x0f\x1e\xfa\x48\xb8" + struct.pack("<q", seconds)  # endbr64; mov rax, seconds
    return code + b"\x48\x85\xff\x74\x03\x48\x89\x07\xc3"  # test rdi, rdi; jz past it; mov [rdi], rax; ret


class Vdso:
    """The vDSO of a process in its exec stop: its symbols, and room for code past the end of what is loaded."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.base = self._address()
        self.image = self._read(self.base, PAGE)
        if self.image[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", self.image, 18)[0] != ELF_X86_64:
            raise NotPatched("another processor")
        loaded, dynamic = self._segments()
        self.end = loaded
        size = -(-loaded // PAGE) * PAGE
        self.room = size - loaded
        self.image = self._read(self.base, size)
        self.symbols = self._symbols(dynamic)

    def _address(self) -> int:
        with open("/proc/%d/auxv" % self.pid, "rb") as auxv:
            for key, value in struct.iter_unpack("<QQ", auxv.read()):
                if key == AT_SYSINFO_EHDR:
                    return int(value)
        raise NotPatched("no vDSO")

    def _read(self, address: int, size: int) -> bytes:
        with open("/proc/%d/mem" % self.pid, "rb", 0) as memory:
            memory.seek(address)
            return memory.read(size)

    def _segments(self) -> tuple[int, int]:
        """Give the end of the loaded part and the offset of the dynamic section; addresses are offsets in a vDSO."""
        offset, count = struct.unpack_from("<Q", self.image, 32)[0], struct.unpack_from("<H", self.image, 56)[0]
        loaded = dynamic = None
        for index in range(count):
            kind, _, start, address, _, _, size, _ = struct.unpack_from("<IIQQQQQQ", self.image, offset + 56 * index)
            if kind == PT_LOAD and loaded is None:
                if start or address:
                    raise NotPatched("a vDSO that is not loaded at its base")
                loaded = size
            elif kind == PT_DYNAMIC:
                dynamic = address
        if loaded is None or dynamic is None:
            raise NotPatched("a vDSO without symbols")
        return loaded, dynamic

    def _symbols(self, dynamic: int) -> dict[bytes, list[tuple[int, int, int]]]:
        """Map each function to [(offset of its symbol's value, value, size)]: weak and strong names are apart."""
        table: dict[int, int] = {}
        for key, value in struct.iter_unpack("<QQ", self.image[dynamic : dynamic + (self.end - dynamic) // 16 * 16]):
            if key == 0:
                break
            # Some kernels relocate the table in place: an address is then absolute.
            table[key] = value - self.base if value >= self.base else value
        if DT_SYMTAB not in table or DT_STRTAB not in table:
            raise NotPatched("a vDSO without symbols")
        symbols: dict[bytes, list[tuple[int, int, int]]] = {}
        for entry in range(table[DT_SYMTAB], self._symbols_end(table), 24):
            name, _, _, section, value, size = struct.unpack_from("<IBBHQQ", self.image, entry)
            start = table[DT_STRTAB] + name
            text = self.image[start : self.image.index(b"\0", start)]
            if section:
                symbols.setdefault(text, []).append((entry + 8, value, size))
        return symbols

    def _symbols_end(self, table: dict[int, int]) -> int:
        if DT_HASH in table:
            count: int = struct.unpack_from("<I", self.image, table[DT_HASH] + 4)[0]
            return table[DT_SYMTAB] + 24 * count
        if table[DT_STRTAB] > table[DT_SYMTAB]:  # no count without DT_HASH: the strings follow the symbols
            return table[DT_SYMTAB] + (table[DT_STRTAB] - table[DT_SYMTAB]) // 24 * 24
        raise NotPatched("a vDSO whose symbols cannot be counted")

    def value(self, name: bytes) -> int | None:
        """Give the offset of a function, None where the vDSO lacks it."""
        return self.symbols[name][0][1] if name in self.symbols else None

    def place_for(self, size: int) -> int:
        """Give an offset where `size` bytes of code fit: past the loaded part, else over gettimeofday's own code."""
        start = -(-self.end // 16) * 16
        if start + size <= self.end + self.room:
            return start
        for _, value, length in self.symbols.get(b"__vdso_gettimeofday", ()):
            if length >= size:
                return value
        raise NotPatched("no room for code in the vDSO")

    def write(self, offset: int, code: bytes) -> None:
        """Write through ptrace: /proc/PID/mem may be barred from writing to code."""
        code += self.image[offset + len(code) :][: -len(code) % 8]
        for position, (word,) in enumerate(struct.iter_unpack("<Q", code)):
            ptrace(PTRACE_POKEDATA, self.pid, self.base + offset + 8 * position, word)

    def lead(self, names: Sequence[bytes], offset: int) -> None:
        """Make every symbol of these names lead to `offset`; the loader of the new image has not read them yet."""
        for name in names:
            for entry, _, _ in self.symbols.get(name, ()):
                self.write(entry, struct.pack("<Q", offset))


def freeze(pid: int, epoch_ns: int) -> None:
    """Freeze the wall clock of a process that is in its exec stop."""
    vdso = Vdso(pid)
    seconds, nanoseconds = divmod(epoch_ns, 10**9)
    original = vdso.value(b"__vdso_clock_gettime")
    if original is None:
        raise NotPatched("a vDSO without clock_gettime")
    place = vdso.place_for(CODE_ROOM)
    parts = (
        ((b"__vdso_clock_gettime", b"clock_gettime"), clock_gettime_code(seconds, nanoseconds, place, original)),
        ((b"__vdso_gettimeofday", b"gettimeofday"), gettimeofday_code(seconds, nanoseconds // 1000)),
        ((b"__vdso_time", b"time"), time_code(seconds)),
    )
    for names, code in parts:
        vdso.write(place, code)
        vdso.lead(names, place)
        place += -(-len(code) // 16) * 16
