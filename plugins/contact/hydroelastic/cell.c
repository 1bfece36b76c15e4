// SPDX-License-Identifier: Apache-2.0
// See cell.h.
#include "cell.h"

#include <string.h>

#include <stiction/union_find.h>

#include "surface_build.h"

/// Points this close to a plane lie on it, relative to the longest edge, and gradients this close are equal.
static const double same_place = 1e-9;

/// Of a tetrahedron with positive volume; face k is opposite to corner k.
static const cell_edge tetrahedron_edges[6] = {{{0, 1}, {2, 3}}, {{0, 2}, {3, 1}}, {{0, 3}, {1, 2}},
                                               {{1, 2}, {0, 3}}, {{1, 3}, {2, 0}}, {{2, 3}, {0, 1}}};

/// A cell while it is made.
typedef struct draft {
    int32_t corner_count, face_count, edge_count;
    stn_vec3 corner[CELL_CORNERS], normal[CELL_FACES]; // normals inwards
    double extent[CELL_CORNERS], at[CELL_FACES];
    uint32_t on[CELL_CORNERS]; // bits of the faces that a corner lies on
    cell_edge edge[CELL_EDGES];
    double size;
} draft;

/// The tetrahedra of a cell.
typedef struct members {
    const field *field;
    const int32_t *owner; // of every tetrahedron of the field: the first one of its cell
    const int32_t *list;
    int32_t count;
} members;

// -------------------------------------------------------------------------------------------------------- drafts

static double height_over(const draft *d, int32_t face, stn_vec3 x) {
    return stn_vec3_dot(d->normal[face], x) + d->at[face];
}

/// A face through p[1], p[2] and p[3] with p[0] on its positive side.
static void set_face(draft *d, int32_t face, const stn_vec3 p[4]) {
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(p[2], p[1]), stn_vec3_sub(p[3], p[1]));
    n = stn_vec3_normalize_or(n, stn_vec3_zero());
    n = stn_vec3_dot(n, stn_vec3_sub(p[0], p[1])) < 0.0 ? stn_vec3_neg(n) : n;
    d->normal[face] = n;
    d->at[face] = -stn_vec3_dot(n, p[1]);
}

static void find_size(draft *d) {
    d->size = 0.0;
    for (int32_t i = 1; i < d->corner_count; i++) {
        for (int32_t j = 0; j < i; j++) {
            d->size = fmax(d->size, stn_vec3_norm(stn_vec3_sub(d->corner[i], d->corner[j])));
        }
    }
}

/// An edge where two corners share two faces. False: this is no polytope.
static bool find_edges(draft *d) {
    d->edge_count = 0;
    for (int32_t i = 0; i < d->corner_count; i++) {
        for (int32_t j = i + 1; j < d->corner_count; j++) {
            int32_t face[CELL_FACES], shared = 0;
            for (int32_t k = 0; k < d->face_count; k++) {
                if ((d->on[i] & d->on[j]) >> k & 1U) {
                    face[shared++] = k;
                }
            }
            if (shared > 2 || (shared == 2 && d->edge_count == CELL_EDGES)) {
                return false;
            }
            if (shared == 2) { // a face goes on from its edge to where it is above the other one
                stn_vec3 along = stn_vec3_sub(d->corner[j], d->corner[i]);
                stn_vec3 left_of = stn_vec3_cross(along, d->normal[face[0]]);
                int32_t left = stn_vec3_dot(left_of, d->normal[face[1]]) > 0.0 ? 0 : 1;
                d->edge[d->edge_count++] =
                    (cell_edge){{(uint8_t)i, (uint8_t)j}, {(uint8_t)face[left], (uint8_t)face[1 - left]}};
            }
        }
    }
    return d->corner_count - d->edge_count + d->face_count == 2; // Euler
}

