// SPDX-License-Identifier: Apache-2.0
// Cables in a model: a row of frames at the nodes of a line, a capsule on each, elements between neighbours, and nodes
// that links hold. All that can be wrong is looked at before the first is added.
#include <math.h>
#include <string.h>

#include <stiction/soft.h>

#include "held.h"

/// What is made ready before anything is added. n nodes.
typedef struct parts {
    stn_instance *element;
    stn_setting *settings;    // those of the element, and its radius
    double *length;           // (n + 1) of the segment before each node, 0 before the first and after the last
    double *position, *rest;  // (3 n)
    double *orientation;      // (4 n) x along the line
    double *rest_orientation; // (4 n) of a straight one: identities
    double *mass, *inertia;   // (n), (3 n)
    int32_t *index;           // of the elements
    soft_held held;
} parts;

static void release(stn_context *context, parts *p) {
    stn_instance_destroy(p->element);
    stn_release(context, p->settings);
    stn_release(context, p->length);
    stn_release(context, p->position);
    stn_release(context, p->rest);
    stn_release(context, p->orientation);
    stn_release(context, p->rest_orientation);
    stn_release(context, p->mass);
    stn_release(context, p->inertia);
    stn_release(context, p->index);
    soft_held_release(context, &p->held);
}

static stn_status make_room(stn_context *context, const stn_soft_cable_spec *spec, parts *p, stn_error *err) {
    const size_t n = (size_t)spec->mesh->node_count;
    p->settings = stn_allocate(context, (size_t)spec->element.setting_count + 1, sizeof *p->settings);
    p->length = stn_allocate(context, n + 1, sizeof(double));
    p->position = stn_allocate(context, 3 * n, sizeof(double));
    p->rest = stn_allocate(context, 3 * n, sizeof(double));
    p->orientation = stn_allocate(context, 4 * n, sizeof(double));
    p->rest_orientation = stn_allocate(context, 4 * n, sizeof(double));
    p->mass = stn_allocate(context, n, sizeof(double));
    p->inertia = stn_allocate(context, 3 * n, sizeof(double));
    p->index = stn_allocate(context, 2 * n, sizeof(int32_t));
    const bool room = p->settings != NULL && p->length != NULL && p->position != NULL && p->rest != NULL &&
                      p->orientation != NULL && p->rest_orientation != NULL && p->mass != NULL && p->inertia != NULL &&
                      p->index != NULL;
    return room ? STN_OK
                : stn_fail(err, STN_ERR_MEMORY, "out of memory for %d nodes and %d attachments", spec->mesh->node_count,
                           spec->attachment_count);
}

static stn_status check(const stn_soft_cable_spec *spec, stn_error *err) {
    const bool weighed = !isnan(spec->mass);
    const double value = weighed ? spec->mass : spec->density;
    if (spec->mesh->tetrahedron_count > 0 || spec->mesh->triangle_count > 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "its mesh has %d triangles; a cable needs a line of nodes",
                        spec->mesh->triangle_count);
    }
    if (!(spec->radius > 0.0 && spec->radius <= 1e50)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "radius = %g m must be > 0 and finite", spec->radius);
    }
    if (weighed && !isnan(spec->density)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "density = %g kg/m^3 and mass = %g kg say the same; give one of them",
                        spec->density, spec->mass);
    }
    if (!(value > 0.0 && value <= 1e50)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s = %g %s must be > 0 and finite", weighed ? "mass" : "density", value,
                        weighed ? "kg" : "kg/m^3");
    }
    return STN_OK;
}

