// SPDX-License-Identifier: Apache-2.0
// Which geometries of a model are drawn, with what colour, and where they are.
//
// A shape has its own colour; one that was left at the model's grey takes that of its robot or cloud of nodes, so that
// what was not painted can be told apart too. Half spaces are whitened: they are the paper that the scene stands on.
#include "picture.h"

enum { TRIANGLES_MAX = 4000000 };              // of all meshes together
static const float INVISIBLE = 0.05f;          // alpha below which nothing is drawn
static const float OVER_VISUAL = 0.35f;        // alpha of collision shapes that are drawn over visuals
static const double NO_LONGER_A_SCENE = 1e100; // [m]

static bool is_mesh(const stn_geometry *g) {
    return g->shape.type == STN_SHAPE_MESH || g->shape.type == STN_SHAPE_CONVEX ||
           g->shape.type == STN_SHAPE_HEIGHT_FIELD;
}

// --------------------------------------------------------------------------------------------------------- meshes

static void leave_out(const scene *s, int32_t mesh, const char *why) {
    s->meshes[mesh].unusable = true;
    stn_log(s->model->context, STN_LOG_WARNING, "recorder png: mesh %s is not drawn: %s", s->model->meshes[mesh].path,
            why);
}

/// Data and normals of a mesh that something draws. A mesh that cannot be had is said and left out.
static stn_status prepare_mesh(scene *s, int32_t number, stn_error *err) {
    scene_mesh *m = &s->meshes[number];
    if (m->normals != NULL || m->unusable) {
        return STN_OK;
    }
    stn_error why = {STN_OK, ""};
    stn_status status = stn_model_load_mesh(s->model, number, &m->mesh, &why);
    if (status == STN_ERR_MEMORY) {
        return stn_fail(err, status, "%s", why.text);
    }
    if (status < 0) {
        leave_out(s, number, why.text);
        return STN_OK;
    }
    if (m->mesh->triangle_count > TRIANGLES_MAX - s->triangle_count) {
        leave_out(s, number, "the meshes of a picture may have 4000000 triangles together");
        return STN_OK;
    }
    s->triangle_count += m->mesh->triangle_count;
    return mesh_normals(s->model->context, m->mesh, &m->normals, err);
}

// ----------------------------------------------------------------------------------------------------------- items

/// Which links have a visual that can be drawn; the world comes first.
static stn_status find_visuals(scene *s, bool *has_visual, stn_error *err) {
    for (int32_t i = 0; i < s->model->geometry_count; i++) {
        const stn_geometry *g = &s->model->geometries[i];
        if (!g->visual || g->body < 0 || g->shape.type == STN_SHAPE_HALF_SPACE) {
            continue;
        }
        if (is_mesh(g)) {
            stn_status status = g->mesh >= 0 ? prepare_mesh(s, g->mesh, err) : STN_OK;
            if (status < 0) {
                return status;
            }
            if (g->mesh < 0 || s->meshes[g->mesh].unusable) {
                continue;
            }
        }
        has_visual[g->link + 1] = true;
    }
    return STN_OK;
}

/// With what alpha a geometry is drawn; 0: not at all.
static float visibility(const stn_geometry *g, scene_choice choice, bool link_has_visual) {
    float alpha = g->rgba[3] < INVISIBLE ? 0.0f : g->rgba[3];
    if (g->shape.type == STN_SHAPE_SURFACE) {
        return (choice == SCENE_COLLISION ? g->collision : g->visual) ? alpha : 0.0f;
    }
    if (g->body < 0 && g->shape.type == STN_SHAPE_SPHERE) { // the sphere of a node stands for the deformable
        return alpha;
    }
    bool collides = g->collision && g->category != 0 && g->mask != 0;
    if (choice == SCENE_COLLISION) {
        return collides ? alpha : 0.0f;
    }
    if (g->visual || (collides && !link_has_visual)) {
        return alpha;
    }
    return collides && choice == SCENE_BOTH ? fminf(alpha, OVER_VISUAL) : 0.0f;
}

static colour colour_for(const stn_model *model, const stn_geometry *g) {
    static const float robots[][3] = {{0.50f, 0.71f, 0.72f}, {0.55f, 0.66f, 0.76f}, {0.85f, 0.70f, 0.48f},
                                      {0.58f, 0.72f, 0.58f}, {0.82f, 0.60f, 0.56f}, {0.68f, 0.62f, 0.78f}};
    stn_geometry_spec unpainted = stn_geometry_spec_default(g->shape);
    const float *own = g->rgba;
    bool painted = false;
    for (int32_t k = 0; k < STN_COUNT(g->rgba); k++) {
        painted = painted || own[k] != unpainted.rgba[k];
    }
    if (g->link >= 0 && !painted) {
        own = robots[model->links[g->link].group % STN_COUNT(robots)];
    } else if (g->body < 0 && !painted) { // clouds are the last trees, and the palette begins with another one
        own = robots[(model->node_tree[g->node] - model->node_tree[0] + 2) % STN_COUNT(robots)];
    }
    return colour_of(own[0], own[1], own[2]);
}

