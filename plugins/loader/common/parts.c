// SPDX-License-Identifier: Apache-2.0
// From a compiled model back to links, joints and shapes as a file has them. The model keeps where each joint and shape
// was described, so nothing is computed back from bodies and no digit is lost.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stiction/plugin.h>

#include "parts.h"

void *robot_part_allocate(robot_parts *p, size_t count, size_t size) {
    void *memory = p->arena != NULL ? stn_arena_zeroed(p->arena, count > 0 ? count : 1, size) : NULL;
    p->out_of_memory |= memory == NULL;
    return memory;
}

#define NEW(parts, count, type) ((type *)robot_part_allocate((parts), (size_t)(count), sizeof(type)))

const char *robot_part_text(robot_parts *p, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length >= 0 ? NEW(p, length + 1, char) : NULL;
    if (text != NULL) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    va_end(arguments);
    return text != NULL ? text : "";
}

void robot_lose(robot_parts *p, const char *code, const char *element, const char *format, ...) {
    for (int32_t i = p->findings_before; i < p->diagnostics->count; i++) {
        if (strcmp(p->diagnostics->items[i].code, code) == 0) {
            return;
        }
    }
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    stn_diagnostics_add(p->diagnostics, STN_SEVERITY_WARNING, code, p->request->path, 0, element, "%s", text);
}

bool robot_part_names(robot_parts *p, robot_names *names) {
    bool made = robot_names_init(&p->tables, names, 0);
    p->out_of_memory |= !made;
    return made;
}

const char *robot_part_unique(robot_parts *p, robot_names *taken, const char *name) {
    const char *unique = robot_names_unique(&p->tables, taken, name);
    p->out_of_memory |= p->tables.out_of_memory;
    return unique;
}

// ----------------------------------------------------------------------------------------------------------- links

static int compare_ranks(const void *a, const void *b) {
    const int32_t *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

static stn_status check_name(const robot_parts *p, const char *what, const char *name, stn_error *err) {
    if (!xml_cannot_hold(name)) {
        return STN_OK;
    }
    return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: the name of a %s holds a control character, which XML cannot",
                    p->request->path, what);
}

/// Links with the joints above them. Joints from other robots and welds to them are not of this robot.
static void take_links(robot_parts *p) {
    int32_t start = p->robot->link_start;
    int32_t(*order)[2] = robot_part_allocate(p, (size_t)p->count, sizeof *order); // rank, part
    p->parts = NEW(p, p->count, robot_part);
    p->joints = NEW(p, p->count, int32_t);
    for (int32_t i = 0; i < p->count && !p->out_of_memory; i++) {
        robot_part *part = &p->parts[i];
        const stn_link *link = &p->model->links[start + i];
        bool own = link->parent >= start && link->parent < start + p->count;
        *part = (robot_part){.link = link, .name = link->name, .parent = own ? link->parent - start : -1};
        part->origin = stn_pose_identity();
        part->master = part->first_child = part->next_sibling = -1;
        part->on_world = link->parent == STN_WORLD && link->joint_name != NULL;
        if (link->parent >= 0 && !own) {
            robot_lose(p, "attached", robot_part_text(p, "link %s", link->name),
                       "it hangs on another robot, of which the file says nothing: it is the root here");
        } else if (link->joint_name != NULL) {
            part->joint_name = link->joint_name;
            part->origin = link->origin;
            part->joint = link->joint >= 0 ? &p->model->joints[link->joint] : NULL;
            part->type = part->joint != NULL ? part->joint->type : STN_JOINT_FIXED;
            order[p->joint_count][0] = link->joint_rank;
            order[p->joint_count++][1] = i;
        }
    }
    if (p->out_of_memory) {
        return;
    }
    qsort(order, (size_t)p->joint_count, sizeof *order, compare_ranks);
    for (int32_t i = 0; i < p->joint_count; i++) {
        p->joints[i] = order[i][1];
    }
    for (int32_t i = p->joint_count - 1; i >= 0; i--) { // backwards: pushed in front
        robot_part *child = &p->parts[p->joints[i]];
        if (child->parent >= 0) {
            child->next_sibling = p->parts[child->parent].first_child;
            p->parts[child->parent].first_child = p->joints[i];
        }
    }
}