static stn_status make_elements(stn_context *context, const stn_soft_cable_spec *spec, parts *p, stn_error *err) {
    const char *id = spec->element.id != NULL ? spec->element.id : "cable";
    const int32_t count = spec->element.setting_count;
    for (int32_t i = 0; i < count; i++) {
        p->settings[i] = spec->element.settings[i];
    }
    p->settings[count] = (stn_setting){.name = "radius", .form = STN_SETTING_NUMBER, .number = spec->radius};
    stn_status status = stn_instance_create(context, STN_KIND_ELEMENT, id, p->settings, count + 1, &p->element, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_element_ops *ops = p->element->desc->ops.element;
    if (ops->nodes_per_element != 2 || ops->node_type != STN_NODE_FRAME) {
        return stn_fail(err, STN_ERR_ARGUMENT, "element '%s' joins %d %s, a cable needs one of 2 frames", id,
                        ops->nodes_per_element, ops->node_type == STN_NODE_FRAME ? "frames" : "points");
    }
    for (int32_t i = 0; i < 2 * (spec->mesh->node_count - 1); i++) {
        p->index[i] = (i + 1) / 2;
    }
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------------------- nodes

static void put(double *x, int32_t i, stn_vec3 v) {
    memcpy(&x[3 * (size_t)i], (const double[3]){v.x, v.y, v.z}, 3 * sizeof *x);
}

static void put_turn(double *x, int32_t i, stn_quat q) {
    memcpy(&x[4 * (size_t)i], (const double[4]){q.w, q.x, q.y, q.z}, 4 * sizeof *x);
}

/// Nodes in the world, and the lengths between them.
static stn_status place_nodes(const stn_soft_cable_spec *spec, parts *p, stn_error *err) {
    const int32_t n = spec->mesh->node_count;
    for (int32_t i = 0; i < n; i++) {
        const stn_vec3 x = stn_pose_apply(&spec->pose, stn_vec3_at(spec->mesh->nodes, i));
        if (!(stn_vec3_norm(x) <= 1e100)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "node %d would be at (%g, %g, %g) m; its pose must be finite", i,
                            x.x, x.y, x.z);
        }
        put(p->position, i, x);
    }
    for (int32_t i = 1; i < n; i++) {
        p->length[i] = stn_vec3_norm(stn_vec3_sub(stn_vec3_at(p->position, i), stn_vec3_at(p->position, i - 1)));
        if (!(p->length[i] > 0.0)) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "nodes %d and %d are at one place: the line turns back on itself there", i - 1, i);
        }
        if (!(p->length[i] > 1e-9 * spec->radius)) { // as element/cable asks
            return stn_fail(
                err, STN_ERR_ARGUMENT,
                "nodes %d and %d are %g m apart, must be more than 1e-9 radii, %g m: make the radius smaller", i - 1, i,
                p->length[i], 1e-9 * spec->radius);
        }
    }
    return STN_OK;
}

/// Direction of the segment before node i, 0 < i < n.
static stn_vec3 segment(const parts *p, int32_t i) {
    return stn_vec3_scale(1.0 / p->length[i],
                          stn_vec3_sub(stn_vec3_at(p->position, i), stn_vec3_at(p->position, i - 1)));
}

/// Tangent of an inner node: of the circle through it and its neighbours where these are equally far. Of an end: that
/// of the circle which its neighbour has.
static stn_status find_tangent(const parts *p, int32_t i, int32_t n, stn_vec3 *tangent, stn_error *err) {
    if (i > 0 && i < n - 1) {
        const stn_vec3 sum = stn_vec3_add(segment(p, i), segment(p, i + 1));
        *tangent = stn_vec3_normalize_or(sum, stn_vec3_zero());
        return stn_vec3_norm(sum) > 1e-6
                   ? STN_OK
                   : stn_fail(err, STN_ERR_ARGUMENT, "the line turns back on itself at node %d", i);
    }
    const stn_vec3 along = segment(p, i == 0 ? 1 : n - 1);
    stn_vec3 next = along;
    stn_status status = n > 2 ? find_tangent(p, i == 0 ? 1 : n - 2, n, &next, err) : STN_OK;
    *tangent = stn_vec3_mul_add(stn_vec3_neg(next), 2.0 * stn_vec3_dot(next, along), along);
    return status;
}

/// The shortest rotation that turns unit vector a to b.
static stn_quat shortest(stn_vec3 a, stn_vec3 b) {
    const double w = 1.0 + stn_vec3_dot(a, b);
    stn_vec3 v = stn_vec3_cross(a, b);
    if (w < 1e-12) { // half a turn, about any axis across
        const stn_vec3 side = fabs(a.z) < 0.9 ? stn_vec3_make(0.0, 0.0, 1.0) : stn_vec3_make(0.0, 1.0, 0.0);
        v = stn_vec3_normalize_or(stn_vec3_cross(a, side), side);
        return (stn_quat){0.0, v.x, v.y, v.z};
    }
    return stn_quat_normalize((stn_quat){w, v.x, v.y, v.z});
}

/// Axes of the nodes, x along the tangent, each turned from the one before without twist.
static stn_status turn_nodes(int32_t n, parts *p, stn_error *err) {
    stn_vec3 before = stn_vec3_make(1.0, 0.0, 0.0), tangent;
    stn_quat turn = stn_quat_identity();
    for (int32_t i = 0; i < n; i++) {
        stn_status status = find_tangent(p, i, n, &tangent, err);
        if (status != STN_OK) {
            return status;
        }
        turn = stn_quat_normalize(stn_quat_mul(shortest(before, tangent), turn));
        put_turn(p->orientation, i, turn);
        before = tangent;
    }
    return STN_OK;
}

/// A node has half of the segments beside it: a cylinder about an inner one, from an end one that begins there.
static void weigh_nodes(const stn_soft_cable_spec *spec, parts *p) {
    const int32_t n = spec->mesh->node_count;
    const double r = spec->radius;
    double whole = 0.0;
    for (int32_t i = 1; i < n; i++) {
        whole += p->length[i];
    }
    const double line = isnan(spec->mass) ? spec->density * STN_PI * r * r : spec->mass / whole; // [kg/m]
    double s = 0.0;
    for (int32_t i = 0; i < n; i++) {
        const double back = 0.5 * p->length[i], ahead = 0.5 * p->length[i + 1], m = line * (back + ahead);
        const double across = m * 0.25 * r * r + line * (back * back * back + ahead * ahead * ahead) / 3.0;
        s += p->length[i];
        p->mass[i] = m;
        put(p->inertia, i, stn_vec3_make(0.5 * m * r * r, across, across));
        put(p->rest, i, spec->straight ? stn_vec3_make(s, 0.0, 0.0) : stn_vec3_at(p->position, i));
        put_turn(p->rest_orientation, i, stn_quat_identity());
    }
}