/// The planes around the members, each once. False: too many.
static bool find_faces(const members *m, draft *d) {
    const field *f = m->field;
    for (int32_t i = 0; i < 4 * m->count; i++) {
        int32_t t = m->list[i / 4], k = i % 4, there = f->neighbours[4 * t + k];
        if (there >= 0 && m->owner[there] == m->owner[t]) {
            continue;
        }
        stn_vec3 p[4];
        for (int32_t c = 0; c < 4; c++) {
            p[c] = stn_vec3_at(f->vertices, f->tetrahedra[4 * t + (k + c) % 4]);
        }
        bool known = false;
        for (int32_t face = 0; face < d->face_count && !known; face++) {
            known = true;
            for (int32_t c = 1; c < 4; c++) {
                known = known && fabs(height_over(d, face, p[c])) <= same_place * d->size;
            }
        }
        if (!known && d->face_count == CELL_FACES) {
            return false;
        }
        if (!known) {
            set_face(d, d->face_count++, p);
        }
    }
    return true;
}

/// Where three planes or more meet. False: the members are not convex, or there are too many.
static bool find_corners(const members *m, draft *d) {
    int32_t vertex[CELL_CORNERS];
    for (int32_t i = 0; i < 4 * m->count; i++) {
        int32_t v = m->field->tetrahedra[4 * m->list[i / 4] + i % 4], known = 0, faces = 0;
        stn_vec3 x = stn_vec3_at(m->field->vertices, v);
        uint32_t on = 0;
        for (int32_t k = 0; k < d->face_count; k++) {
            double height = height_over(d, k, x);
            if (height < -same_place * d->size) {
                return false;
            }
            on |= height <= same_place * d->size ? 1U << k : 0U;
            faces += height <= same_place * d->size;
        }
        while (known < d->corner_count && vertex[known] != v) {
            known++;
        }
        if (faces < 3 || known < d->corner_count) {
            continue;
        }
        if (known == CELL_CORNERS) {
            return false;
        }
        vertex[known] = v;
        d->corner[known] = x;
        d->extent[known] = m->field->extents[v];
        d->on[known] = on;
        d->corner_count++;
    }
    return true;
}

/// The members as one polytope. Returns the one with the largest volume, whose gradient is most exact; -1: they are no
/// polytope, or none that a cell has room for.
static int32_t draft_joined(const members *m, draft *d) {
    const double *x = m->field->vertices;
    stn_aabb box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = 0; i < 4 * m->count; i++) {
        surface_grow(&box, stn_vec3_at(x, m->field->tetrahedra[4 * m->list[i / 4] + i % 4]));
    }
    *d = (draft){.size = stn_vec3_norm(stn_vec3_sub(box.upper, box.lower))};
    if (!find_faces(m, d) || !find_corners(m, d) || !find_edges(d)) {
        return -1;
    }
    // each plane again through those of its corners that span most, so that it is as exact as can be
    stn_vec3 middle = stn_vec3_zero();
    for (int32_t i = 0; i < d->corner_count; i++) {
        middle = stn_vec3_mul_add(middle, 1.0 / d->corner_count, d->corner[i]);
    }
    for (int32_t face = 0; face < d->face_count; face++) {
        double widest = 0.0;
        int32_t own[CELL_CORNERS], count = 0, b = 0, c = 0;
        for (int32_t i = 0; i < d->corner_count; i++) {
            if (d->on[i] >> face & 1U) {
                own[count++] = i;
            }
        }
        for (int32_t i = 1; i < count; i++) {
            for (int32_t j = 1; j < i; j++) {
                stn_vec3 u = stn_vec3_sub(d->corner[own[i]], d->corner[own[0]]);
                double area = stn_vec3_norm(stn_vec3_cross(u, stn_vec3_sub(d->corner[own[j]], d->corner[own[0]])));
                b = area > widest ? own[i] : b;
                c = area > widest ? own[j] : c;
                widest = fmax(widest, area);
            }
        }
        if (widest > 0.0) {
            const stn_vec3 p[4] = {middle, d->corner[own[0]], d->corner[b], d->corner[c]};
            set_face(d, face, p);
        }
    }
    find_size(d);
    int32_t largest = m->list[0];
    double most = 0.0;
    for (int32_t i = 0; i < m->count; i++) {
        const int32_t *v = m->field->tetrahedra + 4 * (size_t)m->list[i];
        double volume =
            fabs(surface_det(stn_vec3_at(x, v[0]), stn_vec3_at(x, v[1]), stn_vec3_at(x, v[2]), stn_vec3_at(x, v[3])));
        largest = volume > most ? m->list[i] : largest;
        most = fmax(most, volume);
    }
    return largest;
}

