// SPDX-License-Identifier: Apache-2.0
// Tetrahedra become a solid: turned positive, repeated and flat ones dropped, faces paired, the boundary found.
//
// A flat tetrahedron may go when nothing is torn by that: of the faces which its cluster (flat ones that share faces)
// bares, all look to the same side, as where a mesher closed a face of the surface with one. Bared faces that look at
// each other would be the two sides of a slit inside.
#include <stiction/tuples.h>
#include <stiction/union_find.h>

#include "raw_mesh.h"

typedef struct solid {
    raw_mesh *mesh;
    stn_solid_facts *facts;
    int32_t *given;   // (tetrahedron_count) its number as it was given, counted from 0
    bool *flat;       // (tetrahedron_count) to be dropped
    stn_tuples faces; // face i is that of tetrahedron i / 4 opposite to its corner i % 4
    stn_error *err;
} solid;

/// Corners of the face opposite to each corner of a positive tetrahedron, counter-clockwise seen from outside.
static const int32_t face_corner[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static void face_of(const raw_mesh *mesh, int32_t face, int32_t corners[3]) {
    for (int32_t k = 0; k < 3; k++) {
        corners[k] = mesh->tetrahedra[4 * (size_t)(face / 4) + (size_t)face_corner[face % 4][k]];
    }
}

static stn_vec3 face_normal(const raw_mesh *mesh, int32_t face) {
    int32_t c[3];
    face_of(mesh, face, c);
    stn_vec3 a = stn_vec3_at(mesh->vertices, c[0]);
    return stn_vec3_cross(stn_vec3_sub(stn_vec3_at(mesh->vertices, c[1]), a),
                          stn_vec3_sub(stn_vec3_at(mesh->vertices, c[2]), a));
}

static bool swap_if_falling(int32_t *a, int32_t *b) {
    int32_t first = *a;
    bool falling = first > *b;
    *a = falling ? *b : first;
    *b = falling ? first : *b;
    return falling;
}

/// Brings the corners into rising order; true when that turned them round.
static bool rise(int32_t corners[3]) {
    bool odd = swap_if_falling(&corners[0], &corners[1]);
    odd ^= swap_if_falling(&corners[1], &corners[2]);
    return odd ^ swap_if_falling(&corners[0], &corners[1]);
}

// -------------------------------------------------------------------------------------------------------- volume

/// Six times the volume over the product of three edges: 0 for a flat one, at most 1.
static double fullness(const stn_vec3 edge[3], stn_vec3 stretch) {
    stn_vec3 e[3];
    double size = 1.0;
    for (int32_t k = 0; k < 3; k++) {
        e[k] = stn_vec3_make(edge[k].x * stretch.x, edge[k].y * stretch.y, edge[k].z * stretch.z);
        size *= stn_vec3_norm(e[k]);
    }
    double determinant = stn_vec3_dot(e[0], stn_vec3_cross(e[1], e[2]));
    return size > 0.0 ? determinant / size : 0.0;
}

/// 1 for a regular tetrahedron, 0 for a flat one.
static double quality(const stn_vec3 edge[3]) {
    double longest = 0.0, squares = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        longest = fmax(longest, stn_vec3_norm(edge[k]));
    }
    if (!(longest > 0.0)) {
        return 0.0;
    }
    stn_vec3 e[3];
    for (int32_t k = 0; k < 3; k++) {
        e[k] = stn_vec3_scale(1.0 / longest, edge[k]); // no power of a length leaves the range of numbers
    }
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 side = stn_vec3_sub(e[(k + 1) % 3], e[k]);
        squares += stn_vec3_dot(e[k], e[k]) + stn_vec3_dot(side, side);
    }
    double volume = stn_vec3_dot(e[0], stn_vec3_cross(e[1], e[2])) / 6.0;
    return 12.0 * cbrt(9.0 * volume * volume) / squares;
}

static double inverse_or_one(double x) {
    return x > 0.0 ? 1.0 / x : 1.0;
}

