// SPDX-License-Identifier: Apache-2.0
// Surfaces over nodes: triangles of a cloud that collide as one geometry. The builder checks them and finds vertices,
// edges and who owns what; compiling counts nodes over the whole model.
#include <stdlib.h>
#include <string.h>

#include "model/built.h"
#include "model/compiler.h"

/// Below this share of its longest side squared, twice the area of a triangle is rounding.
static const double flat = 1e-12;

static stn_vec3 position_of(const built_cloud *cloud, int32_t node) {
    const double *x = cloud->position + 3 * (size_t)node;
    return stn_vec3_make(x[0], x[1], x[2]);
}

/// `*volume`: what they enclose, if they are closed.
static stn_status check_triangles(const built_cloud *cloud, const stn_surface_spec *spec, double *volume,
                                  stn_error *err) {
    *volume = 0.0;
    const stn_vec3 origin = position_of(cloud, 0);
    for (int32_t t = 0; t < spec->triangle_count; t++) {
        const int32_t *n = spec->triangles + 3 * (size_t)t;
        stn_vec3 p[3];
        for (int32_t k = 0; k < 3; k++) {
            if (n[k] < 0 || n[k] >= cloud->node_count) {
                return stn_fail(err, STN_ERR_ARGUMENT, "triangle %d names node %d (%d nodes)", t, n[k],
                                cloud->node_count);
            }
            p[k] = stn_vec3_sub(position_of(cloud, n[k]), origin);
        }
        stn_vec3 u = stn_vec3_sub(p[1], p[0]), v = stn_vec3_sub(p[2], p[0]), w = stn_vec3_sub(p[2], p[1]);
        double longest2 = fmax(stn_vec3_dot(u, u), fmax(stn_vec3_dot(v, v), stn_vec3_dot(w, w)));
        double area2 = stn_vec3_norm(stn_vec3_cross(u, v));
        if (!(area2 > flat * longest2)) { // also a node that it has twice
            return stn_fail(
                err, STN_ERR_ARGUMENT,
                "triangle %d (nodes %d, %d, %d) has no area: %g m^2 at a longest side of %g m; leave it out", t, n[0],
                n[1], n[2], 0.5 * area2, sqrt(longest2));
        }
        *volume += stn_vec3_dot(p[0], stn_vec3_cross(p[1], p[2])) / 6.0;
    }
    return STN_OK;
}

/// A side of a triangle: nodes, the lower first, and 3 triangle + corner from which it goes.
typedef struct side {
    int32_t low, high, corner;
} side;

static int compare_sides(const void *a, const void *b) {
    const side *x = a, *y = b;
    int order = (x->low > y->low) - (x->low < y->low);
    order = order != 0 ? order : (x->high > y->high) - (x->high < y->high);
    return order != 0 ? order : (x->corner > y->corner) - (x->corner < y->corner);
}

/// Numbers the nodes that triangles have, ascending: `number` of each of the cloud's nodes, -1: none has it.
static bool find_vertices(stn_model_builder *b, const stn_surface_spec *spec, int32_t *number, int32_t nodes,
                          stn_surface *out) {
    size_t corners = 3 * (size_t)spec->triangle_count;
    int32_t *triangle = STN_ARENA(b->memory, corners, int32_t), *vertex, *owner;
    for (int32_t i = 0; i < nodes; i++) {
        number[i] = -1;
    }
    for (size_t i = 0; i < corners; i++) {
        number[spec->triangles[i]] = 0;
    }
    for (int32_t i = 0; i < nodes; i++) {
        number[i] = number[i] == 0 ? out->vertex_count++ : -1;
    }
    vertex = STN_ARENA(b->memory, out->vertex_count, int32_t);
    owner = STN_ARENA(b->memory, out->vertex_count, int32_t);
    if (triangle == NULL || vertex == NULL || owner == NULL) {
        return false;
    }
    for (int32_t i = 0; i < nodes; i++) {
        if (number[i] >= 0) {
            vertex[number[i]] = i;
        }
    }
    for (size_t i = corners; i-- > 0;) { // the first triangle stays
        triangle[i] = number[spec->triangles[i]];
        owner[triangle[i]] = (int32_t)(i / 3);
    }
    out->vertex = vertex;
    out->triangle = triangle;
    out->vertex_owner = owner;
    return true;
}