static stn_status add_item(scene *s, const stn_geometry *g, float alpha, stn_error *err) {
    scene_item *added = &s->items[s->item_count];
    *added = (scene_item){.pose = g->pose, .body = g->body, .node = g->node, .alpha = alpha};
    added->solid.shape = g->shape;
    added->colour = colour_for(s->model, g);
    if (is_mesh(g)) {
        stn_status status = g->mesh >= 0 ? prepare_mesh(s, g->mesh, err) : STN_OK;
        if (status < 0 || g->mesh < 0 || s->meshes[g->mesh].unusable) {
            return status;
        }
        added->solid.shape = stn_shape_mesh(s->meshes[g->mesh].mesh);
        added->solid.normals = s->meshes[g->mesh].normals;
    }
    if (g->shape.type == STN_SHAPE_SURFACE) {
        added->solid.surface = &s->model->surfaces[g->surface];
        added->solid.pose = stn_pose_identity();
    }
    s->translucent = s->translucent || alpha < 1.0f;
    s->item_count++;
    return STN_OK;
}

/// The means of triangles' normals at the vertices of a surface, by area, where its vertices are at `place`.
static void mean_normals(const stn_surface *surface, const stn_vec3 *place, stn_vec3 *normal) {
    for (int32_t i = 0; i < surface->vertex_count; i++) {
        normal[i] = stn_vec3_zero();
    }
    for (int32_t t = 0; t < surface->triangle_count; t++) {
        const int32_t *v = surface->triangle + 3 * (size_t)t;
        const stn_vec3 n = triangle_area(place, v);
        for (int32_t k = 0; k < 3; k++) {
            normal[v[k]] = stn_vec3_add(normal[v[k]], n);
        }
    }
    for (int32_t i = 0; i < surface->vertex_count; i++) {
        normal[i] = stn_vec3_normalize_or(normal[i], stn_vec3_make(0.0, 0.0, 1.0));
    }
}

/// Room for the vertices of all surfaces, and their normals at rest.
static stn_status prepare_surfaces(scene *s, stn_error *err) {
    size_t count = 0;
    for (int32_t i = 0; i < s->item_count; i++) {
        count += s->items[i].solid.surface != NULL ? (size_t)s->items[i].solid.surface->vertex_count : 0;
    }
    s->vertices = stn_allocate(s->model->context, 3 * count + 1, sizeof *s->vertices);
    if (s->vertices == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for surfaces of %zu nodes", count);
    }
    stn_vec3 *next = s->vertices;
    for (int32_t i = 0; i < s->item_count; i++) {
        solid *it = &s->items[i].solid;
        if (it->surface != NULL) {
            it->place = next;
            it->normal = next + it->surface->vertex_count;
            it->rest_normal = it->normal + it->surface->vertex_count;
            next = it->rest_normal + it->surface->vertex_count;
            mean_normals(it->surface, it->surface->rest, it->rest_normal);
        }
    }
    return STN_OK;
}

stn_status scene_open(scene *s, const stn_model *model, scene_choice choice, stn_error *err) {
    *s = (scene){.model = model};
    size_t count = (size_t)model->geometry_count + 1;
    s->items = stn_allocate(model->context, count, sizeof *s->items);
    s->planes = stn_allocate(model->context, count, sizeof *s->planes);
    s->meshes = stn_allocate(model->context, (size_t)model->mesh_count + 1, sizeof *s->meshes);
    bool *has_visual = stn_allocate(model->context, (size_t)model->link_count + 1, sizeof *has_visual);
    stn_status status = STN_OK;
    if (s->items == NULL || s->planes == NULL || s->meshes == NULL || has_visual == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory for %d shapes", (int)model->geometry_count);
    }
    if (status == STN_OK && choice != SCENE_COLLISION) {
        status = find_visuals(s, has_visual, err);
    }
    if (status == STN_OK) {
        for (int32_t i = 0; i < model->geometry_count && status == STN_OK; i++) {
            const stn_geometry *g = &model->geometries[i];
            float alpha = visibility(g, choice, has_visual[g->link + 1]);
            if (g->shape.type == STN_SHAPE_HALF_SPACE) {
                if (!g->visual && choice == SCENE_VISUAL) {
                    continue;
                }
                colour own = colour_of(g->rgba[0], g->rgba[1], g->rgba[2]), white = {1.0f, 1.0f, 1.0f};
                s->planes[s->plane_count++] =
                    (scene_plane){.pose = g->pose, .body = g->body, .colour = colour_mix(own, white, 0.8f)};
            } else if (alpha > 0.0f) {
                status = add_item(s, g, alpha, err);
            }
        }
    }
    stn_release(model->context, has_visual);
    status = status < 0 ? status : prepare_surfaces(s, err);
    if (status < 0) {
        scene_close(s);
    }
    return status;
}