/// Turns each one positive and tells which are flat: what rounding leaves of no volume, and slivers, which are flat
/// also when the box of the mesh is stretched to a cube.
static int32_t find_flat(solid *s) {
    raw_mesh *mesh = s->mesh;
    stn_aabb box = stn_points_box(mesh->vertices, mesh->vertex_count);
    stn_vec3 size = stn_vec3_sub(box.upper, box.lower), one = stn_vec3_make(1.0, 1.0, 1.0);
    stn_vec3 cube = stn_vec3_make(inverse_or_one(size.x), inverse_or_one(size.y), inverse_or_one(size.z));
    int32_t count = 0;
    for (int32_t i = 0; i < mesh->tetrahedron_count; i++) {
        int32_t *corner = mesh->tetrahedra + 4 * (size_t)i;
        stn_vec3 origin = stn_vec3_at(mesh->vertices, corner[0]), edge[3];
        for (int32_t k = 0; k < 3; k++) {
            edge[k] = stn_vec3_sub(stn_vec3_at(mesh->vertices, corner[k + 1]), origin);
        }
        double full = fullness(edge, one);
        s->flat[i] = !(fabs(full) > 1e-14) || !(fabs(fullness(edge, cube)) > 1e-9);
        count += s->flat[i];
        if (full < 0.0) {
            int32_t swap = corner[2];
            corner[2] = corner[3];
            corner[3] = swap;
            s->facts->inverted_count += !s->flat[i];
        }
        if (!s->flat[i]) {
            s->facts->least_quality = fmin(s->facts->least_quality, quality(edge));
        }
    }
    return count;
}

// ---------------------------------------------------------------------------------------------------- duplicates

/// Keeps the tetrahedra that are not marked, in their order.
static void drop_marked(solid *s, const bool *marked) {
    raw_mesh *mesh = s->mesh;
    int32_t kept = 0;
    for (int32_t i = 0; i < mesh->tetrahedron_count; i++) {
        if (!marked[i]) {
            for (size_t k = 0; k < 4; k++) {
                mesh->tetrahedra[4 * (size_t)kept + k] = mesh->tetrahedra[4 * (size_t)i + k];
            }
            s->given[kept] = s->given[i];
            kept++;
        }
    }
    mesh->tetrahedron_count = kept;
}

/// Of tetrahedra with the same corners the first stays.
static stn_status drop_duplicates(solid *s) {
    raw_mesh *mesh = s->mesh;
    stn_tuples corners;
    stn_status status = stn_tuples_create(mesh->context, 4, mesh->tetrahedron_count, &corners, s->err);
    for (int32_t i = 0; i < mesh->tetrahedron_count && status == STN_OK; i++) {
        int32_t *id = corners.ids + 4 * (size_t)i;
        for (size_t k = 0; k < 4; k++) {
            id[k] = mesh->tetrahedra[4 * (size_t)i + k];
        }
        swap_if_falling(&id[0], &id[1]); // a network that sorts four
        swap_if_falling(&id[2], &id[3]);
        swap_if_falling(&id[0], &id[2]);
        swap_if_falling(&id[1], &id[3]);
        swap_if_falling(&id[1], &id[2]);
    }
    if (status == STN_OK) {
        status = stn_tuples_sort(&corners, mesh->vertex_count, s->err);
    }
    if (status == STN_OK) {
        bool *again = s->flat; // not in use yet
        for (int32_t i = 0, end; i < corners.count; i = end) {
            end = stn_tuples_end(&corners, i);
            for (int32_t k = i; k < end; k++) {
                again[corners.order[k]] = k > i;
                s->facts->duplicate_count += k > i;
            }
        }
        if (s->facts->duplicate_count > 0) {
            drop_marked(s, again);
        }
    }
    stn_tuples_clear(&corners);
    return status;
}

// --------------------------------------------------------------------------------------------------------- faces

