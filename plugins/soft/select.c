// SPDX-License-Identifier: Apache-2.0
// Sets of nodes of a soft mesh: by region, box, plane or number.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/soft.h>

/// The box of a mesh's nodes, and its largest extent.
typedef struct extent {
    double lower[3], upper[3], largest;
} extent;

static extent extent_of(const stn_soft_mesh *mesh) {
    extent e;
    for (int k = 0; k < 3; k++) {
        e.lower[k] = INFINITY;
        e.upper[k] = -INFINITY;
    }
    for (int32_t i = 0; i < mesh->node_count; i++) {
        for (int k = 0; k < 3; k++) {
            e.lower[k] = fmin(e.lower[k], mesh->nodes[3 * (size_t)i + (size_t)k]);
            e.upper[k] = fmax(e.upper[k], mesh->nodes[3 * (size_t)i + (size_t)k]);
        }
    }
    e.largest = fmax(e.upper[0] - e.lower[0], fmax(e.upper[1] - e.lower[1], e.upper[2] - e.lower[2]));
    return e;
}

static bool is_in_box(const double *x, const double *lower, const double *upper, double slack) {
    for (int k = 0; k < 3; k++) {
        if (!(x[k] >= lower[k] - slack && x[k] <= upper[k] + slack)) {
            return false;
        }
    }
    return true;
}

static void mark_box(const stn_soft_mesh *mesh, const double *lower, const double *upper, double slack, int32_t *mark) {
    for (int32_t i = 0; i < mesh->node_count; i++) {
        mark[i] |= is_in_box(&mesh->nodes[3 * (size_t)i], lower, upper, slack);
    }
}

static void mark_triangles(const stn_soft_mesh *mesh, int32_t begin, int32_t end, int32_t *mark) {
    for (size_t i = 3 * (size_t)begin; i < 3 * (size_t)end; i++) {
        mark[mesh->triangles[i]] = 1;
    }
}

/// One of "x_min" to "z_max": axis and end; false: another name.
static bool read_side(const char *name, int *axis, bool *high) {
    if (strlen(name) != 5 || name[0] < 'x' || name[0] > 'z') {
        return false;
    }
    *axis = name[0] - 'x';
    *high = strcmp(name + 1, "_max") == 0;
    return *high || strcmp(name + 1, "_min") == 0;
}

static bool is_line(const stn_soft_mesh *mesh) {
    return mesh->tetrahedron_count == 0 && mesh->triangle_count == 0;
}

static stn_status refuse_region(const stn_soft_mesh *mesh, const char *name, stn_error *err) {
    static const char *const names[] = {"all",   "x_min",   "x_max",    "y_min", "y_max", "z_min",
                                        "z_max", "surface", "chamber1", "start", "end"};
    const bool line = is_line(mesh);
    const int32_t first = line ? 9 : 7, count = line || mesh->chamber_count > 0 ? 2 : 1; // of those that not all have
    const char *known[STN_COUNT(names)];
    memcpy(known, names, 7 * sizeof *known);
    memcpy(known + 7, names + first, (size_t)count * sizeof *known);
    const char *near = stn_suggest(name, known, 7 + count);
    char chambers[64] = "";
    if (mesh->chamber_count > 0) {
        (void)snprintf(chambers, sizeof chambers, ", chamber1 to chamber%d", mesh->chamber_count);
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "there is no region '%s'%s%s%s; there are all, %s, x_min to z_max%s", name,
                    near != NULL ? ", did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "",
                    line ? "start, end" : "surface", chambers);
}

static stn_status mark_region(const stn_soft_mesh *mesh, const char *name, int32_t *mark, stn_error *err) {
    const extent e = extent_of(mesh);
    int axis = 0, digits = 0;
    bool high = false;
    long chamber = 0;
    if (name == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a region has no name");
    }
    if (strcmp(name, "all") == 0) {
        mark_box(mesh, e.lower, e.upper, 0.0, mark);
    } else if (is_line(mesh) && (strcmp(name, "start") == 0 || strcmp(name, "end") == 0)) {
        mark[name[0] == 's' ? 0 : mesh->node_count - 1] = 1;
    } else if (!is_line(mesh) && strcmp(name, "surface") == 0) {
        mark_triangles(mesh, 0, mesh->chamber_start[0], mark);
    } else if (read_side(name, &axis, &high)) {
        extent side = e;
        *(high ? &side.lower[axis] : &side.upper[axis]) = high ? e.upper[axis] : e.lower[axis];
        mark_box(mesh, side.lower, side.upper, 1e-6 * e.largest, mark);
    } else if (sscanf(name, "chamber%9ld%n", &chamber, &digits) == 1 && name[digits] == '\0' && chamber >= 1 &&
               chamber <= mesh->chamber_count && name[7] != '0' && name[7] != '+') {
        mark_triangles(mesh, mesh->chamber_start[chamber - 1], mesh->chamber_start[chamber], mark);
    } else {
        return refuse_region(mesh, name, err);
    }
    return STN_OK;
}