static stn_status fail_edge(const side *s, const char *what, stn_error *err) {
    return stn_fail(err, STN_ERR_ARGUMENT, "the edge between nodes %d and %d %s", s->low, s->high, what);
}

/// Edges from the sides of all triangles, sorted: equal ones are one edge.
static stn_status find_edges(stn_model_builder *b, const stn_surface_spec *spec, side *sides, const int32_t *number,
                             stn_surface *out, stn_error *err) {
    int32_t corners = 3 * spec->triangle_count;
    for (int32_t i = 0; i < corners; i++) {
        int32_t from = spec->triangles[i], to = spec->triangles[i / 3 * 3 + (i + 1) % 3];
        sides[i] = (side){from < to ? from : to, from < to ? to : from, i};
    }
    qsort(sides, (size_t)corners, sizeof *sides, compare_sides);
    int32_t *triangle_edge = STN_ARENA(b->memory, corners, int32_t);
    int32_t *edge = STN_ARENA(b->memory, 2 * (size_t)corners, int32_t);
    int32_t *edge_triangle = STN_ARENA(b->memory, 2 * (size_t)corners, int32_t);
    if (triangle_edge == NULL || edge == NULL || edge_triangle == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0, end; i < corners; i = end) {
        const side *s = &sides[i];
        for (end = i + 1; end < corners && sides[end].low == s->low && sides[end].high == s->high; end++) {
        }
        if (end - i > 2) {
            return fail_edge(s, "has more than two triangles", err);
        }
        if (spec->solid && end - i == 1) {
            return fail_edge(s, "has one triangle, so the surface is not closed: it cannot be solid", err);
        }
        if (spec->solid && spec->triangles[s->corner] == spec->triangles[sides[i + 1].corner]) {
            return fail_edge(s, "has two triangles that look to different sides: a solid needs one outside", err);
        }
        int32_t e = out->edge_count++;
        edge[2 * (size_t)e] = number[s->low];
        edge[2 * (size_t)e + 1] = number[s->high];
        edge_triangle[2 * (size_t)e] = s->corner / 3;
        edge_triangle[2 * (size_t)e + 1] = end - i == 2 ? sides[i + 1].corner / 3 : -1;
        for (int32_t k = i; k < end; k++) {
            triangle_edge[sides[k].corner] = e;
        }
    }
    out->triangle_edge = triangle_edge;
    out->edge = edge;
    out->edge_triangle = edge_triangle;
    return STN_OK;
}

/// Vertices, edges and owners; checks what they show.
static stn_status find_parts(stn_model_builder *b, const built_cloud *cloud, const stn_surface_spec *spec,
                             stn_surface *out, stn_error *err) {
    int32_t *number = stn_allocate(b->context, (size_t)cloud->node_count, sizeof *number);
    side *sides = stn_allocate(b->context, 3 * (size_t)spec->triangle_count, sizeof *sides);
    stn_status status = STN_OK;
    if (number == NULL || sides == NULL || !find_vertices(b, spec, number, cloud->node_count, out)) {
        status = model_out_of_memory(err);
    } else {
        status = find_edges(b, spec, sides, number, out, err);
    }
    stn_release(b->context, number);
    stn_release(b->context, sides);
    return status;
}

static stn_status add_geometry(stn_model_builder *builder, const stn_surface_spec *spec, int32_t *geometry,
                               stn_error *err) {
    built_geometry *item = list_reserve(builder->context, &builder->geometries, sizeof *item);
    const char *name = builder_copy_text(builder, spec->name), *where = builder_copy_text(builder, spec->where);
    if (item == NULL || name == NULL || where == NULL) {
        return model_out_of_memory(err);
    }
    item->spec = stn_geometry_spec_default((stn_shape){.type = STN_SHAPE_SURFACE, .radius = spec->thickness});
    item->spec.name = name;
    item->spec.where = where;
    item->spec.material = spec->material;
    item->spec.collision = spec->collision;
    item->spec.visual = spec->visual;
    item->spec.category = spec->category;
    item->spec.mask = spec->mask;
    memcpy(item->spec.rgba, spec->rgba, sizeof item->spec.rgba);
    item->link = STN_SURFACE_LINK(builder->surfaces.count);
    *geometry = builder->geometries.count++;
    return STN_OK;
}

