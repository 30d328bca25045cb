#!/usr/bin/env python3
"""The structure of src/: no circles, no arrow against the order of the folders, no option's name; and a limit on apps/.

    tests/structure.py [FOLDER]      checks a checkout; 1 where something is wrong
    tests/structure.py --self-test   plants each fault in a copy and expects to find it

A header and its source are one unit. A circle is a set of units that include each other.
"""

import os
import re
import shutil
import sys
import tempfile

# Each folder may include those before it, and itself. docs/architecture.md draws the same order.
ORDER = ["base", "random", "h5", "weightfile", "linalg", "parallel", "spectrum", "mixers", "network",
         "dyson/exact", "dyson/solve", "dyson/equations", "dyson/law", "dyson/ask", "web/solver",
         "montecarlo/sample", "montecarlo/cuda", "montecarlo/run", "montecarlo",
         "layouts", "validation", "tasks", "claims", "plot", "report", "study", "console", "python", "jacobian",
         "train/modules", "train/models", "train"]
# What a folder of src/ may not name is an option of the command line: libraries speak of fields.
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
# Options of other programs.
FOREIGN = {"--mpi", "--version"}
# The program reads options, calls the libraries and maps results to exit statuses. What is more belongs into a library.
LARGEST_APPS = 3000  # lines of .cpp and .hpp


def sources(root):
    for folder, _, names in os.walk(os.path.join(root, "src")):
        for name in sorted(names):
            if name.endswith((".hpp", ".cpp", ".cu", ".cuh")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    yield os.path.relpath(path, os.path.join(root, "src")), file.read()


def lines_of_apps(root):
    count = 0
    for folder, _, names in os.walk(os.path.join(root, "apps")):
        for name in names:
            if name.endswith((".hpp", ".cpp")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    count += sum(1 for _ in file)
    return count


def unit(path):
    return os.path.splitext(path)[0]


def includes(files):
    """unit -> units it includes"""
    known = {unit(path) for path in files}
    graph = {name: set() for name in known}
    for path, text in files.items():
        for target in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
            if unit(target) in known and unit(target) != unit(path):
                graph[unit(path)].add(unit(target))
    return graph


def circles(graph):
    """Strongly connected sets of more than one unit (Tarjan, without recursion)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(graph[target]))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = []
                    while not members or members[-1] != node:
                        members.append(stack.pop())
                        on_stack.discard(members[-1])
                    if len(members) > 1:
                        found.append(sorted(members))
    return found


def room(name):
    """The entry of ORDER that holds a unit: the longest that its path begins with."""
    return max((entry for entry in ORDER if name.startswith(entry + "/")), key=len, default=None)


def complaints(root):
    files = dict(sources(root))
    graph = includes(files)
    out = ["circle: " + " ".join(members) for members in circles(graph)]
    for name, targets in sorted(graph.items()):
        folder = room(name)
        for target in sorted(targets):
            other = room(target)
            if folder is None or other is None:
                out.append(f"folder without a place in the order: {name} includes {target}")
            elif ORDER.index(other) > ORDER.index(folder):
                out.append(f"upward include: {name} includes {target}")
    for path, text in sorted(files.items()):
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("//"):
                continue
            for option in OPTION.findall(" ".join(TEXT.findall(line))):
                if option not in FOREIGN:
                    out.append(f"option's name: {path}:{number}: {option}")
    if (lines := lines_of_apps(root)) > LARGEST_APPS:
        out.append(f"apps: {lines} lines, more than {LARGEST_APPS}: move what is more than options, calls and exit statuses "
                   "into a library")
    return out


def self_test(root):
    plants = {
        "circle": {"src/base/planted_a.hpp": '#include "base/planted_b.hpp"\n',
                   "src/base/planted_b.cpp": '#include "base/planted_a.hpp"\n'},
        "upward include": {"src/base/planted.hpp": '#include "report/report.hpp"\n'},
        "option's name": {"src/base/planted.cpp": 'const char* x = "use --threads 2";\n'},
        "apps": {"apps/planted.cpp": "\n" * LARGEST_APPS},
    }
    failed = False
    for fault, files in plants.items():
        with tempfile.TemporaryDirectory() as copy:
            for folder in "src", "apps":
                shutil.copytree(os.path.join(root, folder), os.path.join(copy, folder))
            before = complaints(copy)
            for path, text in files.items():
                with open(os.path.join(copy, path), "w", encoding="utf-8") as file:
                    file.write(text)
            new = [line for line in complaints(copy) if line not in before]
            if not any(line.startswith(fault) for line in new):
                print(f"a planted {fault} was not found")
                failed = True
    return failed


def main():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if sys.argv[1:] == ["--self-test"]:
        return int(self_test(here))
    found = complaints(sys.argv[1] if len(sys.argv) > 1 else here)
    print("\n".join(found) if found else f"structure: no circle, no upward include, no option's name, {lines_of_apps(here)} lines in apps")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
