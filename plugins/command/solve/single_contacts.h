// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_COMMAND_SOLVE_SINGLE_CONTACTS_H
#define STICTION_COMMAND_SOLVE_SINGLE_CONTACTS_H

#include <stiction/plugin.h>

/// Reads a CSV of single contacts, v = c + W l: a header with id, mu, Wxx, Wxy, Wxz, Wyy, Wyz, Wzz, cx, cy, cz among
/// its names, a contact a row. Prints one JSON line a row when all of them were read: {"id", "kind": "open | stick |
/// slip", "l": [x, y, z], "ns"}, ns the least time of a solve. Errors name file and line.
stn_status single_contacts_solve(stn_context *context, const char *path, const stn_instance *solver, double precision,
                                 stn_error *err);

#endif