stn_status stn_builder_add_surface(stn_model_builder *builder, int32_t nodes, const stn_surface_spec *spec,
                                   int32_t *geometry, stn_error *err) {
    if (nodes < 0 || nodes >= builder->clouds.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "surface: there is no cloud of nodes %d (%d clouds)", nodes,
                        builder->clouds.count);
    }
    const built_cloud *cloud = cloud_at(builder, nodes);
    double volume = 0.0;
    stn_surface face = {.thickness = spec->thickness,
                        .triangle_count = spec->triangle_count,
                        .solid = spec->solid,
                        .self_collision = spec->self_collision};
    stn_status status = check_surface_spec(spec, err);
    if (status == STN_OK && cloud->type != STN_NODE_POINT) {
        status = stn_fail(err, STN_ERR_ARGUMENT,
                          "its nodes are frames, a surface lies over points: let frames carry shapes");
    }
    if (status == STN_OK) {
        status = check_triangles(cloud, spec, &volume, err);
    }
    if (status == STN_OK) {
        status = find_parts(builder, cloud, spec, &face, err);
    }
    if (status == STN_OK && spec->solid && !(volume > 0.0)) {
        status = stn_fail(err, STN_ERR_ARGUMENT,
                          "solid: its triangles enclose %g m^3, must be > 0: order their nodes counter-clockwise seen "
                          "from the outside",
                          volume);
    }
    built_surface *item = list_reserve(builder->context, &builder->surfaces, sizeof *item);
    if (status == STN_OK && item == NULL) {
        status = model_out_of_memory(err);
    }
    if (status == STN_OK) {
        status = add_geometry(builder, spec, geometry, err);
    }
    if (status != STN_OK) {
        bool located = spec->where != NULL && spec->where[0] != '\0';
        stn_error_prefix(err, "nodes '%s', surface '%s'%s%s%s", cloud->name, spec->name != NULL ? spec->name : "",
                         located ? " (" : "", located ? spec->where : "", located ? ")" : "");
        return status;
    }
    face.geometry = *geometry;
    *item = (built_surface){nodes, face};
    builder->surfaces.count++;
    return STN_OK;
}

// ---------------------------------------------------------------------------------------------------- compiling

stn_status compile_node_surfaces(compiler *c, stn_error *err) {
    stn_model *m = &c->object->face;
    int32_t count = c->builder->surfaces.count;
    stn_surface *surfaces = STN_ARENA(c->memory, count, stn_surface);
    if (surfaces == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0; i < count; i++) {
        const built_surface *built = surface_at(c->builder, i);
        const stn_tree *tree = &m->trees[c->object->articulated_count + built->cloud];
        int32_t *vertex = STN_ARENA(c->memory, built->face.vertex_count, int32_t);
        stn_vec3 *rest = STN_ARENA(c->memory, built->face.vertex_count, stn_vec3);
        const built_cloud *cloud = cloud_at(c->builder, built->cloud);
        const double *at_rest = cloud->rest != NULL ? cloud->rest : cloud->position;
        if (vertex == NULL || rest == NULL) {
            return model_out_of_memory(err);
        }
        for (int32_t k = 0; k < built->face.vertex_count; k++) {
            const double *x = at_rest + 3 * (size_t)built->face.vertex[k];
            vertex[k] = tree->node_start + built->face.vertex[k];
            rest[k] = stn_vec3_make(x[0], x[1], x[2]);
        }
        surfaces[i] = built->face;
        surfaces[i].tree = c->object->articulated_count + built->cloud;
        surfaces[i].vertex = vertex;
        surfaces[i].rest = rest;
    }
    m->surfaces = surfaces;
    m->surface_count = count;
    return STN_OK;
}
