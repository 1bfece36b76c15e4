// SPDX-License-Identifier: Apache-2.0
// A model by value. Written is what the builder held when the model was compiled, which the model keeps; reading goes
// through the builder again, so that whatever it checks is checked, and compiling gives the same model bit for bit.
// Each kind of thing is one `pass` function for both directions.
#include <stiction/input.h>
#include <string.h>

#include "base/file.h"
#include "model/compiled.h"
#include "model/model_file.h"
#include "plugin/settings.h"

// -------------------------------------------------------------------------------------------------------- meshes
// A mesh by value. Of a height field the heights say all; of others the vertices, triangles and tetrahedra with their
// field, and the facts about a source that they do not show. What follows from these (bounds, faces of a hull) is found
// again.

static stn_status fail_mesh(const byte_stream *b, stn_error *err) {
    stn_status status = bytes_status(b, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "mesh");
    }
    return status;
}

static stn_status pass_height_field(byte_stream *b, stn_arena *scratch, const stn_mesh **mesh, stn_error *err) {
    stn_height_field_spec spec = {0};
    double *heights = NULL;
    if (!b->reading) {
        const stn_grid *grid = &(*mesh)->grid;
        spec = (stn_height_field_spec){grid->rows, grid->columns, -2.0 * grid->x, -2.0 * grid->y, NULL};
        heights = STN_ARENA(scratch, (*mesh)->vertex_count, double);
        for (int32_t i = 0; heights != NULL && i < (*mesh)->vertex_count; i++) {
            heights[i] = (*mesh)->vertices[3 * (size_t)i + 2];
        }
        if (heights == NULL) {
            bytes_out_of_memory(b);
        }
        spec.heights = heights;
    }
    bytes_pass_count(b, &spec.rows, INT32_MAX);
    bytes_pass_count(b, &spec.columns, INT32_MAX);
    BYTES_PASS(b, &spec.size_x);
    BYTES_PASS(b, &spec.size_y);
    const void *values = spec.heights;
    bytes_pass_array(b, scratch, &values, (size_t)spec.rows * (size_t)spec.columns, sizeof(double));
    spec.heights = values;
    stn_status status = fail_mesh(b, err);
    stn_mesh *made = NULL;
    if (status == STN_OK && b->reading) {
        status = stn_mesh_create_height_field(b->context, &spec, &made, err);
        *mesh = made;
    }
    return status;
}

/// A mesh in either direction; `*mesh` read is the caller's to release.
static stn_status model_mesh_pass(byte_stream *b, stn_arena *scratch, const stn_mesh **mesh, stn_error *err) {
    bool field = !b->reading && (*mesh)->grid.rows > 0;
    bytes_pass_bool(b, &field);
    if (field) {
        return pass_height_field(b, scratch, mesh, err);
    }
    stn_mesh parts = {0}, *made = NULL;
    if (!b->reading) {
        parts = **mesh;
    }
    stn_mesh_facts *f = &parts.facts;
    stn_solid_facts *s = &f->solid;
    int32_t *counts[] = {&f->vertex_count,    &f->triangle_count, &f->tetrahedron_count, &f->degenerate_count,
                         &f->open_edge_count, &f->instance_count, &s->inverted_count,    &s->flat_count,
                         &s->duplicate_count, &s->curved_count,   &s->unused_count,      &s->part_count,
                         &s->touching_count,  &s->raised_count};
    for (int32_t i = 0; i < STN_COUNT(counts); i++) {
        BYTES_PASS(b, counts[i]);
    }
    BYTES_PASS(b, &f->area);
    BYTES_PASS(b, &f->volume);
    BYTES_PASS(b, &f->unit);
    BYTES_PASS(b, &s->least_quality);
    BYTES_PASS(b, &f->up_axis);
    BYTES_PASS(b, &parts.solid);
    bytes_pass_bool(b, &parts.convex);
    const void *vertices = parts.vertices, *triangles = parts.triangles, *tetrahedra = parts.tetrahedra,
               *extents = parts.extents;
    bool graded = extents != NULL;
    bytes_pass_count(b, &parts.vertex_count, STN_MESH_COUNT_MAX);
    bytes_pass_count(b, &parts.triangle_count, STN_MESH_COUNT_MAX);
    bytes_pass_count(b, &parts.tetrahedron_count, STN_MESH_COUNT_MAX);
    bytes_pass_array(b, scratch, &vertices, 3 * (size_t)parts.vertex_count, sizeof(double));
    bytes_pass_array(b, scratch, &triangles, 3 * (size_t)parts.triangle_count, sizeof(int32_t));
    bytes_pass_array(b, scratch, &tetrahedra, 4 * (size_t)parts.tetrahedron_count, sizeof(int32_t));
    bytes_pass_bool(b, &graded);
    bytes_pass_array(b, scratch, &extents, graded ? (size_t)parts.vertex_count : 0, sizeof(double));
    parts.extents = graded ? extents : NULL;
    parts.vertices = vertices;
    parts.triangles = triangles;
    parts.tetrahedra = parts.tetrahedron_count > 0 ? tetrahedra : NULL;
    stn_status status = fail_mesh(b, err);
    if (status == STN_OK && b->reading) {
        status = stn_mesh_create_finished(b->context, &parts, &made, err);
        *mesh = made;
    }
    return status;
}

