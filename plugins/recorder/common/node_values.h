// SPDX-License-Identifier: Apache-2.0
// What elements tell (stn_element_ops.outputs), as one number for each node: the colours of soft bodies and cables.
//
// Elements tell one number for all of their inside. That of a node is the mean over the elements that it belongs to,
// weighted by their size as they stand: with s_e the number and V_e the volume of element e (area of triangles, 1 of
// others),
//   s_n = sum_e V_e s_e / sum_e V_e   over e with node n,
// the projection onto linear shape functions with lumped masses [zienkiewicz-2013, chapter 15]. A mean smooths: a peak
// in one element is less at its nodes. A triangle with its neighbours' corners (6 nodes) counts for its own three.
#ifndef RECORDER_NODE_VALUES_H
#define RECORDER_NODE_VALUES_H

#include <stiction/plugin.h>

typedef struct node_values {
    const stn_model *model;
    const char *name, *unit; // as the elements say
    int32_t *column;         // (element_group_count) of the output among those of each group, -1: it has none
    double *told;            // of the elements of the largest group
    double *weight, *sum;    // (node_count)
    bool *tells;             // (node_count) does an element tell it there?
    float *value;            // (node_count) NaN: nothing tells it
} node_values;

/// `output`: "von_mises", or "cable.tension" where elements of several plugins tell one of that name in different
/// units. STN_ERR_PARAMETER lists what there is. After a failure there is nothing to close.
stn_status node_values_open(node_values *v, const stn_model *model, const char *output, stn_error *err);
void node_values_close(node_values *v);
/// At the state of the observation; NaN where it is of no world.
stn_status node_values_take(node_values *v, const stn_observation *o, stn_error *err);
/// The least and the largest that are finite; false: there are none.
bool node_values_range(const float *value, int32_t count, double *low, double *high);

/// The setting color_range, "low high" -> two numbers, low < high; not given: "", the range is to be found.
/// STN_ERR_PARAMETER for all else, and for a range where color_by, `output`, is empty.
stn_status node_values_read_range(const char *text, const char *output, double range[2], bool *given, stn_error *err);

/// The map "viridis" [smith-2015] at nine places with straight lines between: sRGB from dark violet
/// (0) to yellow (1), in which equal steps look like equal steps, to colour-blind readers too. `part` is cut to 0 to 1.
void viridis(double part, float srgb[3]);

#endif