/// Geometries of two nodes may touch where this many lie between them, and more: at pi r along the line, which in no
/// bend of radius >= r comes near itself.
static int32_t skip_of(const stn_soft_cable_spec *spec, const parts *p) {
    double shortest_length = p->length[1];
    for (int32_t i = 2; i < spec->mesh->node_count; i++) {
        shortest_length = fmin(shortest_length, p->length[i]);
    }
    return (int32_t)fmin(ceil(STN_PI * spec->radius / shortest_length), INT32_MAX);
}

// -------------------------------------------------------------------------------------------------------------- adding

static stn_status add_nodes(stn_model_builder *builder, const stn_soft_cable_spec *spec, const parts *p, int32_t *cloud,
                            stn_error *err) {
    const stn_nodes_spec nodes = {.name = spec->name,
                                  .node_count = spec->mesh->node_count,
                                  .position = p->position,
                                  .mass = p->mass,
                                  .material = spec->geometry.material,
                                  .rest = p->rest,
                                  .type = STN_NODE_FRAME,
                                  .orientation = p->orientation,
                                  .rest_orientation = spec->straight ? p->rest_orientation : NULL,
                                  .inertia = p->inertia,
                                  .self_collision_skip = spec->self_collision ? skip_of(spec, p) : 0};
    stn_status status = stn_builder_add_nodes(builder, &nodes, cloud, err);
    for (int32_t i = 0; i < nodes.node_count && status == STN_OK; i++) {
        stn_geometry_spec capsule = spec->geometry;
        const double back = 0.5 * p->length[i], ahead = 0.5 * p->length[i + 1];
        capsule.name = spec->name;
        capsule.shape = stn_shape_capsule(spec->radius, 0.5 * (back + ahead));
        // a capsule lies along z of its own frame
        capsule.pose = stn_pose_make(stn_quat_exp(stn_vec3_make(0.0, 0.5 * STN_PI, 0.0)),
                                     stn_vec3_make(0.5 * (ahead - back), 0.0, 0.0));
        capsule.mesh = -1;
        status = stn_builder_add_node_geometry(builder, *cloud, i, &capsule, err);
    }
    return status;
}

/// Would the builder take nodes and capsules? One that goes is asked, as nothing takes nodes out of a builder again.
static stn_status try_nodes(stn_context *context, const stn_soft_cable_spec *spec, const parts *p, stn_error *err) {
    stn_model_builder *builder = NULL;
    int32_t cloud = -1;
    stn_status status = stn_builder_create(context, &builder, err);
    if (status == STN_OK) {
        status = add_nodes(builder, spec, p, &cloud, err);
    }
    stn_builder_destroy(builder);
    return status;
}

/// Adds what was made ready. The builder takes the instance over.
static stn_status add(stn_model_builder *builder, const stn_soft_cable_spec *spec, parts *p, stn_soft_body *body,
                      stn_error *err) {
    body->chambers = -1;
    stn_status status = add_nodes(builder, spec, p, &body->cloud, err);
    if (status == STN_OK) {
        const stn_elements_spec elements = {
            .name = "", .nodes = body->cloud, .element_count = spec->mesh->node_count - 1, .index = p->index};
        stn_instance *element = p->element;
        p->element = NULL;
        status = stn_builder_add_elements(builder, element, &elements, &body->elements, err);
    }
    return status == STN_OK ? soft_held_attach(builder, body->cloud, &p->held, spec->attachments, err) : status;
}

stn_status stn_soft_add_cable(stn_model_builder *builder, stn_context *context, const stn_soft_cable_spec *spec,
                              stn_soft_body *body, stn_error *err) {
    parts p = {.element = NULL};
    stn_status status = check(spec, err);
    if (status == STN_OK) {
        status = make_room(context, spec, &p, err);
    }
    if (status == STN_OK) {
        status = make_elements(context, spec, &p, err);
    }
    if (status == STN_OK) {
        status = place_nodes(spec, &p, err);
    }
    if (status == STN_OK) {
        status = turn_nodes(spec->mesh->node_count, &p, err);
    }
    if (status == STN_OK) {
        weigh_nodes(spec, &p);
        status = soft_held_select(builder, spec->mesh, spec->attachment_count, spec->attachments, &p.held, err);
    }
    if (status == STN_OK) {
        status = try_nodes(context, spec, &p, err);
    }
    if (status == STN_OK) {
        status = add(builder, spec, &p, body, err);
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "cable '%s'", spec->name);
    }
    release(context, &p);
    return status;
}