void scene_close(scene *s) {
    if (s->model == NULL) {
        return;
    }
    stn_context *context = s->model->context;
    for (int32_t i = 0; s->meshes != NULL && i < s->model->mesh_count; i++) {
        stn_release(context, s->meshes[i].normals);
        stn_mesh_release(s->meshes[i].mesh);
    }
    stn_release(context, s->items);
    stn_release(context, s->planes);
    stn_release(context, s->meshes);
    stn_release(context, s->vertices);
    *s = (scene){0};
}

// ---------------------------------------------------------------------------------------------------------- places

static void place_surface(const solid *s, const stn_vec3 *node) {
    for (int32_t i = 0; i < s->surface->vertex_count; i++) {
        s->place[i] = node[s->surface->vertex[i]];
    }
    mean_normals(s->surface, s->place, s->normal);
}

static stn_aabb box_of(const solid *s) {
    if (s->surface == NULL) {
        return stn_shape_aabb(&s->shape, &s->pose, 0.0);
    }
    stn_aabb box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = 0; i < s->surface->vertex_count; i++) {
        const stn_vec3 p = s->place[i];
        box.lower = stn_vec3_make(fmin(box.lower.x, p.x), fmin(box.lower.y, p.y), fmin(box.lower.z, p.z));
        box.upper = stn_vec3_make(fmax(box.upper.x, p.x), fmax(box.upper.y, p.y), fmax(box.upper.z, p.z));
    }
    return box;
}

void scene_place(scene *s, const moment *m) {
    for (int32_t i = 0; i < s->item_count; i++) {
        scene_item *it = &s->items[i];
        it->solid.node_value = m->value;
        it->solid.value = m->value != NULL && it->body < 0 ? (double)m->value[it->node] : (double)NAN;
        if (it->solid.surface != NULL) {
            place_surface(&it->solid, m->node);
            continue;
        }
        it->solid.pose = it->pose;
        if (it->body >= 0) {
            it->solid.pose = stn_pose_mul(&m->body_pose[it->body], &it->pose);
        } else if (m->node_pose != NULL) {
            it->solid.pose = stn_pose_mul(&m->node_pose[it->node], &it->pose);
        } else {
            it->solid.pose.position = stn_vec3_add(m->node[it->node], it->pose.position);
        }
    }
    for (int32_t i = 0; i < s->plane_count; i++) {
        s->planes[i].world = stn_pose_mul(&m->body_pose[s->planes[i].body], &s->planes[i].pose);
    }
    stn_aabb all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = 0; i < s->item_count; i++) {
        stn_aabb box = box_of(&s->items[i].solid);
        all.lower = stn_vec3_make(fmin(all.lower.x, box.lower.x), fmin(all.lower.y, box.lower.y),
                                  fmin(all.lower.z, box.lower.z));
        all.upper = stn_vec3_make(fmax(all.upper.x, box.upper.x), fmax(all.upper.y, box.upper.y),
                                  fmax(all.upper.z, box.upper.z));
    }
    stn_vec3 half = stn_vec3_scale(0.5, stn_vec3_sub(all.upper, all.lower));
    s->radius = s->item_count > 0 ? stn_vec3_norm(half) : 0.0;
    s->centre = s->item_count > 0 ? stn_vec3_add(all.lower, half) : stn_vec3_zero();
    if (!(s->radius < NO_LONGER_A_SCENE) || !stn_vec3_finite(s->centre)) {
        s->radius = 0.0;
        s->centre = stn_vec3_zero();
    }
}

double scene_reach(const void *scene_pointer, stn_vec3 direction) {
    const scene *s = scene_pointer;
    double reach = -INFINITY;
    for (int32_t i = 0; i < s->item_count; i++) {
        const solid *it = &s->items[i].solid;
        for (int32_t v = 0; it->surface != NULL && v < it->surface->vertex_count; v++) {
            reach = fmax(reach, stn_vec3_dot(it->place[v], direction));
        }
        if (it->surface != NULL) {
            continue;
        }
        stn_vec3 own = stn_mat3_apply_transposed(&it->pose.rotation, direction);
        stn_vec3 point = stn_pose_apply(&it->pose, stn_shape_support(&it->shape, own));
        reach = fmax(reach, stn_vec3_dot(point, direction));
    }
    return reach;
}
