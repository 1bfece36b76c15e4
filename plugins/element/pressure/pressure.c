// SPDX-License-Identifier: Apache-2.0
// Pressure of a gas or liquid on a surface of triangles, counter-clockwise seen from where the pressure is. With
// A n = (x_1 - x_0) x (x_2 - x_0) / 2 of the present triangle, which points there,
//
//   force on each corner  -p A n / 3
//
// So the force follows the surface, and that on a closed one vanishes, as its moment does. K = 0, see README.md.
#include <stiction/plugin.h>

enum { NODES = 3, M = 3 * NODES };

static const stn_channel channels[] = {{"pressure", "Pa", "over that on the other side; < 0: suction", 1}};

static stn_status evaluate(const void *self, stn_element_batch *b, stn_error *err) {
    (void)self;
    (void)err;
    for (int32_t e = 0; e < b->count; e++) {
        const double *x = b->x + e * M;
        stn_vec3 first = {x[3] - x[0], x[4] - x[1], x[5] - x[2]}, second = {x[6] - x[0], x[7] - x[1], x[8] - x[2]};
        stn_vec3 push = stn_vec3_scale(-b->channels[0] / 6.0, stn_vec3_cross(first, second));
        for (int32_t n = 0; n < NODES; n++) {
            double *force = b->force + e * M + 3 * n;
            force[0] = push.x;
            force[1] = push.y;
            force[2] = push.z;
        }
        b->energy[e] = 0.0;
        for (int32_t i = 0; i < M * M; i++) {
            if (b->K != NULL) {
                b->K[e * M * M + i] = 0.0;
            }
            if (b->D != NULL) {
                b->D[e * M * M + i] = 0.0;
            }
        }
    }
    return STN_OK;
}

static const stn_element_ops ops = {
    .size = sizeof ops,
    .nodes_per_element = NODES,
    .evaluate = evaluate,
    .channel_count = STN_COUNT(channels),
    .channels = channels,
};

static const char *const capabilities[] = {"load", NULL};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_ELEMENT,
    .id = "pressure",
    .version = "1.0.0",
    .summary = "Pressure on triangles of a surface: of a chamber, a balloon, under water",
    .capabilities = capabilities,
    .ops.element = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
