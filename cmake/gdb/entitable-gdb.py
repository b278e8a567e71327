# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the entitable authors
"""Pretty printers of gdb for the values of entitable:

    (gdb) source /usr/share/entitable/entitable-gdb.py
    (gdb) print found
    $1 = error: ResourceNotFound: the table "runners" has no entity with this key

result by its state, error, date_time, guid, etag, row, row_view, reference. They call no function of the program, so they work on core files.
"""

import datetime

import gdb
import gdb.printing

FIRST = datetime.datetime(1601, 1, 1)
LAST_TICK = 2650467743999999999


def bytes_of(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size)) if size else b""


def quoted(raw, longest=100):
    text = raw[:longest].decode("utf-8", "backslashreplace")
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    return f'"{text}..." ({len(raw)} bytes)' if len(raw) > longest else f'"{text}"'


def string_bytes(value):
    """The bytes of a std::string of libstdc++ or libc++, or of a std::string_view."""
    names = {field.name for field in value.type.strip_typedefs().fields()}
    if "_M_dataplus" in names:
        return bytes_of(int(value["_M_dataplus"]["_M_p"]), int(value["_M_string_length"]))
    if "_M_str" in names:
        return bytes_of(int(value["_M_str"]), int(value["_M_len"]))
    shown = value.format_string(raw=False)  # another library: by its own printer
    return shown.strip('"').encode()


def date_text(ticks):
    if not 0 <= ticks <= LAST_TICK:
        return f"date_time out of range ({ticks} ticks)"
    seconds, rest = divmod(ticks, 10_000_000)
    text = (FIRST + datetime.timedelta(seconds=seconds)).isoformat()
    return text + (f".{rest:07}".rstrip("0") if rest else "") + "Z"


class DateTime:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return date_text(int(self.value["ticks"]))


class Guid:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        text = bytes_of(int(self.value["bytes"].address), 16).hex()
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


class ETag:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        timestamp = int(self.value["timestamp_"])
        if timestamp != -1:
            return f"etag of {date_text(timestamp)}"
        text = string_bytes(self.value["text_"])
        return text.decode("utf-8", "backslashreplace") if text else "no etag"


def error_text(value):
    text = f"{str(value['code']).rsplit('::', 1)[-1]}: {string_bytes(value['message']).decode('utf-8', 'backslashreplace')}"
    if int(value["effect"]) != 0:
        text += "; the write may have been applied"
    return text


class Error:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return error_text(self.value)

    def children(self):
        for field in self.value.type.fields():
            if not field.is_base_class and field.name not in ("what_",):
                yield field.name, self.value[field.name]


class Result:
    """Either the error or the value, never both."""

    def __init__(self, value):
        self.value = value
        problem = value["problem_"]["problem_"]
        self.address = int(problem)
        self.problem = problem
        taken = 2 ** (8 * problem.type.sizeof) - 1
        self.has_error = self.address not in (0, taken)
        self.was_taken = self.address == taken
        self.is_void = not any(field.name == "has_value_" for field in value.type.strip_typedefs().fields())

    def to_string(self):
        if self.has_error:
            return f"error: {error_text(self.problem.dereference())}"
        if self.was_taken:
            return "error that was moved out"
        return "OK" if self.is_void else "value"

    def children(self):
        if self.has_error:
            yield "error", self.problem.dereference()
        elif not self.is_void and not self.was_taken:
            yield "value", self.value["value_"]


class Keys:
    """Keys as texts: row_view, reference, row_keys."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"{quoted(string_bytes(self.value['partition_key']))} / {quoted(string_bytes(self.value['row_key']))}"


class Row:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        block = string_bytes(self.value["block_"])
        first, second = int(self.value["partition_key_size_"]), int(self.value["row_key_size_"])
        payload = len(block) - first - second - int(self.value["etag_size_"])
        return f"{quoted(block[:first])} / {quoted(block[first:first + second])} and {payload} bytes of properties"


def printers():
    made = gdb.printing.RegexpCollectionPrettyPrinter("entitable")
    for name, printer in (("date_time", DateTime), ("guid", Guid), ("etag", ETag), ("error", Error), ("result<.*>", Result),
                          ("row_view", Keys), ("reference<.*>", Keys), ("row_keys", Keys), ("row", Row)):
        made.add_printer(name, rf"^entitable::(v\d+_\d+::)?{name}$", printer)
    return made


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
