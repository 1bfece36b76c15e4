// SPDX-License-Identifier: Apache-2.0
// Are two compiled models the same, bit for bit? Everything of the public face, and what is asked through functions.
#ifndef STN_SAME_MODEL_H
#define STN_SAME_MODEL_H

#include "stn_test.h"

#include <string.h>

#include <stiction/plugin.h>

#define SAME(member)      assert_memory_equal(&a->member, &b->member, sizeof a->member)
#define SAME_TEXT(member) (a->member == NULL ? assert_null(b->member) : assert_string_equal(a->member, b->member))
#define SAME_ARRAY(member, count) \
    ((count) > 0 ? assert_memory_equal(a->member, b->member, (size_t)(count) * sizeof *a->member) : (void)0)

static inline void same_mesh(const stn_mesh *a, const stn_mesh *b) {
    SAME(vertex_count), SAME(triangle_count), SAME(tetrahedron_count), SAME(convex), SAME(bounds), SAME(solid);
    SAME_ARRAY(vertices, 3 * a->vertex_count);
    SAME_ARRAY(triangles, 3 * a->triangle_count);
    SAME_ARRAY(tetrahedra, 4 * a->tetrahedron_count);
    SAME(grid.rows), SAME(grid.columns), SAME(grid.x), SAME(grid.y), SAME(grid.dx), SAME(grid.dy);
    SAME(facts.vertex_count), SAME(facts.triangle_count), SAME(facts.tetrahedron_count), SAME(facts.degenerate_count);
    SAME(facts.open_edge_count), SAME(facts.area), SAME(facts.volume), SAME(facts.unit), SAME(facts.up_axis);
    SAME(facts.instance_count), SAME(facts.solid);
    assert_true((a->extents == NULL) == (b->extents == NULL));
    SAME_ARRAY(extents, a->extents != NULL ? a->vertex_count : 0);
    assert_true((a->polytope == NULL) == (b->polytope == NULL));
    if (a->polytope != NULL) {
        SAME(polytope->face_count), SAME(polytope->edge_count), SAME(polytope->slack), SAME(polytope->start_side);
        SAME_ARRAY(polytope->planes, 4 * a->polytope->face_count);
        SAME_ARRAY(polytope->edges, 4 * a->polytope->edge_count);
        SAME_ARRAY(polytope->face_start, a->polytope->face_count + 1);
        SAME_ARRAY(polytope->face_vertices, a->polytope->face_start[a->polytope->face_count]);
        SAME_ARRAY(polytope->neighbour_start, a->vertex_count + 1);
        SAME_ARRAY(polytope->neighbours, a->polytope->neighbour_start[a->vertex_count]);
    }
}

static inline void same_joint(const stn_joint *a, const stn_joint *b) {
    SAME_TEXT(name), SAME_TEXT(actuator), SAME_TEXT(where);
    SAME(type), SAME(group), SAME(parent), SAME(child), SAME(q_start), SAME(v_start), SAME(nq), SAME(nv), SAME(origin);
    SAME(axis), SAME(lower), SAME(upper), SAME(effort), SAME(velocity), SAME(acceleration), SAME(damping),
        SAME(friction);
    SAME(stiffness), SAME(rest), SAME(servo_kp), SAME(servo_kd), SAME(screw_pitch), SAME(reflected_inertia),
        SAME(mimic);
    SAME(mimic_multiplier), SAME(mimic_offset);
}

static inline void same_link(const stn_link *a, const stn_link *b) {
    SAME_TEXT(name), SAME_TEXT(joint_name), SAME_TEXT(where), SAME_TEXT(joint_where);
    SAME(group), SAME(body), SAME(pose), SAME(mass), SAME(parent), SAME(joint), SAME(origin), SAME(joint_rank);
}