static void find_masters(robot_parts *p) {
    int32_t *part_of = NEW(p, p->model->joint_count, int32_t); // + 1; 0: of another robot
    for (int32_t i = 0; part_of != NULL && i < p->count; i++) {
        if (p->parts[i].joint != NULL) {
            part_of[p->parts[i].joint - p->model->joints] = i + 1;
        }
    }
    for (int32_t i = 0; part_of != NULL && i < p->count; i++) {
        robot_part *part = &p->parts[i];
        int32_t master = part->joint != NULL ? part->joint->mimic : -1;
        part->master = master >= 0 ? part_of[master] - 1 : -1;
        if (master >= 0 && part->master < 0) {
            robot_lose(p, "mimic", robot_part_text(p, "joint %s", part->joint_name),
                       "it follows joint '%s' of another robot: it moves by itself in the file",
                       p->model->joints[master].name);
        }
    }
}

/// Soft bodies that came with the robot: their clouds are called "robot/...".
static void lose_softs(robot_parts *p) {
    const size_t length = strlen(p->robot->name);
    for (int32_t t = 0; t < p->model->tree_count; t++) {
        const char *name = p->model->trees[t].name;
        if (strncmp(name, p->robot->name, length) == 0 && name[length] == '/') {
            robot_lose(p, "soft", robot_part_text(p, "soft body %s", name + length + 1),
                       "soft bodies are left out: keep the file that they come from");
        }
    }
}

/// Finds the root, and refuses names that a file cannot hold.
static stn_status find_root(robot_parts *p, stn_error *err) {
    p->root = -1;
    for (int32_t i = 0; i < p->count; i++) {
        p->root = p->parts[i].joint_name == NULL ? i : p->root;
    }
    p->root_is_world = p->root >= 0 && strcmp(p->parts[p->root].name, "world") == 0;
    for (int32_t i = 0; i < p->count; i++) {
        if (strcmp(p->parts[i].name, "world") == 0 && !(p->root_is_world && i == p->root)) {
            return stn_fail(err, STN_ERR_UNSUPPORTED,
                            "%s: link 'world' is not the root: in a file that name means the world itself; rename it",
                            p->request->path);
        }
    }
    stn_status status = check_name(p, "robot", p->name, err);
    for (int32_t i = 0; i < p->count && status == STN_OK; i++) {
        const robot_part *part = &p->parts[i];
        status = check_name(p, "link", part->name, err);
        if (status == STN_OK && part->joint_name != NULL) {
            status = check_name(p, "joint", part->joint_name, err);
        }
        if (status == STN_OK && part->joint != NULL) {
            status = check_name(p, "actuator", part->joint->actuator, err);
        }
    }
    return status;
}

// ---------------------------------------------------------------------------------------------------------- shapes

/// What stands behind `folder` in a path below it, NULL: it is not.
static const char *below(const char *path, const char *folder) {
    size_t length = folder != NULL ? strlen(folder) : 0;
    bool inside =
        length > 0 && strncmp(path, folder, length) == 0 && (path[length] == '/' || folder[length - 1] == '/');
    return inside ? path + length + (path[length] == '/') : NULL;
}

static const char *name_mesh(robot_parts *p, const robot_part *part, const char *path) {
    char real[PATH_MAX];
    const char *found = realpath(path, real) != NULL ? real : path;
    const char *inside = below(found, p->folder);
    if (inside != NULL) {
        return robot_part_text(p, "%s", inside);
    }
    inside = below(found, p->folder_above);
    if (inside != NULL) {
        return robot_part_text(p, "../%s", inside);
    }
    robot_lose(
        p, "mesh_path", robot_part_text(p, "link %s", part->name),
        "mesh '%.200s' lies outside of the file's folder and the one above: its name is absolute, and reading it "
        "must be allowed (allow_absolute)",
        path);
    return robot_part_text(p, "%s", found);
}