// --------------------------------------------------------------------------------------------------------- cells

static stn_aabb box_of(const stn_vec3 *corner, int32_t count) {
    stn_aabb box = {corner[0], corner[0]};
    for (int32_t i = 1; i < count; i++) {
        surface_grow(&box, corner[i]);
    }
    return box;
}

/// The cells of a field while they are written.
typedef struct writing {
    const field *field;
    double lowest; // of its extents
    cell_array *to;
    tree_box *boxes;
    int32_t corners, faces, edges; // of the arrays in use
} writing;

/// The next cell, with the gradient of a tetrahedron; drafts of tetrahedra bring no edges of their own.
static void append(writing *w, const draft *d, int32_t tetrahedron, bool flat) {
    tree_box *box = &w->boxes[w->to->count];
    cell *c = &w->to->cells[w->to->count++];
    four_points *corners = w->to->corners + w->corners;
    four_planes *faces = w->to->faces + w->faces;
    c->corners = corners;
    c->faces = faces;
    c->corner_count = d->corner_count;
    c->corner_groups = (d->corner_count + 3) / 4;
    c->face_count = d->face_count;
    for (int32_t k = 0; k < 4 * c->corner_groups; k++) {
        stn_vec3 x = d->corner[k < d->corner_count ? k : d->corner_count - 1];
        corners[k / 4].x[k % 4] = x.x;
        corners[k / 4].y[k % 4] = x.y;
        corners[k / 4].z[k % 4] = x.z;
    }
    for (int32_t k = 0; k < d->face_count; k++) {
        faces[k / 4].x[k % 4] = d->normal[k].x;
        faces[k / 4].y[k % 4] = d->normal[k].y;
        faces[k / 4].z[k % 4] = d->normal[k].z;
        faces[k / 4].at[k % 4] = d->at[k];
    }
    w->corners += c->corner_groups;
    w->faces += (d->face_count + 3) / 4;
    c->edges = tetrahedron_edges;
    c->edge_count = STN_COUNT(tetrahedron_edges);
    if (d->edge_count > 0) {
        c->edges = w->to->edges + w->edges;
        c->edge_count = d->edge_count;
        memcpy(w->to->edges + w->edges, d->edge, (size_t)d->edge_count * sizeof *d->edge);
        w->edges += d->edge_count;
    }
    c->flat = flat;
    c->gradient = w->field->gradients[tetrahedron];
    c->steep = stn_vec3_norm(c->gradient);
    c->offset = w->field->offsets[tetrahedron];
    c->size = d->size;
    // the part of a cell up to a level (tree.h): a point is a mean of its corners; with the share s of those above 0,
    // whose smallest extent is e, and the rest no lower than the field's lowest l, it is no higher than the level only
    // if l + s (e - l) is not
    stn_vec3 low[CELL_CORNERS];
    int32_t lows = 0;
    double least = d->extent[0], above = (double)INFINITY;
    for (int32_t k = 0; k < d->corner_count; k++) {
        least = fmin(least, d->extent[k]);
        if (d->extent[k] <= 0.0) {
            c->low |= 1U << k;
            low[lows++] = d->corner[k];
        } else {
            above = fmin(above, d->extent[k]);
        }
    }
    *box = (tree_box){.full = box_of(d->corner, d->corner_count), .lowest = least};
    box->low = lows > 0 ? box_of(low, lows) : box->full;
    box->rise = lows > 0 ? 1.0 / (above - w->lowest) : 0.0;
    c->rise = box->rise;
}

