# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the entitable authors
"""Pretty printers of gdb for the values of entitable:

    (gdb) source /usr/share/entitable/entitable-gdb.py
    (gdb) print found
    $1 = error: resource_not_found: the table "runners" has no entity with this key

    (gdb) print named_ann
    $2 = query of "runners", 1 key range: PartitionKey == "Boston"; server filter: name == "Ann"

result by its state, error, date_time, guid, etag, value, row, row_view, reference; a condition, a query by its plan, a table and a reader by their
name. They call no function of the program, so they work on core files.
"""

import datetime
import re
import struct

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


def guid_text(raw):
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


class Guid:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return guid_text(bytes_of(int(self.value["bytes"].address), 16))


class ETag:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        timestamp = int(self.value["timestamp_"])
        text = string_bytes(self.value["text_"])
        if timestamp != -1:
            epoch = f" in epoch {text.decode('ascii', 'replace')}" if text else ""
            return f"etag of {date_text(timestamp)}{epoch}"
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


def elements(value):
    """The elements of a std::vector of libstdc++ or libc++."""
    names = {field.name for field in value.type.strip_typedefs().fields()}
    if "__begin_" in names:
        first, last = value["__begin_"], value["__end_"]
    else:
        first, last = value["_M_impl"]["_M_start"], value["_M_impl"]["_M_finish"]
    return [(first + index).dereference() for index in range(int(last - first))]


def enumerator(value):
    return str(value).rsplit("::", 1)[-1]


def value_text(value):
    """A `value` or a `value_view`, in the form of `value::to_string()`."""
    kind, bits = enumerator(value["type_"]), int(value["bits_"])
    raw = string_bytes(value["bytes_"])
    if kind == "string":
        return quoted(raw, 64)
    if kind == "float64":
        return repr(struct.unpack("<d", struct.pack("<q", bits))[0])
    if kind == "boolean":
        return "true" if bits else "false"
    if kind == "date_time":
        return date_text(bits)
    if kind == "guid":
        return guid_text(raw)
    if kind == "binary":
        return f"X'{raw[:32].hex()}{'...' if len(raw) > 32 else ''}'"
    return str(bits)


OPERATORS = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "all_of": "&&",
             "any_of": "||"}


def comparison_text(node):
    """A comparison of a `filter` or of a predicate."""
    subject = enumerator(node["subject"]) if any(field.name == "subject" for field in node.type.fields()) else "property"
    if subject == "nothing":
        return "false"
    operation = "starts with" if subject == "prefix" else OPERATORS[enumerator(node["operation"])]
    return f"{string_bytes(node['name']).decode('utf-8', 'backslashreplace')} {operation} {value_text(node['operand'])}"


def condition_text(nodes):
    """Nodes in postfix order, as `explain()` shows them."""
    parts = []  # text and outermost connective of each finished part
    for node in elements(nodes):
        operation = enumerator(node["operation"])
        if operation not in ("all_of", "any_of", "negation"):
            parts.append((comparison_text(node), ""))
        elif operation == "negation" and parts:
            parts.append((f"!({parts.pop()[0]})", ""))
        elif len(parts) > 1:
            sides = [text if top in ("", operation) else f"({text})" for text, top in parts[-2:]]
            parts[-2:] = [(f" {OPERATORS[operation]} ".join(sides), operation)]
        else:
            return "malformed condition"
    return "all entities" if not parts else parts[0][0] if len(parts) == 1 else "malformed condition"


def interval_texts(interval, name):
    bounds = [(enumerator(interval[side]["end"]), quoted(string_bytes(interval[side]["key"])), sign)
              for side, sign in (("lower", ">"), ("upper", "<"))]
    if all(end == "inclusive" for end, _, _ in bounds) and bounds[0][1] == bounds[1][1]:
        return [f"{name} == {bounds[0][1]}"]
    return [f"{name} {sign}{'=' if end == 'inclusive' else ''} {key}" for end, key, sign in bounds if end != "open"]


def range_text(keys):
    return " && ".join(interval_texts(keys["partition"], "PartitionKey") + interval_texts(keys["row"], "RowKey")) or "all keys"


class Text:
    """A value that one function turns into a text."""

    def __init__(self, value, text):
        self.value = value
        self.text = text

    def to_string(self):
        return self.text(self.value)


class ByText:
    """Makes `Text` printers of one function."""

    def __init__(self, text):
        self.text = text

    def __call__(self, value):
        return Text(value, self.text)


def query_text(value):
    source = value["source_"]["object_"]
    if int(source) == 0:
        return "empty query"
    source = source.dereference()
    text = f"query of {quoted(string_bytes(source['table']))}"
    problem = source["problem"]["problem_"]["problem_"]
    if int(problem) != 0:
        return f"{text}, error: {error_text(problem.dereference())}"
    plan = source["plan"]
    ranges = elements(plan["ranges"])
    text += f", {len(ranges)} key range{'' if len(ranges) == 1 else 's'}"
    text += "".join((": " if index == 0 else ", or ") + range_text(keys) for index, keys in enumerate(ranges[:3]))
    text += ", ..." if len(ranges) > 3 else ""
    for name, nodes in (("server filter", plan["server"]["nodes"]), ("client filter", plan["client"])):
        text += f"; {name}: {condition_text(nodes)}" if elements(nodes) else ""
    return text + optional_text(value["limits_"]["take"], "; take ")


def optional_text(value, before):
    """The number of a std::optional of libstdc++ or libc++ after a text; empty for nullopt."""
    shown = value.format_string(raw=True)
    found = re.search(r"_M_value = (\d+).*_M_engaged = true|__val_ = (\d+).*__engaged_ = true", shown, re.DOTALL)
    return before + (found.group(1) or found.group(2)) if found else ""


class Table:
    """A table or a reader: its name, and its parts for `print/r`."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        kind = re.sub(r"entitable::(v\d+_\d+::)?", "", str(self.value.type.strip_typedefs().unqualified()))
        return f"{kind} {quoted(string_bytes(self.value['core_']['name_']))}"


def printers():
    made = gdb.printing.RegexpCollectionPrettyPrinter("entitable")
    for name, printer in (("date_time", DateTime), ("guid", Guid), ("etag", ETag), ("error", Error), ("result<.*>", Result),
                          ("row_view", Keys), ("reference<.*>", Keys), ("row_keys", Keys), ("row", Row), ("table<.*>", Table), ("reader<.*>", Table),
                          ("query<.*>", ByText(query_text)), ("value", ByText(value_text)), ("value_view", ByText(value_text)),
                          ("predicate<.*>", ByText(lambda value: condition_text(value["nodes_"]))),
                          ("filter", ByText(lambda value: condition_text(value["nodes"]))), ("key_range", ByText(range_text))):
        made.add_printer(name, rf"^entitable::(v\d+_\d+::)?{name}$", printer)
    return made


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
