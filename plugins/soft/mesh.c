// SPDX-License-Identifier: Apache-2.0
// Soft meshes from numbers: checks, orientation, the boundary of tetrahedra, its skin and its chambers.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/soft.h>
#include <stiction/tuples.h>
#include <stiction/union_find.h>

#include "room.h"

/// Face f of a tetrahedron, counter-clockwise seen from outside, is opposite to its node f.
static const int face_nodes[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static const double FLAT = 2e-12; // element/fem refuses half of that

// ---------------------------------------------------------------------------------------------------- geometry

/// 6 V over the cube of the longest edge at the first node.
static double fullness(const double *nodes, const int32_t *tetrahedron) {
    stn_vec3 origin = stn_vec3_at(nodes, tetrahedron[0]), edge[3];
    double longest = 0.0;
    for (int k = 0; k < 3; k++) {
        edge[k] = stn_vec3_sub(stn_vec3_at(nodes, tetrahedron[k + 1]), origin);
        longest = fmax(longest, stn_vec3_norm(edge[k]));
    }
    for (int k = 0; k < 3 && longest > 0.0; k++) {
        edge[k] = stn_vec3_scale(1.0 / longest, edge[k]);
    }
    return stn_vec3_dot(edge[0], stn_vec3_cross(edge[1], edge[2]));
}

/// Twice the area over the product of the edges at the first node.
static double triangle_sine(const double *nodes, const int32_t *triangle) {
    stn_vec3 origin = stn_vec3_at(nodes, triangle[0]), zero = stn_vec3_zero();
    stn_vec3 a = stn_vec3_normalize_or(stn_vec3_sub(stn_vec3_at(nodes, triangle[1]), origin), zero);
    stn_vec3 b = stn_vec3_normalize_or(stn_vec3_sub(stn_vec3_at(nodes, triangle[2]), origin), zero);
    return stn_vec3_norm(stn_vec3_cross(a, b));
}

/// Volume of the cone from `apex` over a triangle; positive when the apex is behind it.
static double cone_volume(const double *nodes, const int32_t *triangle, stn_vec3 apex) {
    stn_vec3 a = stn_vec3_sub(stn_vec3_at(nodes, triangle[0]), apex),
             b = stn_vec3_sub(stn_vec3_at(nodes, triangle[1]), apex);
    stn_vec3 c = stn_vec3_sub(stn_vec3_at(nodes, triangle[2]), apex);
    return stn_vec3_dot(a, stn_vec3_cross(b, c)) / 6.0;
}

/// Enclosed by triangles from `begin` on [m^3].
static double enclosed(const stn_soft_mesh *mesh, const double *nodes, int32_t begin, int32_t end) {
    double volume = 0.0;
    for (int32_t t = begin; t < end; t++) {
        const int32_t *triangle = &mesh->triangles[3 * (size_t)t];
        volume += cone_volume(nodes, triangle, stn_vec3_at(nodes, mesh->triangles[3 * (size_t)begin]));
    }
    return volume;
}

double stn_soft_mesh_volume(const stn_soft_mesh *mesh, const double *nodes) {
    int32_t count = mesh->tetrahedron_count > 0 ? mesh->triangle_count : 0;
    return enclosed(mesh, nodes != NULL ? nodes : mesh->nodes, 0, count);
}

double stn_soft_mesh_chamber_volume(const stn_soft_mesh *mesh, int32_t chamber, const double *nodes) {
    const int32_t *start = &mesh->chamber_start[chamber];
    return -enclosed(mesh, nodes != NULL ? nodes : mesh->nodes, start[0], start[1]);
}

double stn_soft_mesh_area(const stn_soft_mesh *mesh) {
    double area = 0.0;
    for (int32_t t = 0; t < mesh->chamber_start[0]; t++) {
        const int32_t *triangle = &mesh->triangles[3 * (size_t)t];
        stn_vec3 origin = stn_vec3_at(mesh->nodes, triangle[0]);
        stn_vec3 a = stn_vec3_sub(stn_vec3_at(mesh->nodes, triangle[1]), origin);
        stn_vec3 b = stn_vec3_sub(stn_vec3_at(mesh->nodes, triangle[2]), origin);
        area += 0.5 * stn_vec3_norm(stn_vec3_cross(a, b));
    }
    return area;
}

// ------------------------------------------------------------------------------------------------------ being made

/// A mesh while it is made, and memory that goes when it is done.
typedef struct making {
    const stn_soft_mesh_data *data;
    stn_soft_mesh *mesh;
    int32_t width;         // nodes of an element
    int32_t element_count; // tetrahedra, or triangles of a sheet
    int32_t *elements;     // (element_count x width) of the mesh
    int32_t *number;       // (data->node_count) of each node in the mesh; -1: unused
    stn_tuples sides;      // faces of tetrahedra, edges of triangles, by their nodes: neighbours share equal ones
    int32_t *set;          // (element_count, then node_count) for stn_union_*
    int32_t *boundary;     // (sides.count) the sides that one element has alone
    int32_t boundary_count;
} making;

static stn_status out_of_memory(const making *m, stn_error *err) {
    // what the largest moment takes: sides, elements, nodes
    double bytes = (double)m->element_count * (m->width * (m->width + 3.0) + 4.0) * (double)sizeof(int32_t) +
                   (double)m->data->node_count * (3.0 * sizeof(double) + 4.0 * sizeof(int32_t));
    return stn_fail(err, STN_ERR_MEMORY,
                    "out of memory: %d %s and %d nodes need about %.0f MiB while the mesh is made; use fewer cells",
                    m->element_count, m->width == 4 ? "tetrahedra" : "triangles", m->data->node_count,
                    ceil(bytes / 1048576.0));
}

/// "tetrahedron 3 (nodes 1, 2, 5, 7)", numbers of the data.
static const char *describe(const making *m, int32_t element, char text[96]) {
    const int32_t *e = &(m->width == 4 ? m->data->tetrahedra : m->data->triangles)[(size_t)m->width * (size_t)element];
    if (m->width == 4) {
        (void)snprintf(text, 96, "tetrahedron %d (nodes %d, %d, %d, %d)", element, e[0], e[1], e[2], e[3]);
    } else {
        (void)snprintf(text, 96, "triangle %d (nodes %d, %d, %d)", element, e[0], e[1], e[2]);
    }
    return text;
}

static stn_status check_counts(const making *m, stn_error *err) {
    const stn_soft_mesh_data *d = m->data;
    if (d->node_count < 1 || m->element_count < 1 || d->node_count > STN_SOFT_COUNT_MAX ||
        m->element_count > STN_SOFT_COUNT_MAX) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%d nodes and %d %s; each must be 1 to %d", d->node_count,
                        m->element_count, m->width == 4 ? "tetrahedra" : "elements", STN_SOFT_COUNT_MAX);
    }
    return soft_check_room(m->width, m->element_count, err);
}

