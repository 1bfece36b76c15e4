// SPDX-License-Identifier: Apache-2.0
// A unit cube of tetrahedra for tests.
#ifndef MESH_LATTICE_H
#define MESH_LATTICE_H

#include "mesh_fixture.h"

enum { SIDE = 3, NODES = (SIDE + 1) * (SIDE + 1) * (SIDE + 1), TETRAHEDRA = 6 * SIDE * SIDE * SIDE };

typedef struct lattice {
    double vertices[3 * NODES];
    int32_t tetrahedra[4 * TETRAHEDRA];
} lattice;

/// A cube of side 1 cut into cells of six tetrahedra each (Kuhn: one for every order of the axes), the corners of each
/// in random order; the faces of neighbouring cells match.
static inline void fill_lattice(lattice *l, stn_random *r) {
    static const int32_t order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int32_t stride[3] = {1, SIDE + 1, (SIDE + 1) * (SIDE + 1)};
    for (int32_t i = 0; i < NODES; i++) {
        l->vertices[3 * i] = (double)(i % (SIDE + 1)) / SIDE;
        l->vertices[3 * i + 1] = (double)(i / stride[1] % (SIDE + 1)) / SIDE;
        l->vertices[3 * i + 2] = (double)(i / stride[2]) / SIDE;
    }
    for (int32_t t = 0; t < TETRAHEDRA; t++) {
        int32_t cell = t / 6, node = cell % SIDE + cell / SIDE % SIDE * stride[1] + cell / SIDE / SIDE * stride[2];
        int32_t *corner = l->tetrahedra + 4 * t;
        corner[0] = node;
        for (int32_t k = 0; k < 3; k++) {
            node += stride[order[t % 6][k]];
            corner[k + 1] = node;
        }
        int32_t i = random_below(r, 4), j = random_below(r, 4), swap = corner[i];
        corner[i] = corner[j];
        corner[j] = swap;
    }
}

static inline stn_mesh *solid_mesh(stn_context *context, const lattice *l) {
    stn_mesh_data data = {NODES, 0, TETRAHEDRA, l->vertices, NULL, l->tetrahedra, NULL};
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    return mesh;
}

#endif