/// The faces at [from, end) that are not of flat tetrahedra: at most two, which see it from different sides.
static stn_status sides_of(const solid *s, int32_t from, int32_t end, int32_t side[2], int32_t *count) {
    *count = 0;
    for (int32_t i = from; i < end; i++) {
        int32_t face = s->faces.order[i];
        if (s->flat[face / 4]) {
            continue;
        }
        int32_t first[3], second[3];
        if (*count > 0) {
            face_of(s->mesh, side[0], first);
            face_of(s->mesh, face, second);
        }
        if (*count == 2 || (*count == 1 && rise(first) == rise(second))) {
            return stn_fail(s->err, STN_ERR_ARGUMENT,
                            "mesh: tetrahedra %d and %d (counted from 0) lie on the same side of a face that they "
                            "share: they overlap; mesh the solid anew",
                            s->given[side[0] / 4], s->given[face / 4]);
        }
        side[(*count)++] = face;
    }
    return STN_OK;
}

/// Writes the triangles that have a solid on one side alone, when there is room for them; counts them and the parts.
static stn_status collect_boundary(const solid *s, int32_t *triangles, int32_t *count) {
    int32_t *part = stn_allocate(s->mesh->context, (size_t)s->mesh->tetrahedron_count, sizeof *part);
    stn_status status = STN_OK;
    *count = 0;
    if (part == NULL) {
        return stn_fail(s->err, STN_ERR_MEMORY, "mesh: out of memory for its parts");
    }
    stn_union_begin(part, s->mesh->tetrahedron_count);
    for (int32_t i = 0, end; i < s->faces.count && status == STN_OK; i = end) {
        int32_t side[2] = {0}, sides = 0;
        end = stn_tuples_end(&s->faces, i);
        status = sides_of(s, i, end, side, &sides);
        if (status == STN_OK && sides == 2) {
            stn_union_join(part, side[0] / 4, side[1] / 4);
        }
        if (status == STN_OK && sides == 1) {
            if (triangles != NULL) {
                face_of(s->mesh, side[0], triangles + 3 * (size_t)*count);
            }
            ++*count;
        }
    }
    s->facts->part_count = 0;
    for (int32_t i = 0; i < s->mesh->tetrahedron_count && status == STN_OK; i++) {
        s->facts->part_count += !s->flat[i] && stn_union_root(part, i) == i;
    }
    stn_release(s->mesh->context, part);
    return status;
}

// -------------------------------------------------------------------------------------------- dropping flat ones

/// The faces that a cluster bares, flat tetrahedra that share faces, must look to one side.
static stn_status check_flat(const solid *s) {
    stn_status status = STN_OK;
    int32_t count = s->mesh->tetrahedron_count;
    int32_t *cluster = stn_allocate(s->mesh->context, (size_t)count, sizeof *cluster);
    int32_t *first_bared = stn_allocate(s->mesh->context, (size_t)count, sizeof *first_bared);
    if (cluster == NULL || first_bared == NULL) {
        stn_release(s->mesh->context, first_bared);
        stn_release(s->mesh->context, cluster);
        return stn_fail(s->err, STN_ERR_MEMORY, "mesh: out of memory for its flat tetrahedra");
    }
    stn_union_begin(cluster, count);
    for (int32_t i = 0; i < count; i++) {
        first_bared[i] = -1;
    }
    for (int32_t i = 0, end; i < s->faces.count; i = end) {
        int32_t first = -1;
        end = stn_tuples_end(&s->faces, i);
        for (int32_t k = i; k < end; k++) {
            int32_t tetrahedron = s->faces.order[k] / 4;
            if (s->flat[tetrahedron]) {
                first = first < 0 ? tetrahedron : first;
                stn_union_join(cluster, first, tetrahedron);
            }
        }
    }
    for (int32_t i = 0, end; i < s->faces.count && status == STN_OK; i = end) {
        int32_t side[2] = {0}, sides = 0, flat = -1;
        end = stn_tuples_end(&s->faces, i);
        status = sides_of(s, i, end, side, &sides);
        for (int32_t k = i; k < end; k++) {
            flat = s->flat[s->faces.order[k] / 4] ? s->faces.order[k] / 4 : flat;
        }
        if (status != STN_OK || sides != 1 || flat < 0) {
            continue;
        }
        int32_t *first = &first_bared[stn_union_root(cluster, flat)];
        if (*first < 0) {
            *first = side[0];
        } else if (!(stn_vec3_dot(face_normal(s->mesh, *first), face_normal(s->mesh, side[0])) > 0.0)) {
            status = stn_fail(s->err, STN_ERR_ARGUMENT,
                              "mesh: tetrahedron %d (counted from 0) has no volume, and dropping it would tear the "
                              "solid open; mesh the solid anew",
                              s->given[flat]);
        }
    }
    stn_release(s->mesh->context, first_bared);
    stn_release(s->mesh->context, cluster);
    return status;
}

