// SPDX-License-Identifier: Apache-2.0
// Small models for tests, built with as little text as possible; every call must succeed.
#ifndef STN_MODEL_TEST_H
#define STN_MODEL_TEST_H

#include "stn_test.h"

#include <stiction/model.h>

/// A solid of this mass: com and principal inertia in link axes.
static inline stn_mass mass_of(double mass, stn_vec3 com, double ixx, double iyy, double izz) {
    stn_mass m = {mass, com, stn_mat3_diagonal(ixx, iyy, izz)};
    return m;
}

static inline stn_pose shift(double x, double y, double z) {
    stn_pose p = {stn_mat3_identity(), {x, y, z}};
    return p;
}

static inline stn_model_builder *new_builder(stn_context *context) {
    stn_error err;
    stn_model_builder *builder = NULL;
    assert_ok(stn_builder_create(context, &builder, &err), err);
    return builder;
}

static inline int32_t begin_robot(stn_model_builder *builder, const char *name) {
    stn_error err;
    int32_t robot = -1;
    assert_ok(stn_builder_begin_group(builder, name, &robot, &err), err);
    return robot;
}

static inline int32_t add_link(stn_model_builder *builder, const char *name, stn_mass mass) {
    stn_error err;
    stn_link_spec spec = {name, mass, NULL};
    int32_t link = -1;
    assert_ok(stn_builder_add_link(builder, &spec, &link, &err), err);
    return link;
}

static inline int32_t add_joint_spec(stn_model_builder *builder, const stn_joint_spec *spec) {
    stn_error err;
    int32_t joint = -1;
    assert_ok(stn_builder_add_joint(builder, spec, &joint, &err), err);
    return joint;
}

static inline int32_t add_joint(stn_model_builder *builder, const char *name, stn_joint_type type, int32_t parent,
                                int32_t child, stn_pose origin, stn_vec3 axis) {
    stn_joint_spec spec = stn_joint_spec_default(name, type);
    spec.parent = parent;
    spec.child = child;
    spec.origin = origin;
    spec.axis = axis;
    return add_joint_spec(builder, &spec);
}

static inline int32_t add_shape(stn_model_builder *builder, int32_t link, stn_shape shape) {
    stn_error err;
    stn_geometry_spec spec = stn_geometry_spec_default(shape);
    int32_t geometry = -1;
    assert_ok(stn_builder_add_geometry(builder, link, &spec, &geometry, &err), err);
    return geometry;
}

/// A tetrahedron with a corner at the origin and legs of 1 m; the caller releases it.
static inline stn_mesh *new_mesh(stn_context *context) {
    static const double vertices[12] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    static const int32_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    stn_mesh_data data = {.vertex_count = 4, .triangle_count = 4, .vertices = vertices, .triangles = triangles};
    stn_error err;
    stn_mesh *mesh = NULL;
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    return mesh;
}

/// A colliding shape of this mesh, which the builder keeps.
static inline int32_t add_mesh_shape(stn_model_builder *builder, int32_t link, const stn_mesh *mesh) {
    stn_error err;
    stn_geometry_spec spec = stn_geometry_spec_default(stn_shape_mesh(mesh));
    int32_t geometry = -1;
    assert_ok(stn_builder_add_mesh(builder, "", stn_vec3_make(1.0, 1.0, 1.0), mesh, &spec.mesh, &err), err);
    assert_ok(stn_builder_add_geometry(builder, link, &spec, &geometry, &err), err);
    return geometry;
}

static inline void set_base(stn_model_builder *builder, int32_t robot, stn_pose base, bool fixed) {
    stn_error err;
    assert_ok(stn_builder_set_base(builder, robot, &base, fixed, &err), err);
}

static inline stn_model *compile_model(stn_model_builder *builder) {
    stn_error err;
    stn_model *model = NULL;
    assert_ok(stn_model_compile(builder, &model, &err), err);
    return model;
}

#endif