stn_pose robot_save_pose(const robot_shape *shape) {
    stn_pose pose = shape->pose;
    if (shape->geometry->shape.type == STN_SHAPE_HALF_SPACE) {
        stn_mat3 turn = stn_contact_frame(stn_vec3_make(0.0, 0.0, 1.0)), back = stn_mat3_transpose(&turn);
        pose.rotation = stn_mat3_mul(&pose.rotation, &back);
    }
    return pose;
}

bool robot_save_friction(const stn_geometry *g, double *mu, double *mu2, double direction[3]) {
    stn_vec3 d = stn_vec3_normalize_or(g->friction_direction, stn_vec3_zero());
    if (g->shape.type == STN_SHAPE_HALF_SPACE) {
        stn_mat3 turn = stn_contact_frame(stn_vec3_make(0.0, 0.0, 1.0));
        d = stn_mat3_apply(&turn, d);
    }
    *mu = isnan(g->material.mu) ? stn_material_default().mu : g->material.mu;
    *mu2 = g->material.mu2;
    robot_settle_axis(d, direction);
    return stn_vec3_norm(d) > 0.0 && !isnan(*mu2) && *mu2 != *mu;
}

/// false: a format cannot name it.
static bool take_shape(robot_parts *p, const robot_part *part, const stn_geometry *g, robot_shape *shape) {
    const stn_mesh_reference *mesh = g->mesh >= 0 ? &p->model->meshes[g->mesh] : NULL;
    *shape = (robot_shape){g, g->in_link, NULL, {1.0, 1.0, 1.0}};
    if (g->surface_velocity.x != 0.0 || g->surface_velocity.y != 0.0 || g->surface_velocity.z != 0.0) {
        robot_lose(p, "surface_velocity", robot_part_text(p, "link %s", part->name),
                   "robot files have no conveyor belts: the velocity of a surface is left out");
    }
    if (g->collision && (g->category & g->mask & 1) == 0) { // those with the first bit meet each other and the rest
        robot_lose(p, "collision_mask", robot_part_text(p, "link %s", part->name),
                   "categories and masks of shapes are left out: exclude pairs of links instead");
    }
    const stn_mesh_reference *volume = g->field.volume_mesh >= 0 ? &p->model->meshes[g->field.volume_mesh] : NULL;
    if (volume != NULL && !(mesh != NULL && strcmp(mesh->path, volume->path) == 0 && mesh->scale.x == volume->scale.x &&
                            mesh->scale.y == volume->scale.y && mesh->scale.z == volume->scale.z)) {
        robot_lose(p, "volume_mesh", robot_part_text(p, "link %s", part->name),
                   "tetrahedra that are not those of its shape's mesh file are left out");
    }
    if (mesh == NULL) {
        return true;
    }
    if (mesh->path[0] == '\0' || access(mesh->path, F_OK) != 0) {
        robot_lose(p, "mesh", robot_part_text(p, "link %s", part->name),
                   "mesh '%.200s' is no file, such as one made from numbers: its shapes are left out", mesh->path);
        return false;
    }
    shape->mesh = name_mesh(p, part, mesh->path);
    shape->scale = mesh->scale;
    if (robot_is_gltf(mesh->path)) { // the opposite of robot_stand_up
        const stn_pose turn = {{{{1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}, {0.0, -1.0, 0.0}}}, {0.0, 0.0, 0.0}};
        shape->pose = stn_pose_mul(&shape->pose, &turn);
        shape->scale = stn_vec3_make(shape->scale.x, shape->scale.z, shape->scale.y);
    }
    return true;
}