static const char magic[8] = {'S', 'T', 'N', 'M', 'O', 'D', 'E', 'L'};
enum { FILE_VERSION = 9 };

/// Both ends of a pass: the builder that is written from or read into.
typedef struct passing {
    byte_stream *b;
    stn_model_builder *builder;
    stn_arena *scratch;
} passing;

/// How many items follow; each takes some bytes.
static int32_t pass_count(byte_stream *b, int32_t count) {
    int32_t most = b->reading && bytes_left(b) < INT32_MAX ? (int32_t)bytes_left(b) : INT32_MAX;
    bytes_pass_count(b, &count, most);
    return count;
}

static void pass_index(byte_stream *b, int32_t *index) {
    BYTES_PASS(b, index);
}

// -------------------------------------------------------------------------------------------------------- groups

static stn_status pass_link(passing *p, int32_t i, stn_error *err) {
    byte_stream *b = p->b;
    stn_link_spec spec = {0};
    int32_t index = 0;
    if (!b->reading) {
        spec = link_at(p->builder, i)->spec;
    }
    bytes_pass_text(b, &spec.name);
    bytes_pass_text(b, &spec.where);
    BYTES_PASS(b, &spec.mass);
    stn_status status = bytes_status(b, err);
    return status == STN_OK && b->reading ? stn_builder_add_link(p->builder, &spec, &index, err) : status;
}

static stn_status pass_joint(passing *p, int32_t i, stn_error *err) {
    byte_stream *b = p->b;
    stn_joint_spec spec = {0};
    int32_t index = 0;
    if (!b->reading) {
        spec = joint_at(p->builder, i)->spec;
    }
    int32_t type = (int32_t)spec.type;
    bytes_pass_text(b, &spec.name);
    bytes_pass_text(b, &spec.where);
    bytes_pass_text(b, &spec.actuator);
    bytes_pass_count(b, &type, STN_JOINT_COUNT - 1);
    spec.type = (stn_joint_type)type;
    int32_t *indices[] = {&spec.parent, &spec.child, &spec.mimic};
    double *numbers[] = {
        &spec.lower,        &spec.upper,    &spec.effort,     &spec.velocity,         &spec.acceleration,
        &spec.screw_pitch,  &spec.damping,  &spec.friction,   &spec.stiffness,        &spec.rest,
        &spec.servo_kp,     &spec.servo_kd, &spec.gear_ratio, &spec.mimic_multiplier, &spec.mimic_offset,
        &spec.rotor_inertia};
    for (int32_t k = 0; k < STN_COUNT(indices); k++) {
        pass_index(b, indices[k]);
    }
    for (int32_t k = 0; k < STN_COUNT(numbers); k++) {
        BYTES_PASS(b, numbers[k]);
    }
    BYTES_PASS(b, &spec.origin);
    BYTES_PASS(b, &spec.axis);
    stn_status status = bytes_status(b, err);
    return status == STN_OK && b->reading ? stn_builder_add_joint(p->builder, &spec, &index, err) : status;
}

