"""The plan of the house, as the checks read it: wings and their arrows from CONTRIBUTING.md, the rooms of a wing from its README.md.

A line of a plan is `name -> name name ...`: what it may include besides itself. It names only what stands above it, so a plan goes from the bottom
to the top and has no circle. In the plan of a wing, the name of the wing is the room of the headers directly in its folder.
"""

import pathlib
import re


def read_plan(path, heading):
    """The arrows of the block under a heading, and the problems of the block itself."""
    text = path.read_text() if path.is_file() else ""
    block = re.search(rf"^#+ {re.escape(heading)}$.*?^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    where = f"{path.parent.name}/{path.name}"
    if not block:
        return {}, [f'{where}: no block under a heading "{heading}"']
    arrows, problems = {}, []
    for line in block.group(1).splitlines():
        if not line.strip():
            continue
        name, arrow, allowed = line.partition("->")
        name, allowed = name.strip(), allowed.split()
        if not arrow:
            problems.append(f"{where}: not an arrow: {line}")
            continue
        if name in arrows:
            problems.append(f"{where}: {name} is listed twice")
        for below in allowed:
            if below not in arrows:
                problems.append(f"{where}: the arrow {name} -> {below} does not point down")
        arrows[name] = {*allowed, name}
    return arrows, problems


class Plan:
    """The wings and rooms of a source tree."""

    def __init__(self, root):
        self.library = root / "include" / "entitable"
        self.wings, self.problems = read_plan(root / "CONTRIBUTING.md", "Wings and arrows")
        self.rooms = {}  # wing -> room -> allowed rooms of the wing
        for wing in self.wings:
            self.rooms[wing], problems = read_plan(self.library / wing / "README.md", "Rooms")
            self.problems += problems

    def place_of(self, path):
        """The wing and the room of a path below include/entitable; none for an umbrella and for src/, which lie in no wing."""
        wing = path.parts[0]
        if len(path.parts) < 2 or wing in ("src", "modules"):
            return None
        folders = list(path.parts[1:-1])
        while folders and "/".join(folders) not in self.rooms.get(wing, {}):
            folders.pop()
        return wing, "/".join(folders) or wing

    def may_include(self, place, below):
        """Whether a header of one place may include a header of another one."""
        if place[0] == below[0]:
            return below[1] in self.rooms.get(place[0], {}).get(place[1], set())
        return below[0] in self.wings.get(place[0], set())

    def folder_problems(self):
        """Folders that no plan lists, and listed rooms without a folder."""
        problems = []
        for folder in sorted(self.library.iterdir()):
            if folder.is_dir() and folder.name not in {*self.wings, "src", "modules"}:
                problems.append(f"include/entitable/{folder.name}: CONTRIBUTING.md does not list this wing")
        for wing, rooms in self.rooms.items():
            for room in rooms:
                folder = self.library / wing if room == wing else self.library / wing / room
                if not any(folder.glob("*.hpp") if room == wing else folder.rglob("*.hpp")):
                    problems.append(f"include/entitable/{wing}/README.md: the room {room} has no header")
            for path in sorted((self.library / wing).rglob("*.?pp")):
                place = self.place_of(path.relative_to(self.library))
                if place[1] not in rooms:
                    problems.append(f"{path.relative_to(self.library)}: in no room that include/entitable/{wing}/README.md lists")
        return problems


def repository():
    return pathlib.Path(__file__).resolve().parent.parent.parent
