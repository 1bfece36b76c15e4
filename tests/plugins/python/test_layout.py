# SPDX-License-Identifier: Apache-2.0
"""test_layout.py COMPILER SOURCE: what plugins/python/declarations.py says of the C interface is what the headers say.

A C program is made of its text: prototypes are declared once more, members compared by offset and type with those of the headers,
constants by value. It is compiled, and then prints the sizes that ctypes must have, too. Then each kind of mistake is made on purpose.
Needs no numpy.
"""
import os
import re
import subprocess
import sys
import tempfile

compiler, source = sys.argv[1:3]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(source, "plugins", "python"))
import declarations  # noqa: E402


def program(constants, structs, functions, kinds):
    lines = ["#include <stddef.h>", "#include <stdio.h>", "#include <stiction/input.h>", "#include <stiction/soft.h>",
             "#include <stiction/stiction.h>"]
    for name, value in constants.items():
        lines.append(f'_Static_assert((long long)({name}) == {value}, "constant {name}");')
    for text in declarations._pieces(structs, ";"):
        name, body = re.match(r"struct (\w+) \{(.*)\}$", text, re.S).groups()
        partial = "...;" in body
        lines.append(f"struct mirror_{name} {{ {body.replace('...;', '')} }};")
        real, mirror = f"((struct {name} *)0)", f"((struct mirror_{name} *)0)"
        if not partial:
            lines.append(f'_Static_assert(sizeof(struct {name}) == sizeof(struct mirror_{name}), "size of {name}");')
        for member, kind in kinds[name]._fields_:
            lines.append(f'_Static_assert(offsetof(struct {name}, {member}) == offsetof(struct mirror_{name}, {member}), '
                         f'"offset of {name}.{member}");')
            lines.append(f'_Static_assert(sizeof({real}->{member}) == sizeof({mirror}->{member}), "size of {name}.{member}");')
            if (name, member) != ("stn_plugin_desc", "ops"):  # a union of pointers
                lines.append(f'_Static_assert(__builtin_types_compatible_p(__typeof__({real}->{member}), '
                             f'__typeof__({mirror}->{member})), "type of {name}.{member}");')
    lines.append(functions)
    lines.append("int main(void) {")
    for name, kind in kinds.items():
        if not kind.partial:
            lines.append(f'    printf("{name} %zu\\n", sizeof(struct {name}));')
        for member, _ in kind._fields_:
            lines.append(f'    printf("{name}.{member} %zu %zu\\n", offsetof(struct {name}, {member}), '
                         f'sizeof(((struct {name} *)0)->{member}));')
    lines += ["    return 0;", "}", ""]
    return "\n".join(lines)


def compiles(text, folder, *options):
    path = os.path.join(folder, "layout.c")
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([compiler, "-std=gnu17", "-w", f"-I{source}/core/include", *options, path], capture_output=True, text=True)
    return done.returncode == 0, done.stderr


constants, structs, functions = declarations.CONSTANTS, declarations.STRUCTS, declarations.FUNCTIONS
kinds, prototypes = declarations.read()
with tempfile.TemporaryDirectory() as folder:
    binary = os.path.join(folder, "layout")
    # The program calls none of the functions: nothing is linked.
    good, said = compiles(program(constants, structs, functions, kinds), folder, "-o", binary)
    if not good:
        sys.exit(said)
    printed = subprocess.run([binary], capture_output=True, text=True, check=True).stdout
    told = []
    for name, kind in kinds.items():
        if not kind.partial:
            told.append(f"{name} {declarations.ctypes.sizeof(kind)}")
        for member, _ in kind._fields_:
            told.append(f"{name}.{member} {getattr(kind, member).offset} {getattr(kind, member).size}")
    if printed.split("\n")[:-1] != told:
        sys.exit("ctypes lays structs out differently:\n" + "\n".join(sorted(set(told) ^ set(printed.split("\n")[:-1]))))

    mistakes = {
        "a constant": (dict(constants, STN_KIND_SOLVER=5), structs, functions),
        "a member too many": (constants, structs.replace("bool profile; double", "bool profile; double more; double", 1), functions),
        "a type": (constants, structs.replace("int32_t count; int32_t threads;", "int32_t count; uint32_t threads;", 1), functions),
        "a parameter": (constants, structs, functions.replace("int32_t steps, stn_error", "int64_t steps, stn_error", 1)),
        "a result": (constants, structs, functions.replace("uint64_t stn_world_hash", "int32_t stn_world_hash", 1)),
        "a name": (constants, structs.replace("double momentum;", "double moment;", 1), functions),
    }
    for what, (c, s, f) in mistakes.items():
        if (c, s, f) == (constants, structs, functions):
            sys.exit(f"the mistake '{what}' changes nothing")
        if what == "a name":
            kinds["stn_certificate"]._fields_[0] = ("moment", kinds["stn_certificate"]._fields_[0][1])
        if compiles(program(c, s, f, kinds), folder, "-fsyntax-only")[0]:
            sys.exit(f"not noticed: {what}")
print(f"{len(kinds)} structs, {len(prototypes)} functions, {len(constants)} constants are those of the headers")