static inline void same_geometry(const stn_geometry *a, const stn_geometry *b) {
    SAME_TEXT(name), SAME_TEXT(where);
    SAME(body), SAME(node), SAME(link), SAME(shape.type), SAME(shape.radius), SAME(shape.half_length);
    SAME(shape.half_extents), SAME(pose), SAME(material), SAME(rgba), SAME(collision), SAME(visual), SAME(category);
    SAME(mask), SAME(mesh), SAME(field.resolution), SAME(field.margin), SAME(field.thickness), SAME(field.volume_mesh),
        SAME(surface_velocity), SAME(friction_direction), SAME(in_link);
    assert_true((a->shape.mesh == NULL) == (b->shape.mesh == NULL));
}

static inline void same_tree(const stn_tree *a, const stn_tree *b) {
    SAME(kind), SAME(body_start), SAME(body_count), SAME(node_start), SAME(node_count), SAME(q_start), SAME(nq);
    SAME(v_start), SAME(nv);
    if (a->kind == STN_TREE_NODAL) {
        SAME(node_type);
        SAME_ARRAY(row_start, a->node_count + 1);
        SAME_ARRAY(column, a->row_start[a->node_count]);
    }
}

static inline void same_settings(const stn_instance *a, const stn_instance *b) {
    assert_ptr_equal(a->desc, b->desc);
    for (int32_t i = 0; i < a->desc->param_count; i++) {
        char text_a[200], text_b[200];
        stn_config_print(&a->desc->params[i], a->config, text_a, sizeof text_a);
        stn_config_print(&b->desc->params[i], b->config, text_b, sizeof text_b);
        assert_string_equal(text_a, text_b);
    }
}

static inline void same_group(const stn_element_group *a, const stn_element_group *b) {
    same_settings(a->instance, b->instance);
    SAME(tree), SAME(element_count), SAME(nodes_per_element);
    SAME_ARRAY(index, a->element_count * a->nodes_per_element);
    SAME_ARRAY(constants, a->element_count * a->instance->desc->ops.element->constant_count);
}

static inline void same_constraint(const stn_model_constraint *a, const stn_model_constraint *b) {
    SAME_TEXT(name), SAME_TEXT(where);
    SAME(end_count);
    same_settings(a->instance, b->instance);
    for (int32_t i = 0; i < a->end_count; i++) {
        const stn_constraint_end *x = &a->ends[i], *y = &b->ends[i];
        assert_true(x->link == y->link && x->body == y->body && x->joint == y->joint && x->factor == y->factor);
        assert_memory_equal(&x->pose, &y->pose, sizeof x->pose);
        assert_memory_equal(&x->frame, &y->frame, sizeof x->frame);
    }
}

static inline void same_surface(const stn_surface *a, const stn_surface *b) {
    SAME(geometry), SAME(tree), SAME(vertex_count), SAME(edge_count), SAME(triangle_count), SAME(thickness);
    assert_true(a->solid == b->solid && a->self_collision == b->self_collision);
    SAME_ARRAY(vertex, a->vertex_count);
    SAME_ARRAY(rest, a->vertex_count);
    SAME_ARRAY(vertex_owner, a->vertex_count);
    SAME_ARRAY(triangle, 3 * a->triangle_count);
    SAME_ARRAY(triangle_edge, 3 * a->triangle_count);
    SAME_ARRAY(edge, 2 * a->edge_count);
    SAME_ARRAY(edge_triangle, 2 * a->edge_count);
}

static inline void same_pairs(const stn_model *a, const stn_model *b) {
    for (int32_t i = 0; i < a->geometry_count && i < 200; i++) {
        for (int32_t j = 0; j <= i; j++) {
            stn_pair_material x = stn_model_pair_material(a, i, j), y = stn_model_pair_material(b, i, j);
            assert_memory_equal(&x, &y, sizeof x);
            assert_true(stn_model_may_collide(a, i, j) == stn_model_may_collide(b, i, j));
        }
    }
}

