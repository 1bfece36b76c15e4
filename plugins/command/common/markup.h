// SPDX-License-Identifier: Apache-2.0
// Text in XML and HTML.
#ifndef STICTION_COMMAND_COMMON_MARKUP_H
#define STICTION_COMMAND_COMMON_MARKUP_H

#include <stdbool.h>
#include <stdio.h>

/// Writes text as text, not as markup. What XML cannot hold becomes U+FFFD. In an attribute line ends are written as
/// references, or readers make them spaces.
void cli_put_markup(FILE *to, const char *text, size_t size, bool attribute);

#endif
