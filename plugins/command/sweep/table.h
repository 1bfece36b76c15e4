// SPDX-License-Identifier: Apache-2.0
// A table in a CSV file that grows by whole rows, is continued after an end of any kind, and gets further columns as
// rows bring them.
#ifndef STICTION_COMMAND_SWEEP_TABLE_H
#define STICTION_COMMAND_SWEEP_TABLE_H

#include <stdio.h>

#include <stiction/base.h>

/// Texts in order, owned.
typedef struct cli_texts {
    int32_t count, capacity;
    char **items;
} cli_texts;

bool cli_texts_add(cli_texts *list, const char *text);
/// Position of `text` among those from `first` on, -1: it is not there.
int32_t cli_texts_find(const cli_texts *list, int32_t first, const char *text);
void cli_texts_clear(cli_texts *list);

typedef struct cli_table {
    FILE *file;
    const char *path;    // borrowed; NULL: a temporary file
    cli_texts columns;   // the first `fixed` are those of cli_table_open
    int32_t fixed, rows; // complete rows in the file
} cli_table;

/// A row that is added: cells of the fixed columns, then names and values of others.
typedef struct cli_table_cells {
    cli_texts fixed, names, values;
} cli_table_cells;

/// Receives a row, by column; the table goes no further when it fails.
typedef stn_status cli_table_row(void *user, int32_t index, const cli_texts *cells, stn_error *err);

/// Makes the file with a header, or goes on with the one that is there: half a row at its end is taken away, the header
/// must begin with `columns`, and `row` gets every row with its cells by column, and may refuse it. STN_ERR_FILE: it
/// cannot be written, another process writes it, or it is no such table; it stays as it is then. cli_table_close is due
/// in any case.
stn_status cli_table_open(cli_table *table, const char *path, const cli_texts *columns, cli_table_row *row, void *user,
                          stn_error *err);
/// One that is read from its beginning, and that nobody writes meanwhile: `columns` are those of its header, none when
/// it has no whole one. STN_ERR_FILE as it says. cli_table_close is due in any case.
stn_status cli_table_view(cli_table *table, const char *path, stn_error *err);
/// Its next row; `*more` is false behind the last whole one. `rows` counts them.
stn_status cli_table_next(cli_table *table, cli_texts *cells, bool *more, stn_error *err);
/// Adds a row. New names become columns behind those that are there.
stn_status cli_table_add(cli_table *table, const cli_table_cells *cells, stn_error *err);
void cli_table_cells_clear(cli_table_cells *cells);
/// Every row from the first one on, through `row`.
stn_status cli_table_read(cli_table *table, cli_table_row *row, void *user, stn_error *err);
/// Copies the file as it is. False: `to` cannot be written.
bool cli_table_copy(cli_table *table, FILE *to);
void cli_table_close(cli_table *table);

#endif