/// Are all numbers finite, all indices in range, and does each element have a volume or an area?
static stn_status check_elements(const making *m, const int32_t *elements, stn_error *err) {
    const stn_soft_mesh_data *d = m->data;
    char text[96];
    for (int32_t i = 0; i < d->node_count; i++) {
        for (int k = 0; k < 3; k++) {
            double x = d->nodes[3 * (size_t)i + (size_t)k];
            if (!(fabs(x) <= 1e50)) {
                return stn_fail(err, STN_ERR_ARGUMENT, "node %d: %c = %g m must be finite and within 1e50 m", i,
                                "xyz"[k], x);
            }
        }
    }
    for (int32_t e = 0; e < m->element_count; e++) {
        const int32_t *element = &elements[(size_t)m->width * (size_t)e];
        for (int k = 0; k < m->width; k++) {
            if (element[k] < 0 || element[k] >= d->node_count) {
                return stn_fail(err, STN_ERR_ARGUMENT, "%s: there is no node %d (%d nodes, counted from 0)",
                                describe(m, e, text), element[k], d->node_count);
            }
        }
        if (!(m->width == 4 ? fabs(fullness(d->nodes, element)) > FLAT : triangle_sine(d->nodes, element) > 1e-14)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s has no %s; leave it out or move its nodes apart",
                            describe(m, e, text), m->width == 4 ? "volume" : "area");
        }
    }
    return STN_OK;
}

