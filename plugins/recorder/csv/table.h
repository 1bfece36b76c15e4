// SPDX-License-Identifier: Apache-2.0
// A file of comma separated values. Rows reach it as often as it is flushed, and when they cannot be written it is cut
// back to where it was then: a run that is killed and a disk that is full leave whole rows.
#ifndef RECORDER_CSV_TABLE_H
#define RECORDER_CSV_TABLE_H

#include <stdio.h>
#include <sys/types.h>

#include <stiction/plugin.h>

typedef struct table {
    FILE *file; // NULL: there is none
    stn_output output;
    char *path;
    off_t whole;    // bytes when it was flushed last
    int32_t digits; // significant ones, at most
} table;

/// STN_ERR_FILE, STN_ERR_MEMORY: nothing to close.
stn_status table_open(table *t, const char *path, int32_t digits, stn_error *err);
/// Hands the rows that were written, each with its end, to the system. STN_ERR_FILE: all since the last time is cut
/// off.
stn_status table_flush(table *t, stn_error *err);
/// `said`: a failure was reported, no other is. A table that was not opened is left alone.
stn_status table_close(table *t, stn_output_end end, bool said, stn_error *err);

/// A stream with a descriptor of its own, so that closing it leaves the output open; NULL: errno says why.
FILE *table_stream(const stn_output *output);

/// ",value" with at most as many digits as the table has, 17 of them as few as read back to the same; of NaN, which
/// does not apply, an empty field.
void table_number(const table *t, double value);
/// ",text", in quotes where it holds what separates fields or rows (RFC 4180).
void table_text(const table *t, const char *text);

/// A name of a column: letter[qualifier/name].part, of which all but the name may be empty.
typedef struct column {
    const char *letter, *qualifier, *name, *part;
} column;
/// ",letter[qualifier/name].part", in quotes likewise.
void table_column(const table *t, column c);
/// Of a number that a plugin tells: its name with the unit behind it, "force_N", "torque_Nm", none for "1", and "_1",
/// "_2", ... behind that where it is one of several.
void table_output_name(const stn_constraint_output *told, int32_t element, char text[96]);

#endif