/// Bases are given to the builder as they were, as set or as proposed; attachments come when all links are there.
static stn_status begin_group(passing *p, int32_t r, stn_error *err) {
    byte_stream *b = p->b;
    built_group group = {0};
    if (!b->reading) {
        group = *group_at(p->builder, r);
    }
    bytes_pass_text(b, &group.name);
    BYTES_PASS(b, &group.base);
    bytes_pass_bool(b, &group.fixed);
    bytes_pass_bool(b, &group.base_given);
    bytes_pass_bool(b, &group.kinematic);
    bytes_pass_bool(b, &group.velocity_limits);
    stn_status status = bytes_status(b, err);
    if (status != STN_OK || !b->reading) {
        return status;
    }
    int32_t index = 0;
    status = stn_builder_begin_group(p->builder, group.name, &index, err);
    if (status == STN_OK) {
        status = group.base_given ? stn_builder_set_base(p->builder, index, &group.base, group.fixed, err)
                                  : stn_builder_propose_base(p->builder, index, &group.base, group.fixed, err);
    }
    if (status == STN_OK && group.kinematic) {
        status = stn_builder_make_kinematic(p->builder, index, err);
    }
    return status == STN_OK ? stn_builder_set_velocity_limits(p->builder, index, group.velocity_limits, err) : status;
}

/// A joint may name links of its group and of earlier ones, so that links and joints come group by group.
static stn_status pass_group(passing *p, int32_t r, stn_error *err) {
    bool writing = !p->b->reading;
    int32_t first_link = writing ? group_at(p->builder, r)->start.links : 0;
    int32_t first_joint = writing ? group_at(p->builder, r)->start.joints : 0;
    stn_status status = begin_group(p, r, err);
    int32_t links = pass_count(p->b, writing ? group_link_end(p->builder, r) - first_link : 0);
    for (int32_t i = 0; i < links && status == STN_OK; i++) {
        status = pass_link(p, first_link + i, err);
    }
    int32_t joints = pass_count(p->b, writing ? group_joint_end(p->builder, r) - first_joint : 0);
    for (int32_t i = 0; i < joints && status == STN_OK; i++) {
        status = pass_joint(p, first_joint + i, err);
    }
    return status;
}

static stn_status pass_attachment(passing *p, int32_t r, stn_error *err) {
    int32_t link = -1;
    stn_pose pose = {0};
    if (!p->b->reading) {
        link = group_at(p->builder, r)->attached_to;
        pose = group_at(p->builder, r)->attached_at;
    }
    pass_index(p->b, &link);
    BYTES_PASS(p->b, &pose);
    stn_status status = bytes_status(p->b, err);
    return status == STN_OK && p->b->reading && link >= 0 ? stn_builder_attach(p->builder, r, link, &pose, err)
                                                          : status;
}

// -------------------------------------------------------------------------------------------- shapes and contact

static stn_status pass_mesh(passing *p, int32_t i, stn_error *err) {
    byte_stream *b = p->b;
    stn_mesh_reference mesh = {0};
    int32_t owner = -1, index = 0;
    if (!b->reading) {
        mesh = *mesh_at(p->builder, i);
        // The first mesh with the same data, for data is written once; the mesh itself when that is the first.
        for (owner = mesh.data != NULL ? 0 : -1; owner >= 0 && mesh_at(p->builder, owner)->data != mesh.data;) {
            owner++;
        }
    }
    bytes_pass_text(b, &mesh.path);
    BYTES_PASS(b, &mesh.scale);
    pass_index(b, &owner);
    bool named = b->reading && owner >= 0 && owner < i && i == p->builder->meshes.count;
    b->failed = b->failed || owner < -1 || owner > i || (named && mesh_at(p->builder, owner)->data == NULL);
    stn_status status = bytes_status(b, err);
    if (status == STN_OK && owner == i) {
        status = model_mesh_pass(b, p->scratch, &mesh.data, err);
    } else if (status == STN_OK && b->reading && owner >= 0) {
        mesh.data = stn_mesh_keep(mesh_at(p->builder, owner)->data);
    }
    if (b->reading) {
        if (status == STN_OK) {
            status = stn_builder_add_mesh(p->builder, mesh.path, mesh.scale, mesh.data, &index, err);
        }
        stn_mesh_release(mesh.data);
        if (status == STN_OK && index != i) {
            return stn_fail(err, STN_ERR_PARSE, "damaged (a mesh is there twice)");
        }
    }
    return status;
}