/// Copies what elements use, under new numbers, and turns tetrahedra to positive volume.
static stn_status copy(making *m, const int32_t *elements, stn_error *err) {
    const stn_soft_mesh_data *d = m->data;
    stn_soft_mesh *mesh = m->mesh;
    size_t size = (size_t)m->width * (size_t)m->element_count;
    m->number = stn_allocate(mesh->context, (size_t)d->node_count, sizeof *m->number);
    m->elements = stn_allocate(mesh->context, size, sizeof *m->elements);
    *(m->width == 4 ? &mesh->tetrahedra : &mesh->triangles) = m->elements;
    if (m->number == NULL || m->elements == NULL) {
        return out_of_memory(m, err);
    }
    for (size_t i = 0; i < size; i++) {
        m->number[elements[i]] = 1;
    }
    for (int32_t i = 0; i < d->node_count; i++) {
        m->number[i] = m->number[i] != 0 ? mesh->node_count++ : -1;
    }
    mesh->nodes = stn_allocate(mesh->context, 3 * (size_t)mesh->node_count, sizeof(double));
    mesh->origin = stn_allocate(mesh->context, (size_t)mesh->node_count, sizeof(int32_t));
    if (mesh->nodes == NULL || mesh->origin == NULL) {
        return out_of_memory(m, err);
    }
    for (int32_t i = 0; i < d->node_count; i++) {
        if (m->number[i] >= 0) {
            memcpy(&mesh->nodes[3 * (size_t)m->number[i]], &d->nodes[3 * (size_t)i], 3 * sizeof(double));
            mesh->origin[m->number[i]] = i;
        }
    }
    for (size_t i = 0; i < size; i++) {
        m->elements[i] = m->number[elements[i]];
    }
    return STN_OK;
}

static void tell_unused(const making *m) {
    int32_t unused = m->data->node_count - m->mesh->node_count, first = 0;
    while (unused > 0 && m->number[first] >= 0) {
        first++;
    }
    if (unused > 0) {
        stn_log(m->mesh->context, STN_LOG_WARNING,
                "soft mesh '%s': %d of %d nodes belong to no element and are dropped, the first is node %d",
                m->data->name, unused, m->data->node_count, first);
    }
}

static void turn_positive(const making *m) {
    int32_t turned = 0, first = -1;
    char text[96];
    for (int32_t e = 0; m->width == 4 && e < m->element_count; e++) {
        int32_t *t = &m->elements[4 * (size_t)e];
        if (fullness(m->mesh->nodes, t) < 0.0) {
            int32_t third = t[2];
            t[2] = t[3];
            t[3] = third;
            first = turned++ == 0 ? e : first;
        }
    }
    if (turned > 0) {
        stn_log(m->mesh->context, turned == m->element_count ? STN_LOG_NOTE : STN_LOG_WARNING,
                "soft mesh '%s': %d of %d tetrahedra had negative volume and were turned round, the first is %s",
                m->data->name, turned, m->element_count, describe(m, first, text));
    }
}

// -------------------------------------------------------------------------------------------------------- neighbours

/// Nodes of a side in its element's order; of an edge the third is 0.
static void side_nodes(const making *m, int32_t side, int32_t nodes[3]) {
    const int32_t *e = &m->elements[(size_t)m->width * (size_t)(side / m->width)];
    const int32_t local = side % m->width;
    for (int k = 0; k < 3; k++) {
        nodes[k] = m->width == 4 ? e[face_nodes[local][k]] : (k < 2 ? e[(local + k) % 3] : 0);
    }
}

