// SPDX-License-Identifier: Apache-2.0
// A file of comma separated values. Rows are made in a buffer and reach the file as often as it is flushed, in one
// piece; when they cannot be written it is cut back to where it was then: a run that is killed and a disk that is full
// leave whole rows.
#ifndef RECORDER_CSV_TABLE_H
#define RECORDER_CSV_TABLE_H

#include <stiction/plugin.h>

typedef struct table {
    char *text; // (room) what is not yet written; NULL: there is no table
    size_t used, room;
    bool lost; // memory for a row was missing: the next flush says so
    stn_output output;
    char *path;
    int32_t digits; // significant ones, at most
} table;

/// STN_ERR_FILE, STN_ERR_MEMORY: nothing to close.
stn_status table_open(table *t, const char *path, int32_t digits, stn_error *err);
/// Hands the rows that were written, each with its end, to the system. STN_ERR_FILE, STN_ERR_MEMORY: all since the last
/// time is cut off.
stn_status table_flush(table *t, stn_error *err);
/// `said`: a failure was reported, no other is. A table that was not opened is left alone.
stn_status table_close(table *t, stn_output_end end, bool said, stn_error *err);

/// Text as it is.
void table_put(table *t, const char *text);
/// A whole number without a comma in front.
void table_whole(table *t, int64_t value);
/// ",value" with at most as many digits as the table has, 17 of them as few as read back to the same; of NaN, which
/// does not apply, an empty field.
void table_number(table *t, double value);
/// ",text", in quotes where it holds what separates fields or rows (RFC 4180).
void table_text(table *t, const char *text);

/// A name of a column: letter[qualifier/name].part, of which all but the name may be empty.
typedef struct column {
    const char *letter, *qualifier, *name, *part;
} column;
/// ",letter[qualifier/name].part", in quotes likewise.
void table_column(table *t, column c);
/// Of a number that a plugin tells: its name with the unit behind it, "force_N", "torque_Nm", none for "1", and "_1",
/// "_2", ... behind that where it is one of several.
void table_output_name(const stn_constraint_output *told, int32_t element, char text[96]);

#endif