/// Sorts the tetrahedra by the first one of the cell that each may belong to, its owner: (count) owners, (count + 1)
/// places where those of each owner begin, and (count) tetrahedra, sorted.
static void sort_by_owner(const field *f, bool join, int32_t *owner) {
    int32_t count = f->tetrahedron_count, *start = owner + count, *sorted = start + count + 1;
    stn_union_begin(owner, count);
    for (int32_t i = 0; join && i < 4 * count; i++) {
        int32_t t = i / 4, u = f->neighbours[i];
        if (u >= 0 && stn_vec3_norm(stn_vec3_sub(f->gradients[t], f->gradients[u])) <=
                          same_place * stn_vec3_norm(f->gradients[t])) {
            stn_union_join(owner, t, u);
        }
    }
    memset(start, 0, ((size_t)count + 1) * sizeof *start);
    for (int32_t t = 0; t < count; t++) {
        owner[t] = stn_union_root(owner, t);
        start[owner[t] + 1]++;
    }
    for (int32_t t = 0; t < count; t++) {
        start[t + 1] += start[t];
    }
    for (int32_t t = count - 1; t >= 0; t--) { // `start` moves to the ends, and back
        sorted[--start[owner[t] + 1]] = t;
    }
    for (int32_t t = 0; t < count; t++) {
        start[t] = start[t + 1];
    }
    start[count] = count;
}

stn_status cells_of_field(stn_context *context, const field *f, cell_joining join, cell_array *out, tree_box *boxes,
                          stn_error *err) {
    size_t count = (size_t)f->tetrahedron_count;
    *out = (cell_array){0};
    out->cells = stn_allocate(context, count, sizeof *out->cells);
    out->corners =
        stn_allocate(context, count, sizeof *out->corners); // two groups of a cell are two tetrahedra or more
    out->faces = stn_allocate(context, count, sizeof *out->faces);
    out->edges = stn_allocate(context, 1 + (join != CELL_EACH ? CELL_EDGES * (count / 2) : 0), sizeof *out->edges);
    int32_t *owner = stn_allocate(context, 3 * count + 1, sizeof *owner);
    if (out->cells == NULL || out->corners == NULL || out->faces == NULL || out->edges == NULL || owner == NULL) {
        stn_release(context, owner);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d tetrahedra", (int)f->tetrahedron_count);
    }
    int32_t *start = owner + count, *sorted = start + count + 1;
    sort_by_owner(f, join != CELL_EACH, owner);
    writing w = {.field = f, .to = out, .boxes = boxes};
    for (int32_t v = 0; v < f->vertex_count; v++) {
        w.lowest = fmin(w.lowest, f->extents[v]);
    }
    draft d;
    for (int32_t t = 0; t < f->tetrahedron_count; t++) {
        members m = {f, owner, sorted + start[t], start[t + 1] - start[t]};
        int32_t joined = m.count > 1 ? draft_joined(&m, &d) : -1;
        if (joined >= 0) {
            append(&w, &d, joined, true);
            continue;
        }
        for (int32_t i = 0; i < m.count; i++) {
            const int32_t *v = f->tetrahedra + 4 * (size_t)m.list[i];
            d = (draft){.corner_count = 4, .face_count = 4};
            for (int32_t k = 0; k < 4; k++) {
                d.corner[k] = stn_vec3_at(f->vertices, v[k]);
                d.extent[k] = f->extents[v[k]];
                d.on[k] = 0xfU & ~(1U << k);
            }
            for (int32_t k = 0; k < 4; k++) {
                const stn_vec3 p[4] = {d.corner[k], d.corner[(k + 1) % 4], d.corner[(k + 2) % 4],
                                       d.corner[(k + 3) % 4]};
                set_face(&d, k, p);
            }
            find_size(&d);
            append(&w, &d, m.list[i], join == CELL_ALL_FLAT);
        }
    }
    stn_release(context, owner);
    return STN_OK;
}

void cells_clear(stn_context *context, cell_array *a) {
    stn_release(context, a->cells);
    stn_release(context, a->corners);
    stn_release(context, a->faces);
    stn_release(context, a->edges);
    *a = (cell_array){0};
}