/// The nodes of a side, ascending.
static const int32_t *side_key(const making *m, int32_t side) {
    return &m->sides.ids[(size_t)m->sides.width * (size_t)side];
}

/// Does it take an even number of exchanges to put the nodes of a side in rising order?
static bool is_even(const making *m, int32_t side) {
    int32_t n[3];
    side_nodes(m, side, n);
    return m->width == 4 ? ((n[0] < n[1]) == (n[1] < n[2])) == (n[0] < n[2]) : n[0] < n[1];
}

static stn_status sort_sides(making *m, stn_error *err) {
    stn_context *context = m->mesh->context;
    stn_status status = (m->width == 4 ? stn_tuples_of_faces : stn_tuples_of_edges)(
        context, m->elements, m->element_count, m->mesh->node_count, &m->sides, err);
    m->boundary = status == STN_OK ? stn_allocate(context, (size_t)m->sides.count, sizeof *m->boundary) : NULL;
    return m->boundary != NULL ? STN_OK : out_of_memory(m, err);
}

/// The node of a tetrahedron opposite to a side, or the third one of a triangle.
static int32_t opposite(const making *m, int32_t side) {
    const int32_t local = m->width == 4 ? side % 4 : (side % 3 + 2) % 3;
    return m->elements[(size_t)m->width * (size_t)(side / m->width) + (size_t)local];
}

/// Elements that share one side: at most two, on its two sides, and not the same element twice.
static stn_status check_neighbours(const making *m, const int32_t *sides, int32_t count, stn_error *err) {
    char one[96], other[96], where[64];
    const int32_t *corner = side_key(m, sides[0]), *origin = m->mesh->origin;
    if (m->width == 4) {
        (void)snprintf(where, sizeof where, "the face of nodes %d, %d, %d", origin[corner[0]], origin[corner[1]],
                       origin[corner[2]]);
    } else {
        (void)snprintf(where, sizeof where, "the edge of nodes %d, %d", origin[corner[0]], origin[corner[1]]);
    }
    for (int32_t i = 1; i < count; i++) {
        for (int32_t k = 0; k < i && k < 8; k++) { // of many the first ones tell enough
            if (opposite(m, sides[i]) == opposite(m, sides[k])) {
                return stn_fail(err, STN_ERR_ARGUMENT, "%s and %s are the same; leave one out",
                                describe(m, sides[k] / m->width, one), describe(m, sides[i] / m->width, other));
            }
        }
    }
    if (count > 2) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "%s belongs to %d elements, %s and %s among them; at most 2 can share it", where, count,
                        describe(m, sides[0] / m->width, one), describe(m, sides[1] / m->width, other));
    }
    if (is_even(m, sides[0]) == is_even(m, sides[1])) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        m->width == 4 ? "%s and %s lie on one side of %s: they overlap"
                                      : "%s and %s run the same way along %s; turn one round",
                        describe(m, sides[0] / m->width, one), describe(m, sides[1] / m->width, other), where);
    }
    return STN_OK;
}