/// What a surface over nodes has beyond a geometry; the builder finds its edges and owners again.
static stn_status pass_surface(passing *p, const stn_geometry_spec *geometry, int32_t link, stn_error *err) {
    byte_stream *b = p->b;
    stn_surface_spec spec = stn_surface_spec_default();
    int32_t cloud = 0, index = 0, *nodes = NULL;
    if (!b->reading) {
        const built_surface *built = surface_at(p->builder, STN_SURFACE_LINK(link));
        const stn_surface *face = &built->face;
        cloud = built->cloud;
        spec.triangle_count = face->triangle_count;
        spec.solid = face->solid;
        spec.self_collision = face->self_collision;
        nodes = STN_ARENA(p->scratch, 3 * (size_t)face->triangle_count, int32_t);
        for (int32_t i = 0; nodes != NULL && i < 3 * face->triangle_count; i++) {
            nodes[i] = face->vertex[face->triangle[i]];
        }
        if (nodes == NULL) {
            bytes_out_of_memory(b);
        }
    }
    const void *triangles = nodes;
    pass_index(b, &cloud);
    bytes_pass_count(b, &spec.triangle_count, INT32_MAX / 64);
    bytes_pass_array(b, p->scratch, &triangles, 3 * (size_t)spec.triangle_count, sizeof(int32_t));
    bytes_pass_bool(b, &spec.solid);
    bytes_pass_bool(b, &spec.self_collision);
    stn_status status = bytes_status(b, err);
    if (status != STN_OK || !b->reading) {
        return status;
    }
    spec.name = geometry->name;
    spec.where = geometry->where;
    spec.triangles = triangles;
    spec.thickness = geometry->shape.radius;
    spec.collision = geometry->collision;
    spec.visual = geometry->visual;
    spec.material = geometry->material;
    memcpy(spec.rgba, geometry->rgba, sizeof spec.rgba);
    spec.category = geometry->category;
    spec.mask = geometry->mask;
    return stn_builder_add_surface(p->builder, cloud, &spec, &index, err);
}

static stn_status pass_geometry(passing *p, int32_t i, stn_error *err) {
    byte_stream *b = p->b;
    stn_geometry_spec spec = {0};
    int32_t link = 0, index = 0, cloud = 0, node = 0;
    if (!b->reading) {
        spec = geometry_at(p->builder, i)->spec;
        link = geometry_at(p->builder, i)->link;
        cloud = geometry_at(p->builder, i)->cloud;
        node = geometry_at(p->builder, i)->node;
    }
    int32_t type = (int32_t)spec.shape.type;
    bytes_pass_text(b, &spec.name);
    bytes_pass_text(b, &spec.where);
    bytes_pass_count(b, &type, STN_SHAPE_COUNT - 1);
    spec.shape.type = (stn_shape_type)type;
    BYTES_PASS(b, &spec.shape.radius);
    BYTES_PASS(b, &spec.shape.half_length);
    BYTES_PASS(b, &spec.shape.half_extents);
    BYTES_PASS(b, &spec.pose);
    BYTES_PASS(b, &spec.material);
    BYTES_PASS(b, &spec.rgba);
    bytes_pass_bool(b, &spec.collision);
    bytes_pass_bool(b, &spec.visual);
    BYTES_PASS(b, &spec.category);
    BYTES_PASS(b, &spec.mask);
    BYTES_PASS(b, &spec.surface_velocity);
    BYTES_PASS(b, &spec.friction_direction);
    pass_index(b, &spec.mesh);
    BYTES_PASS(b, &spec.field.resolution);
    BYTES_PASS(b, &spec.field.margin);
    BYTES_PASS(b, &spec.field.thickness);
    pass_index(b, &spec.field.volume_mesh);
    pass_index(b, &link);
    if (link == NODE_LINK) {
        pass_index(b, &cloud);
        pass_index(b, &node);
    }
    stn_status status = bytes_status(b, err);
    if (status == STN_OK && spec.shape.type == STN_SHAPE_SURFACE) {
        return pass_surface(p, &spec, link, err);
    }
    if (status != STN_OK || !b->reading) {
        return status;
    }
    bool known = spec.mesh >= 0 && spec.mesh < p->builder->meshes.count;
    spec.shape.mesh = known ? mesh_at(p->builder, spec.mesh)->data : NULL;
    return link == NODE_LINK ? stn_builder_add_node_geometry(p->builder, cloud, node, &spec, err)
                             : stn_builder_add_geometry(p->builder, link, &spec, &index, err);
}