static void take_shapes(robot_parts *p) {
    const stn_model *m = p->model;
    int32_t total = 0, start = p->robot->link_start;
    for (int32_t i = 0; i < m->geometry_count; i++) {
        int32_t at = m->geometries[i].body >= 0 ? m->geometries[i].link - start : -1;
        if (at >= 0 && at < p->count) {
            p->parts[at].shape_count++;
            total++;
        }
    }
    p->shapes = NEW(p, total, robot_shape);
    for (int32_t i = 0, sum = 0; i < p->count; i++) {
        p->parts[i].shape_start = sum;
        sum += p->parts[i].shape_count;
        p->parts[i].shape_count = 0;
    }
    for (int32_t i = 0; i < m->geometry_count && !p->out_of_memory; i++) {
        int32_t at = m->geometries[i].body >= 0 ? m->geometries[i].link - start : -1;
        if (at >= 0 && at < p->count) {
            robot_part *part = &p->parts[at];
            part->shape_count +=
                take_shape(p, part, &m->geometries[i], &p->shapes[part->shape_start + part->shape_count]);
        }
    }
}

// ----------------------------------------------------------------------------------------------------------- pairs

int robot_compare_pairs(const void *a, const void *b) {
    const robot_pair *x = a, *y = b;
    int order = (x->a > y->a) - (x->a < y->a);
    return order != 0 ? order : (x->b > y->b) - (x->b < y->b);
}

static void take_pairs(robot_parts *p) {
    int32_t start = p->robot->link_start;
    p->pairs = NEW(p, p->model->exclude_count, robot_pair);
    for (int32_t i = 0; i < p->model->exclude_count && !p->out_of_memory; i++) {
        int32_t a = p->model->excludes[i].link_a, b = p->model->excludes[i].link_b;
        int32_t low = (a < b ? a : b), high = a < b ? b : a;
        bool low_fits = low == STN_WORLD || (low >= start && low < start + p->count);
        if (low_fits && high >= start && high < start + p->count && low != high) {
            p->pairs[p->pair_count++] = (robot_pair){low == STN_WORLD ? -1 : low - start, high - start};
        }
    }
    if (p->out_of_memory || p->pair_count == 0) {
        return;
    }
    qsort(p->pairs, (size_t)p->pair_count, sizeof *p->pairs, robot_compare_pairs);
    int32_t kept = 1;
    for (int32_t i = 1; i < p->pair_count; i++) {
        if (robot_compare_pairs(&p->pairs[i], &p->pairs[kept - 1]) != 0) {
            p->pairs[kept++] = p->pairs[i];
        }
    }
    p->pair_count = kept;
}

// ------------------------------------------------------------------------------------------------------------- all

stn_status robot_parts_init(robot_parts *p, const stn_save_request *request, stn_diagnostics *diagnostics,
                            stn_error *err) {
    const stn_model *model = request->model;
    *p = (robot_parts){.arena = stn_arena_create(model->context),
                       .request = request,
                       .diagnostics = diagnostics,
                       .findings_before = diagnostics->count,
                       .model = model,
                       .robot = &model->groups[request->group]};
    p->tables.arena = p->arena;
    p->name = request->name != NULL ? request->name : p->robot->name;
    p->count = p->robot->link_count;
    char real[PATH_MAX];
    const char *slash = strrchr(request->path, '/');
    int length = slash != NULL ? (int)(slash - request->path) : 0;
    const char *folder = slash == NULL ? "." : length > 0 ? robot_part_text(p, "%.*s", length, request->path) : "/";
    if (realpath(folder, real) != NULL) {
        p->folder = robot_part_text(p, "%s", real);
        char *last = strrchr(real, '/');
        if (last != NULL && last != real) { // the root folder is no home of anybody's
            *last = '\0';
            p->folder_above = robot_part_text(p, "%s", real);
        }
    }
    take_links(p);
    if (!p->out_of_memory) {
        find_masters(p);
        lose_softs(p);
        stn_status status = find_root(p, err);
        if (status != STN_OK) {
            return status;
        }
        p->fixed = p->robot->fixed && !p->root_is_world && p->root >= 0 && p->parts[p->root].link->parent == STN_WORLD;
        take_shapes(p);
        take_pairs(p);
    }
    return p->out_of_memory ? stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", request->path) : STN_OK;
}