/// Finds the sides that one element has alone, and the pieces.
static stn_status match_sides(making *m, stn_error *err) {
    stn_soft_mesh *mesh = m->mesh;
    int32_t larger = m->element_count > mesh->node_count ? m->element_count : mesh->node_count;
    m->set = stn_allocate(mesh->context, (size_t)larger, sizeof *m->set);
    if (m->set == NULL) {
        return out_of_memory(m, err);
    }
    stn_union_begin(m->set, m->element_count);
    mesh->part_count = m->element_count;
    for (int32_t i = 0, next = 0; i < m->sides.count; i = next) {
        const int32_t *same = &m->sides.order[i];
        next = stn_tuples_end(&m->sides, i);
        if (next == i + 1) {
            m->boundary[m->boundary_count++] = same[0];
            continue;
        }
        stn_status status = check_neighbours(m, same, next - i, err);
        if (status != STN_OK) {
            return status;
        }
        mesh->part_count -= stn_union_join(m->set, same[0] / m->width, same[1] / m->width);
        for (int32_t k = 0; m->width == 3 && k < 2; k++) {
            mesh->across[3 * (same[k] / 3) + (same[k] % 3 + 2) % 3] = opposite(m, same[1 - k]);
        }
    }
    if (mesh->part_count > 1) {
        stn_log(mesh->context, STN_LOG_WARNING,
                "soft mesh '%s': %d pieces share no %s and are held together by nothing but what touches or ties them",
                m->data->name, mesh->part_count, m->width == 4 ? "face" : "edge");
    }
    return STN_OK;
}

// -------------------------------------------------------------------------------------------------- skin and chambers

/// The boundary of tetrahedra as triangles: closed surfaces around material first, then those around hollows.
static stn_status make_boundary(making *m, stn_error *err) {
    stn_soft_mesh *mesh = m->mesh;
    stn_context *context = mesh->context;
    size_t nodes = (size_t)mesh->node_count;
    mesh->triangle_count = m->boundary_count;
    mesh->triangles = stn_allocate(context, 3 * (size_t)mesh->triangle_count, sizeof(int32_t));
    double *volume = stn_allocate(context, nodes, sizeof *volume); // of the surface that is named by a node
    int32_t *chamber = stn_allocate(context, nodes, sizeof *chamber);
    int32_t *next = NULL; // where the next triangle of each chamber goes
    stn_status status = STN_OK;
    if (mesh->triangles == NULL || volume == NULL || chamber == NULL) {
        status = out_of_memory(m, err);
        goto done;
    }
    int32_t corner[3];
    stn_union_begin(m->set, mesh->node_count);
    for (int32_t i = 0; i < m->boundary_count; i++) {
        const int32_t *key = side_key(m, m->boundary[i]);
        (void)stn_union_join(m->set, key[0], key[1]);
        (void)stn_union_join(m->set, key[0], key[2]);
    }
    for (int32_t i = 0; i < m->boundary_count; i++) {
        int32_t root = stn_union_root(m->set, *side_key(m, m->boundary[i]));
        side_nodes(m, m->boundary[i], corner);
        volume[root] += cone_volume(mesh->nodes, corner, stn_vec3_at(mesh->nodes, root));
    }
    // a surface is named by its smallest node, which puts the chambers in their order
    for (int32_t i = 0; i < mesh->node_count; i++) {
        chamber[i] = volume[i] < 0.0 ? mesh->chamber_count++ : -1;
    }
    mesh->chamber_start = stn_allocate(context, (size_t)mesh->chamber_count + 1, sizeof(int32_t));
    next = stn_allocate(context, (size_t)mesh->chamber_count + 1, sizeof *next);
    if (mesh->chamber_start == NULL || next == NULL) {
        status = out_of_memory(m, err);
        goto done;
    }
    int32_t *start = mesh->chamber_start, skin = 0;
    for (int32_t i = 0; i < m->boundary_count; i++) {
        int32_t c = chamber[stn_union_root(m->set, *side_key(m, m->boundary[i]))];
        start[c + 1]++; // of the skin start[0]
    }
    for (int32_t c = 1; c <= mesh->chamber_count; c++) {
        start[c] += start[c - 1];
    }
    memcpy(next, start, (size_t)mesh->chamber_count * sizeof *next);
    for (int32_t i = 0; i < m->boundary_count; i++) {
        int32_t c = chamber[stn_union_root(m->set, *side_key(m, m->boundary[i]))], place = c < 0 ? skin++ : next[c]++;
        side_nodes(m, m->boundary[i], &mesh->triangles[3 * (size_t)place]);
    }
done:
    stn_release(context, volume);
    stn_release(context, chamber);
    stn_release(context, next);
    return status;
}

