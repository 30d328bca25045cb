"""Runs the code cells of a notebook one after the other, in a folder of their own, and shows the cell that fails.

    tests/python/run_notebook.py NOTEBOOK [--store]

With --store, text that cells print or end with is written back into the notebook, as Jupyter would.
"""

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
import traceback

import support


def run(source, names):
    """What a cell prints, and the value of its last line."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None
    return printed.getvalue(), value


def outputs(printed, value, number):
    out = []
    if printed:
        out.append({"output_type": "stream", "name": "stdout", "text": printed.splitlines(keepends=True)})
    if value is not None:
        out.append({"output_type": "execute_result", "execution_count": number, "metadata": {},
                    "data": {"text/plain": repr(value).splitlines(keepends=True)}})
    return out


def main(path, store):
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    names = {"__name__": "__main__"}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        number = 0
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            number += 1
            source = "".join(cell["source"])
            try:
                printed, value = run(source, names)
                if hasattr(value, "_repr_png_"):
                    assert value._repr_png_()[:4] == b"\x89PNG"
            except BaseException:
                print(f"cell {number} failed:\n{source}\n{traceback.format_exc()}")
                return 1
            cell["execution_count"], cell["outputs"] = number, outputs(printed, value, number)
        os.chdir(before)
    print(f"{number} cells ran")
    if store:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(notebook, file, indent=1, ensure_ascii=False)
            file.write("\n")
    return 0


if __name__ == "__main__":
    if not support.has("torch"):
        print(f"not run: {sys.executable} has no torch")
    else:
        sys.exit(main(sys.argv[1], "--store" in sys.argv[2:]))