void robot_parts_clear(robot_parts *p) {
    stn_arena_destroy(p->arena);
    *p = (robot_parts){0};
}

stn_status robot_parts_finish(robot_parts *p, xml_writer *writer, char **text, size_t *length, stn_error *err) {
    if (p->out_of_memory) {
        stn_release(writer->context, writer->text);
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", p->request->path);
    }
    stn_status status = xml_finish(writer, text, length, err);
    if (status == STN_OK && !robot_is_readable(*text, *length)) {
        stn_release(writer->context, *text);
        *text = NULL;
        status = stn_fail(err, STN_ERR_UNSUPPORTED,
                          "the robot is too large for one file: it would have more bytes, or elements and attributes, "
                          "than are read");
    }
    return status == STN_OK ? status : stn_error_prefix(err, "%s", p->request->path);
}

// -------------------------------------------------------------------------------------------------------- constraints

static bool is_own(const robot_parts *p, int32_t link) {
    return link >= p->robot->link_start && link < p->robot->link_start + p->robot->link_count;
}

/// The link that an end is on; of a joint the one that it carries.
static int32_t end_link(const robot_parts *p, const stn_constraint_end *end) {
    if (end->joint < 0) {
        return end->link;
    }
    for (int32_t i = 0; i < p->model->link_count; i++) {
        if (p->model->links[i].joint == end->joint) {
            return i;
        }
    }
    return STN_WORLD;
}

const char *robot_constraint_label(robot_parts *p, const stn_model_constraint *c) {
    return robot_part_text(p, "%s %s", c->instance->desc->id, c->name[0] != '\0' ? c->name : "without a name");
}

double robot_constraint_number(const stn_model_constraint *c, const char *name, double missing) {
    const stn_plugin_desc *desc = c->instance->desc;
    for (int32_t i = 0; i < desc->param_count; i++) {
        if (desc->params[i].type == STN_PARAM_TYPE_REAL && strcmp(desc->params[i].name, name) == 0) {
            double number;
            memcpy(&number, (const char *)c->instance->config + desc->params[i].offset, sizeof number);
            return number;
        }
    }
    return missing;
}

int32_t robot_take_constraints(robot_parts *p, const stn_model_constraint **list) {
    int32_t count = 0;
    for (int32_t i = 0; i < p->model->constraint_count; i++) {
        const stn_model_constraint *c = &p->model->constraints[i];
        bool own = false, other = false;
        for (int32_t k = 0; k < c->end_count; k++) {
            int32_t link = end_link(p, &c->ends[k]);
            own = own || is_own(p, link);
            other = other || (link != STN_WORLD && !is_own(p, link));
        }
        if (own && !other) {
            list[count++] = c;
        } else if (own) {
            robot_lose(p, "constraint_robot", robot_constraint_label(p, c),
                       "it holds another robot, of which the file says nothing: left out");
        }
    }
    return count;
}

void robot_lose_constraints(robot_parts *p, const char *format) {
    const stn_model_constraint **list = robot_part_allocate(p, (size_t)p->model->constraint_count, sizeof *list);
    int32_t count = list != NULL ? robot_take_constraints(p, list) : 0;
    if (count > 0) {
        robot_lose(p, "constraint", robot_constraint_label(p, list[0]),
                   "%s cannot hold constraints such as this: %d left out; MJCF holds welds and balls", format,
                   (int)count);
    }
}