static stn_status pass_exclude(passing *p, int32_t i, stn_error *err) {
    built_exclude pair = {0};
    if (!p->b->reading) {
        pair = *exclude_at(p->builder, i);
    }
    pass_index(p->b, &pair.a);
    pass_index(p->b, &pair.b);
    stn_status status = bytes_status(p->b, err);
    return status == STN_OK && p->b->reading ? stn_builder_disable_collisions(p->builder, pair.a, pair.b, err) : status;
}

static stn_status pass_override(passing *p, int32_t i, stn_error *err) {
    built_override pair = {0};
    if (!p->b->reading) {
        pair = *override_at(p->builder, i);
    }
    pass_index(p->b, &pair.a);
    pass_index(p->b, &pair.b);
    BYTES_PASS(p->b, &pair.material);
    stn_status status = bytes_status(p->b, err);
    return status == STN_OK && p->b->reading
               ? stn_builder_set_contact_material(p->builder, pair.a, pair.b, &pair.material, err)
               : status;
}

/// The plugin comes first, because the builder takes it over.
static stn_status pass_constraint(passing *p, int32_t i, stn_error *err) {
    byte_stream *b = p->b;
    built_constraint built = {0};
    int32_t index = 0;
    if (!b->reading) {
        built = *constraint_at(p->builder, i);
    }
    stn_status status = b->reading ? instance_read(b, STN_KIND_CONSTRAINT, &built.instance, err)
                                   : instance_write(b, built.instance, err);
    if (status != STN_OK) {
        return status;
    }
    bytes_pass_text(b, &built.spec.name);
    bytes_pass_text(b, &built.spec.where);
    bytes_pass_count(b, &built.spec.end_count, b->reading ? (int32_t)(bytes_left(b) / sizeof(stn_pose)) : INT32_MAX);
    stn_constraint_end_spec *ends = STN_ARENA(p->scratch, built.spec.end_count, stn_constraint_end_spec);
    for (int32_t k = 0; ends != NULL && k < built.spec.end_count; k++) { // by members: the struct has gaps
        ends[k] = b->reading ? (stn_constraint_end_spec){0} : built.spec.ends[k];
        int32_t shape = (int32_t)ends[k].shape;
        pass_index(b, &ends[k].link);
        pass_index(b, &ends[k].joint);
        bytes_pass_count(b, &shape, STN_END_CYLINDER);
        ends[k].shape = (stn_end_shape)shape;
        BYTES_PASS(b, &ends[k].pose);
        BYTES_PASS(b, &ends[k].factor);
        BYTES_PASS(b, &ends[k].radius);
        BYTES_PASS(b, &ends[k].side);
    }
    status = ends != NULL ? bytes_status(b, err) : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    if (!b->reading) {
        return status;
    }
    if (status != STN_OK) {
        stn_instance_destroy(built.instance);
        return status;
    }
    built.spec.ends = ends;
    return stn_builder_add_constraint(p->builder, built.instance, &built.spec, &index, err);
}

// ---------------------------------------------------------------------------------------- deformables, keyframes

