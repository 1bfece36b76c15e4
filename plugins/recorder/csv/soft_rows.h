// SPDX-License-Identifier: Apache-2.0
// Nodes of soft bodies and cables, and what their elements tell, a row each, in files beside the table:
// "out.nodes.csv", "out.elements.csv".
#ifndef RECORDER_CSV_SOFT_ROWS_H
#define RECORDER_CSV_SOFT_ROWS_H

#include "table.h"

typedef struct soft_rows_options {
    const char *nodes, *elements; // "all", names with commas between, or "": none; borrowed for the call
    bool velocities;              // of nodes, too
    double interval;              // [s]; 0: with every row of the table
    int32_t digits;
} soft_rows_options;

typedef struct soft_rows {
    const stn_model *model;
    table nodes, elements;
    bool *of_nodes, *of_elements; // (tree_count) of which clouds
    bool velocities, frames;      // frames: a chosen cloud has nodes that turn
    double interval, next;        // time at which the next rows are due [s]
    int64_t last_step;
    const stn_constraint_output **columns; // (column_count) of elements
    int32_t column_count;
    double *values; // of the elements of the largest group
} soft_rows;

enum { SOFT_NAME = 24 };
/// The name of a cloud; of one without a name "deformable N", N from 1 over all clouds, which is put into `number`.
const char *soft_name(const stn_model *model, int32_t tree, char number[SOFT_NAME]);

/// STN_ERR_PARAMETER: there is no such soft body. After a failure soft_rows_close releases what there is.
stn_status soft_rows_open(soft_rows *s, const stn_record_header *header, const soft_rows_options *options,
                          stn_error *err);
/// Writes rows when they are due: `with_table`: a row of the table was.
stn_status soft_rows_observe(soft_rows *s, const stn_observation *o, bool with_table, stn_error *err);
stn_status soft_rows_close(soft_rows *s, stn_output_end end, bool said, stn_error *err);

#endif
