// SPDX-License-Identifier: Apache-2.0
// The vertex of a mesh furthest along a direction.
//
// On a convex hull a vertex that no neighbour surpasses is a furthest one, so it is found by climbing: from a vertex
// that a table over the cube of directions names, always on to the best neighbour. Rounding makes false summits where
// several vertices are equally far but for it (a face across the direction). So whatever is connected with the summit
// within that height is looked at too, up to a bound; beyond that all vertices are.
#include "geometry/mesh_build.h"

enum { PLATEAU_MAX = 64 };

static int32_t scan(const stn_mesh *mesh, stn_vec3 d) {
    int32_t best = 0;
    double reach = -INFINITY;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        double along = stn_vec3_dot(mesh_vertex(mesh->vertices, i), d);
        if (along > reach) {
            reach = along;
            best = i;
        }
    }
    return best;
}

static int32_t cell_along(double ratio, int32_t side) {
    int32_t cell = (int32_t)(0.5 * (ratio + 1.0) * side);
    return cell < 0 ? 0 : cell < side ? cell : side - 1;
}

/// The cell of the cube of directions; d is finite and not 0.
static int32_t cell_of(stn_vec3 d, int32_t side) {
    double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
    int32_t face;
    double first, second;
    if (x >= y && x >= z) {
        face = d.x > 0.0 ? 0 : 1;
        first = d.y / x;
        second = d.z / x;
    } else if (y >= z) {
        face = d.y > 0.0 ? 2 : 3;
        first = d.z / y;
        second = d.x / y;
    } else {
        face = d.z > 0.0 ? 4 : 5;
        first = d.x / z;
        second = d.y / z;
    }
    return (face * side + cell_along(first, side)) * side + cell_along(second, side);
}

/// To a vertex that no neighbour surpasses; `second`: the furthest of its neighbours.
static int32_t climb(const stn_mesh *mesh, int32_t from, stn_vec3 d, double *reach, double *second) {
    const stn_polytope *p = mesh->polytope;
    int32_t here = -1;
    *reach = stn_vec3_dot(mesh_vertex(mesh->vertices, from), d);
    while (from != here) {
        here = from;
        *second = -INFINITY;
        for (int32_t k = p->neighbour_start[here]; k < p->neighbour_start[here + 1]; k++) {
            double along = stn_vec3_dot(mesh_vertex(mesh->vertices, p->neighbours[k]), d);
            *second = along > *second ? along : *second;
            if (along > *reach) {
                *reach = along;
                from = p->neighbours[k];
            }
        }
    }
    return here;
}

/// The first of the furthest among what is connected with the summit and not below `level`; -1: too many.
static int32_t search_plateau(const stn_mesh *mesh, int32_t summit, stn_vec3 d, double level) {
    const stn_polytope *p = mesh->polytope;
    int32_t seen[PLATEAU_MAX], count = 1, best = summit;
    double reach = stn_vec3_dot(mesh_vertex(mesh->vertices, summit), d);
    seen[0] = summit;
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = p->neighbour_start[seen[i]]; k < p->neighbour_start[seen[i] + 1]; k++) {
            int32_t id = p->neighbours[k], known = 0;
            double along = stn_vec3_dot(mesh_vertex(mesh->vertices, id), d);
            if (!(along >= level)) {
                continue;
            }
            while (known < count && seen[known] != id) {
                known++;
            }
            if (known == count) {
                if (count == PLATEAU_MAX) {
                    return -1;
                }
                seen[count++] = id;
                bool first = along > reach || (along == reach && id < best);
                best = first ? id : best;
                reach = first ? along : reach;
            }
        }
    }
    return best;
}

int32_t stn_mesh_support(const stn_mesh *mesh, stn_vec3 d) {
    const stn_polytope *p = mesh->polytope;
    double size = fabs(d.x) + fabs(d.y) + fabs(d.z), reach, second;
    if (p == NULL || p->start_side == 0 || !(size > 0.0) || !isfinite(size)) {
        return scan(mesh, d);
    }
    int32_t summit = climb(mesh, p->starts[cell_of(d, p->start_side)], d, &reach, &second);
    double level = reach - p->slack * size;
    if (second < level) {
        return summit;
    }
    summit = search_plateau(mesh, summit, d, level);
    return summit >= 0 ? summit : scan(mesh, d);
}

/// The furthest along the middle of each cell, each climb starting where the last one ended.
void mesh_fill_starts(const stn_mesh *mesh, int32_t *starts) {
    int32_t side = mesh->polytope->start_side, last = 0;
    for (int32_t cell = 0; cell < 6 * side * side; cell++) {
        int32_t face = cell / (side * side), row = cell / side % side, column = cell % side;
        double sign = face % 2 == 0 ? 1.0 : -1.0, first = (2 * row + 1) / (double)side - 1.0, reach, second;
        double last_axis = (2 * column + 1) / (double)side - 1.0;
        stn_vec3 d = face < 2   ? stn_vec3_make(sign, first, last_axis)
                     : face < 4 ? stn_vec3_make(last_axis, sign, first)
                                : stn_vec3_make(first, last_axis, sign);
        last = climb(mesh, last, d, &reach, &second);
        starts[cell] = last;
    }
}