static stn_status pass_cloud(passing *p, int32_t i, stn_error *err) {
    byte_stream *b = p->b;
    built_cloud cloud = {0};
    int32_t index = 0;
    if (!b->reading) {
        cloud = *cloud_at(p->builder, i);
    }
    const void *position = cloud.position, *mass = cloud.mass, *rest = cloud.rest, *orientation = cloud.orientation,
               *rest_orientation = cloud.rest_orientation, *inertia = cloud.inertia;
    bool has_mass = mass != NULL, has_rest = rest != NULL, has_rest_orientation = rest_orientation != NULL;
    int32_t type = (int32_t)cloud.type;
    bytes_pass_text(b, &cloud.name);
    bytes_pass_count(b, &cloud.node_count, INT32_MAX);
    bytes_pass_array(b, p->scratch, &position, 3 * (size_t)cloud.node_count, sizeof(double));
    bytes_pass_bool(b, &has_mass);
    bytes_pass_bool(b, &has_rest);
    if (has_mass) {
        bytes_pass_array(b, p->scratch, &mass, (size_t)cloud.node_count, sizeof(double));
    }
    if (has_rest) {
        bytes_pass_array(b, p->scratch, &rest, 3 * (size_t)cloud.node_count, sizeof(double));
    }
    BYTES_PASS(b, &cloud.mass_factor);
    BYTES_PASS(b, &cloud.contact_radius);
    BYTES_PASS(b, &cloud.material);
    bytes_pass_count(b, &type, STN_NODE_FRAME);
    bytes_pass_count(b, &cloud.self_collision_skip, INT32_MAX);
    pass_index(b, &cloud.frame);
    const size_t frames = type == STN_NODE_FRAME ? (size_t)cloud.node_count : 0;
    bytes_pass_array(b, p->scratch, &orientation, 4 * frames, sizeof(double));
    bytes_pass_array(b, p->scratch, &inertia, 3 * frames, sizeof(double));
    bytes_pass_bool(b, &has_rest_orientation);
    if (has_rest_orientation) {
        bytes_pass_array(b, p->scratch, &rest_orientation, 4 * frames, sizeof(double));
    }
    stn_status status = bytes_status(b, err);
    const stn_nodes_spec spec = {.name = cloud.name,
                                 .node_count = cloud.node_count,
                                 .position = position,
                                 .mass = mass,
                                 .contact_radius = cloud.contact_radius,
                                 .material = cloud.material,
                                 .rest = rest,
                                 .type = (stn_node_type)type,
                                 .orientation = frames > 0 ? orientation : NULL,
                                 .rest_orientation = has_rest_orientation ? rest_orientation : NULL,
                                 .inertia = frames > 0 ? inertia : NULL,
                                 .self_collision_skip = cloud.self_collision_skip};
    if (status != STN_OK || !b->reading) {
        return status;
    }
    status = stn_builder_add_nodes(p->builder, &spec, &index, err);
    if (status == STN_OK) {
        status = stn_builder_scale_nodes_mass(p->builder, index, cloud.mass_factor, err);
    }
    return status == STN_OK ? stn_builder_place_nodes(p->builder, index, cloud.frame, err) : status;
}