// ----------------------------------------------------------------------------------------------- pressure fields
// Pressure fields that were given, one extent for each vertex.

bool mesh_extents_agree(double a, double b) {
    return isnan(a) || isnan(b) || fabs(a - b) <= MESH_EXTENT_EXACTNESS;
}

/// Makes the extents 0 on the surface, and counts where they were not. STN_ERR_ARGUMENT when nothing is left inside.
static stn_status finish_extents(raw_mesh *mesh, int32_t *raised_count, stn_error *err) {
    double largest = 0.0;
    *raised_count = 0;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        mesh->extents[i] = fmin(fmax(mesh->extents[i], 0.0), 1.0); // of unused vertices, which go, NAN becomes 0
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        double *extent = &mesh->extents[mesh->triangles[i]];
        *raised_count += *extent > MESH_EXTENT_EXACTNESS;
        *extent = 0.0;
    }
    for (size_t i = 0; i < 4 * (size_t)mesh->tetrahedron_count; i++) {
        largest = fmax(largest, mesh->extents[mesh->tetrahedra[i]]);
    }
    if (!(largest > 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "mesh: its field is 0 at all vertices inside: give extents up to 1, or none");
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------ in order

stn_status mesh_make_solid(raw_mesh *mesh, stn_solid_facts *facts, stn_error *err) {
    int32_t boundary = 0, *triangles = NULL;
    size_t count = (size_t)mesh->tetrahedron_count;
    solid s = {.mesh = mesh, .facts = facts, .err = err};
    s.given = stn_allocate(mesh->context, count, sizeof *s.given);
    s.flat = stn_allocate(mesh->context, count, sizeof *s.flat);
    *facts = (stn_solid_facts){.curved_count = facts->curved_count, .least_quality = 1.0};
    stn_status status = STN_OK;
    if (s.given == NULL || s.flat == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its tetrahedra");
    }
    for (size_t i = 0; i < count && status == STN_OK; i++) {
        s.given[i] = (int32_t)i;
    }
    if (status == STN_OK) {
        status = drop_duplicates(&s);
    }
    if (status == STN_OK) {
        facts->flat_count = find_flat(&s);
        status = facts->flat_count < mesh->tetrahedron_count
                     ? stn_tuples_of_faces(mesh->context, mesh->tetrahedra, mesh->tetrahedron_count, mesh->vertex_count,
                                           &s.faces, err)
                     : stn_fail(err, STN_ERR_ARGUMENT, "mesh: none of its %d tetrahedra has a volume",
                                mesh->tetrahedron_count);
    }
    if (status == STN_OK && facts->flat_count > 0) {
        status = check_flat(&s);
    }
    if (status == STN_OK) {
        status = collect_boundary(&s, NULL, &boundary);
    }
    if (status == STN_OK) {
        triangles = stn_allocate(mesh->context, 3 * (size_t)boundary, sizeof *triangles);
        status = triangles != NULL ? collect_boundary(&s, triangles, &boundary)
                                   : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its boundary");
    }
    if (status == STN_OK) {
        stn_release(mesh->context, mesh->triangles);
        mesh->triangles = triangles;
        mesh->triangle_count = boundary;
        triangles = NULL;
        if (facts->flat_count > 0) {
            drop_marked(&s, s.flat);
        }
        status = mesh_count_touching(mesh, &facts->touching_count, err);
    }
    if (status == STN_OK && mesh->extents != NULL) {
        status = finish_extents(mesh, &facts->raised_count, err);
    }
    stn_release(mesh->context, triangles);
    stn_tuples_clear(&s.faces);
    stn_release(mesh->context, s.given);
    stn_release(mesh->context, s.flat);
    return status;
}
