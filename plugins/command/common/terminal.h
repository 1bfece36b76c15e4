// SPDX-License-Identifier: Apache-2.0
// What stdout and stderr can show.
#ifndef STICTION_COMMAND_COMMON_TERMINAL_H
#define STICTION_COMMAND_COMMON_TERMINAL_H

#include <stiction/base.h>

typedef struct cli_terminal {
    bool utf8; // a terminal whose locale is UTF-8; otherwise lines are drawn in ASCII
    int width; // columns; INT_MAX when stdout is no terminal
} cli_terminal;

cli_terminal cli_terminal_of_stdout(void);
/// Columns of the terminal that stderr is; 0 when it is none.
int cli_width_of_stderr(void);
/// Is stderr a terminal on which a line can be drawn anew? Not with TERM=dumb.
bool cli_stderr_redraws(void);
/// Columns that a UTF-8 text takes, nearly: one a character.
int cli_columns(const char *text);
/// Prints a name of a file, control characters as question marks.
void cli_print_name(const char *name);
/// The same of a part of a text.
void cli_print_part(const char *text, size_t length);
/// Prints a message that may hold such names to stderr; line ends and tabulators stay.
void cli_print_message(const char *text);
/// Prints a name, filled with spaces up to `width` columns.
void cli_print_padded(const char *text, int width);
/// Prints `text` and a line end in at most `terminal->width` columns; what is cut off leaves a mark.
void cli_print_cut(const cli_terminal *terminal, const char *text);

#endif