/// What a sheet has besides its triangles, before its edges are matched.
static stn_status begin_sheet(making *m, stn_error *err) {
    stn_soft_mesh *mesh = m->mesh;
    size_t size = 3 * (size_t)m->element_count;
    mesh->triangle_count = m->element_count;
    mesh->chamber_start = stn_allocate(mesh->context, 1, sizeof(int32_t));
    mesh->across = stn_allocate(mesh->context, size, sizeof(int32_t));
    if (mesh->chamber_start == NULL || mesh->across == NULL) {
        return out_of_memory(m, err);
    }
    mesh->chamber_start[0] = mesh->triangle_count;
    memcpy(mesh->across, mesh->triangles, size * sizeof(int32_t));
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------------- public

stn_status stn_soft_mesh_create(stn_context *context, const stn_soft_mesh_data *data, stn_soft_mesh **out,
                                stn_error *err) {
    *out = NULL;
    bool solid = data->tetrahedron_count > 0;
    const int32_t *elements = solid ? data->tetrahedra : data->triangles;
    making m = {.data = data,
                .mesh = stn_allocate(context, 1, sizeof *m.mesh),
                .width = solid ? 4 : 3,
                .element_count = solid ? data->tetrahedron_count : data->triangle_count};
    stn_status status = m.mesh != NULL ? STN_OK : out_of_memory(&m, err);
    if (status == STN_OK) {
        m.mesh->context = context;
        status = check_counts(&m, err);
    }
    if (status == STN_OK) {
        status = check_elements(&m, elements, err);
    }
    if (status == STN_OK) {
        m.mesh->tetrahedron_count = data->tetrahedron_count;
        status = copy(&m, elements, err);
    }
    if (status == STN_OK) {
        turn_positive(&m);
        status = sort_sides(&m, err);
    }
    if (status == STN_OK && !solid) {
        status = begin_sheet(&m, err);
    }
    if (status == STN_OK) {
        status = match_sides(&m, err);
    }
    if (status == STN_OK && solid) {
        status = make_boundary(&m, err);
    }
    if (status == STN_OK) {
        tell_unused(&m);
        *out = m.mesh;
    } else {
        stn_soft_mesh_destroy(m.mesh);
        stn_error_prefix(err, "soft mesh '%s'", data->name);
    }
    stn_release(context, m.number);
    stn_tuples_clear(&m.sides);
    stn_release(context, m.set);
    stn_release(context, m.boundary);
    return status;
}

void stn_soft_mesh_destroy(stn_soft_mesh *mesh) {
    if (mesh == NULL) {
        return;
    }
    stn_context *context = mesh->context;
    stn_release(context, mesh->nodes);
    stn_release(context, mesh->origin);
    stn_release(context, mesh->tetrahedra);
    stn_release(context, mesh->triangles);
    stn_release(context, mesh->chamber_start);
    stn_release(context, mesh->across);
    stn_release(context, mesh);
}

stn_status stn_soft_mesh_from(const stn_mesh *mesh, stn_context *context, const char *name, stn_soft_mesh **out,
                              stn_error *err) {
    stn_mesh_finding finding;
    for (int32_t i = 0; mesh->tetrahedron_count > 0 && stn_mesh_finding_of(mesh, i, &finding); i++) {
        stn_log(context, finding.warning ? STN_LOG_WARNING : STN_LOG_NOTE, "soft mesh '%s': %s", name, finding.text);
    }
    const stn_soft_mesh_data data = {.name = name,
                                     .node_count = mesh->vertex_count,
                                     .tetrahedron_count = mesh->tetrahedron_count,
                                     .triangle_count = mesh->triangle_count,
                                     .nodes = mesh->vertices,
                                     .tetrahedra = mesh->tetrahedra,
                                     .triangles = mesh->triangles};
    return stn_soft_mesh_create(context, &data, out, err);
}