/// Elements name as many nodes each, and have as many parameters, as their plugin says.
static stn_status pass_element_group(passing *p, int32_t i, stn_error *err) {
    byte_stream *b = p->b;
    built_element_group group = {0};
    if (!b->reading) {
        group = *element_group_at(p->builder, i);
    }
    stn_status status =
        b->reading ? instance_read(b, STN_KIND_ELEMENT, &group.instance, err) : instance_write(b, group.instance, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_element_ops *ops = group.instance->desc->ops.element;
    const void *index = group.index, *parameters = group.parameters;
    bool own = parameters != NULL;
    bytes_pass_text(b, &group.name);
    pass_index(b, &group.cloud);
    bytes_pass_count(b, &group.element_count, INT32_MAX);
    bytes_pass_count(b, &group.nodes_per_element, STN_ELEMENT_NODES);
    b->failed = b->failed || group.nodes_per_element != ops->nodes_per_element;
    bytes_pass_bool(b, &own);
    const size_t count = b->failed ? 0 : (size_t)group.element_count;
    bytes_pass_array(b, p->scratch, &index, count * (size_t)group.nodes_per_element, sizeof(int32_t));
    if (own) {
        bytes_pass_array(b, p->scratch, &parameters, count * (size_t)ops->parameter_count, sizeof(double));
    }
    status = bytes_status(b, err);
    if (!b->reading) {
        return status;
    }
    if (status != STN_OK) {
        stn_instance_destroy(group.instance);
        return status;
    }
    const stn_elements_spec spec = {group.name, group.cloud, group.element_count, index, parameters};
    return stn_builder_add_elements(p->builder, group.instance, &spec, &i, err);
}

static stn_status pass_node_attachment(passing *p, int32_t i, stn_error *err) {
    byte_stream *b = p->b;
    built_attachment built = {0};
    if (!b->reading) {
        built = *attachment_at(p->builder, i);
    }
    const void *nodes = built.nodes;
    pass_index(b, &built.cloud);
    pass_index(b, &built.link);
    bytes_pass_count(b, &built.count, INT32_MAX);
    bytes_pass_array(b, p->scratch, &nodes, (size_t)built.count, sizeof(int32_t));
    stn_status status = bytes_status(b, err);
    return status == STN_OK && b->reading
               ? stn_builder_attach_nodes(p->builder, built.cloud, built.count, nodes, built.link, err)
               : status;
}

static stn_status pass_keyframe(passing *p, int32_t i, stn_error *err) {
    byte_stream *b = p->b;
    built_keyframe keyframe = {0};
    if (!b->reading) {
        keyframe = *keyframe_at(p->builder, i);
    }
    stn_keyframe_spec *spec = &keyframe.spec;
    const void *q = spec->q;
    bytes_pass_text(b, &spec->name);
    bytes_pass_text(b, &spec->where);
    pass_index(b, &keyframe.group);
    bytes_pass_count(b, &spec->q_count, INT32_MAX);
    bytes_pass_array(b, p->scratch, &q, (size_t)spec->q_count, sizeof(double));
    bytes_pass_bool(b, &keyframe.has_base);
    BYTES_PASS(b, &keyframe.base);
    stn_status status = bytes_status(b, err);
    spec->q = q;
    spec->base = keyframe.has_base ? &keyframe.base : NULL;
    return status == STN_OK && b->reading ? stn_builder_add_keyframe(p->builder, keyframe.group, spec, err) : status;
}

// --------------------------------------------------------------------------------------------------------- whole

/// Every list, in an order in which whatever names another comes after it.
static stn_status pass_model(passing *p, stn_error *err) {
    stn_model_builder *m = p->builder;
    const struct {
        const list *items;
        stn_status (*pass)(passing *, int32_t, stn_error *);
    } parts[] = {
        {&m->groups, pass_group},
        {&m->groups, pass_attachment},
        {&m->meshes, pass_mesh},
        {&m->clouds, pass_cloud},
        {&m->geometries, pass_geometry},
        {&m->excludes, pass_exclude},
        {&m->overrides, pass_override},
        {&m->element_groups, pass_element_group},
        {&m->attachments, pass_node_attachment},
        {&m->keyframes, pass_keyframe},
        {&m->constraints, pass_constraint},
    };
    stn_status status = STN_OK;
    for (int32_t k = 0; k < STN_COUNT(parts) && status == STN_OK; k++) {
        int32_t count = pass_count(p->b, parts[k].items->count);
        bool strange = parts[k].pass == pass_attachment && count != m->groups.count;
        status = strange ? stn_fail(err, STN_ERR_PARSE, "damaged (impossible sizes or values)") : STN_OK;
        for (int32_t i = 0; i < count && status == STN_OK; i++) {
            status = parts[k].pass(p, i, err);
        }
    }
    return status == STN_OK ? bytes_status(p->b, err) : status;
}

stn_status model_encode(const stn_model *model, byte_stream *out, stn_error *err) {
    *out = bytes_begin(model->context, magic, FILE_VERSION);
    passing p = {out, model_object_of(model)->described, stn_arena_create(model->context)};
    stn_status status = p.scratch != NULL ? pass_model(&p, err) : STN_ERR_MEMORY;
    stn_arena_destroy(p.scratch);
    bytes_seal(out);
    if (status != STN_OK || out->failed) {
        bytes_clear(out);
        return stn_fail(err, STN_ERR_MEMORY, "saving the model: out of memory");
    }
    return STN_OK;
}

stn_status model_decode(stn_model_builder *builder, const void *data, size_t size, stn_error *err) {
    byte_stream b;
    stn_status status = bytes_open(builder->context, data, size, "a saved model", magic, FILE_VERSION, &b, err);
    if (status != STN_OK) {
        return status;
    }
    passing p = {&b, builder, stn_arena_create(builder->context)};
    status = p.scratch != NULL ? pass_model(&p, err) : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    stn_arena_destroy(p.scratch);
    if (status == STN_OK && bytes_left(&b) > 0) {
        status = stn_fail(err, STN_ERR_PARSE, "damaged (%zu bytes too many)", bytes_left(&b));
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "a saved model");
    }
    return status;
}