static stn_status mark_nodes(const stn_soft_mesh *mesh, const stn_soft_selector *s, int32_t *mark, stn_error *err) {
    const double slack = 1e-9 * extent_of(mesh).largest;
    const double lower[3] = {s->lower.x, s->lower.y, s->lower.z}, upper[3] = {s->upper.x, s->upper.y, s->upper.z};
    double length = stn_vec3_norm(s->normal);
    switch (s->where) {
    case STN_SOFT_IN_REGION:
        return mark_region(mesh, s->region, mark, err);
    case STN_SOFT_IN_BOX:
        for (int k = 0; k < 3; k++) {
            if (!(lower[k] <= upper[k])) {
                return stn_fail(err, STN_ERR_ARGUMENT,
                                "box: from %g m to %g m along %c is empty; give the smaller first", lower[k], upper[k],
                                "xyz"[k]);
            }
        }
        mark_box(mesh, lower, upper, slack, mark);
        return STN_OK;
    case STN_SOFT_BEYOND_PLANE:
        if (!(length > 0.0) || !isfinite(length) || !isfinite(s->offset)) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "plane: normal (%g, %g, %g) and offset %g m must be finite, the normal not 0", s->normal.x,
                            s->normal.y, s->normal.z, s->offset);
        }
        for (int32_t i = 0; i < mesh->node_count; i++) {
            const double *x = &mesh->nodes[3 * (size_t)i];
            double height = (s->normal.x * x[0] + s->normal.y * x[1] + s->normal.z * x[2]) / length;
            mark[i] |= height >= s->offset - slack;
        }
        return STN_OK;
    case STN_SOFT_LISTED:
        for (int32_t i = 0; i < s->node_count; i++) {
            if (s->listed[i] < 0 || s->listed[i] >= mesh->node_count) {
                return stn_fail(err, STN_ERR_ARGUMENT, "there is no node %d; there are %d, counted from 0",
                                s->listed[i], mesh->node_count);
            }
            mark[s->listed[i]] = 1;
        }
        return STN_OK;
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "there is no selector of kind %d", (int)s->where);
}

static const char *describe(const stn_soft_selector *s, char text[128]) {
    switch (s->where) {
    case STN_SOFT_IN_REGION:
        (void)snprintf(text, 128, "region '%.64s'", s->region);
        break;
    case STN_SOFT_IN_BOX:
        (void)snprintf(text, 128, "the box from (%g, %g, %g) m to (%g, %g, %g) m", s->lower.x, s->lower.y, s->lower.z,
                       s->upper.x, s->upper.y, s->upper.z);
        break;
    case STN_SOFT_BEYOND_PLANE:
        (void)snprintf(text, 128, "the plane with normal (%g, %g, %g) and offset %g m", s->normal.x, s->normal.y,
                       s->normal.z, s->offset);
        break;
    case STN_SOFT_LISTED:
        (void)snprintf(text, 128, "an empty list");
        break;
    }
    return text;
}

stn_status stn_soft_mesh_select(const stn_soft_mesh *mesh, int32_t selector_count, const stn_soft_selector *selectors,
                                int32_t *nodes, int32_t *count, stn_error *err) {
    size_t size = (size_t)mesh->node_count;
    int32_t *all = stn_allocate(mesh->context, 2 * size, sizeof *all), *one = all + size, total = 0;
    stn_status status =
        all != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory for %d nodes", mesh->node_count);
    for (int32_t i = 0; i < selector_count && status == STN_OK; i++) {
        memset(one, 0, size * sizeof *one);
        status = mark_nodes(mesh, &selectors[i], one, err);
        bool some = false;
        for (size_t k = 0; k < size && status == STN_OK; k++) {
            some = some || one[k] != 0;
            all[k] |= one[k];
        }
        if (status == STN_OK && !some) {
            const extent e = extent_of(mesh);
            char text[128];
            status = stn_fail(err, STN_ERR_ARGUMENT,
                              "%s has none of the %d nodes, which lie in x %g to %g m, y %g to %g m, z %g to %g m",
                              describe(&selectors[i], text), mesh->node_count, e.lower[0], e.upper[0], e.lower[1],
                              e.upper[1], e.lower[2], e.upper[2]);
        }
    }
    for (int32_t k = 0; k < mesh->node_count && status == STN_OK; k++) {
        if (all[k] != 0) {
            nodes[total++] = k;
        }
    }
    *count = status == STN_OK ? total : *count;
    stn_release(mesh->context, all);
    return status;
}