static inline void same_model(const stn_model *a, const stn_model *b) {
    SAME(nq), SAME(nv), SAME(node_count), SAME(tree_count), SAME(body_count), SAME(joint_count), SAME(link_count);
    SAME(group_count), SAME(geometry_count), SAME(mesh_count), SAME(element_group_count), SAME(keyframe_count);
    SAME(exclude_count), SAME(constraint_count), SAME(attachment_count), SAME(surface_count);
    for (int32_t i = 0; i < a->surface_count; i++) {
        same_surface(&a->surfaces[i], &b->surfaces[i]);
    }
    for (int32_t i = 0; i < a->body_count; i++) {
        const stn_body *x = &a->bodies[i], *y = &b->bodies[i];
        assert_string_equal(x->name, y->name);
        assert_memory_equal(&x->parent, &y->parent, 3 * sizeof(int32_t));
        assert_memory_equal(&x->mass, &y->mass, sizeof x->mass);
        assert_int_equal(x->group, y->group);
    }
    for (int32_t i = 0; i < a->joint_count; i++) {
        same_joint(&a->joints[i], &b->joints[i]);
    }
    for (int32_t i = 0; i < a->link_count; i++) {
        same_link(&a->links[i], &b->links[i]);
    }
    for (int32_t i = 0; i < a->group_count; i++) {
        const stn_group *x = &a->groups[i], *y = &b->groups[i];
        assert_string_equal(x->name, y->name);
        assert_memory_equal(&x->link_start, &y->link_start, 7 * sizeof(int32_t));
        assert_memory_equal(&x->base, &y->base, sizeof x->base);
        assert_true(x->fixed == y->fixed && x->velocity_limits == y->velocity_limits);
    }
    for (int32_t i = 0; i < a->geometry_count; i++) {
        same_geometry(&a->geometries[i], &b->geometries[i]);
    }
    for (int32_t i = 0; i < a->mesh_count; i++) {
        assert_string_equal(a->meshes[i].path, b->meshes[i].path);
        assert_memory_equal(&a->meshes[i].scale, &b->meshes[i].scale, sizeof(stn_vec3));
        assert_true((a->meshes[i].data == NULL) == (b->meshes[i].data == NULL));
        if (a->meshes[i].data != NULL) {
            same_mesh(a->meshes[i].data, b->meshes[i].data);
        }
    }
    for (int32_t i = 0; i < a->tree_count; i++) {
        same_tree(&a->trees[i], &b->trees[i]);
        assert_int_equal(stn_model_massless_link(a, i), stn_model_massless_link(b, i));
    }
    for (int32_t i = 0; i < a->element_group_count; i++) {
        same_group(&a->element_groups[i], &b->element_groups[i]);
    }
    for (int32_t i = 0; i < a->keyframe_count; i++) {
        const stn_keyframe *x = &a->keyframes[i], *y = &b->keyframes[i];
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->where, y->where);
        assert_true(x->group == y->group && x->q_count == y->q_count && x->has_base == y->has_base);
        assert_memory_equal(x->q, y->q, (size_t)x->q_count * sizeof(double));
    }
    for (int32_t i = 0; i < a->constraint_count; i++) {
        same_constraint(&a->constraints[i], &b->constraints[i]);
    }
    for (int32_t i = 0; i < a->attachment_count; i++) { // by members: the struct has a gap
        const stn_node_attachment *x = &a->attachments[i], *y = &b->attachments[i];
        assert_true(x->node == y->node && x->link == y->link && x->body == y->body);
        assert_memory_equal(&x->point, &y->point, sizeof x->point);
        assert_memory_equal(&x->orientation, &y->orientation, sizeof x->orientation);
    }
    SAME_ARRAY(node_attachment, a->node_count);
    SAME_ARRAY(node_inertia, 3 * a->node_count);
    SAME_ARRAY(node_tree, a->node_count);
    SAME_ARRAY(excludes, a->exclude_count);
    SAME_ARRAY(q0, a->nq);
    SAME_ARRAY(node_mass, a->node_count);
    SAME_ARRAY(dof_joint, a->nv);
    SAME_ARRAY(dof_tree, a->nv);
    same_pairs(a, b);
}

#endif
