# SPDX-License-Identifier: Apache-2.0
"""test_page.py SOURCE: the programs of docs/python.md run, one after the other, and what stands behind "# ->" is what they print."""
import contextlib
import io
import os
import re
import sys
import tempfile

source = sys.argv[1]
with open(os.path.join(source, "docs", "python.md")) as file:
    programs = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
if len(programs) < 4:
    sys.exit(f"docs/python.md has {len(programs)} programs")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    names = {}
    for program in programs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, "docs/python.md", "exec"), names)
        expected = re.findall(r"# -> (.*)", program)
        if printed.getvalue().splitlines() != expected:
            sys.exit(f"{program}\nprints\n{printed.getvalue()}")
print(f"{len(programs)} programs")
