// SPDX-License-Identifier: Apache-2.0
// A robot, what became of it in a file of each format, and how far the two are apart.
#ifndef SAVE_FIXTURE_H
#define SAVE_FIXTURE_H

#include <dirent.h>

#include <stiction/dynamics.h>
#include <stiction/plugin.h>

#include "robot_fixture.h"
#include "stn_random_pose.h"

/// What a format holds of a model.
typedef struct save_format {
    const char *id, *extension;
    bool same_joints; // the same joints in the same order; otherwise their coordinates are in the same order
    bool bases;       // where the root stands, and whether it is welded
    bool efforts;     // of joints with several coordinates
    bool springs, servos, velocity, acceleration, actuators, surfaces, revolute;
    const char *without; // joint types that it does not have
    bool bound_planar;   // such joints need frames of their own elsewhere
} save_format;

static const save_format save_formats[] = {
    {.id = "urdf",
     .extension = "urdf",
     .same_joints = true,
     .efforts = true,
     .velocity = true,
     .acceleration = true,
     .actuators = true,
     .surfaces = true},
    {.id = "sdf",
     .extension = "sdf",
     .same_joints = true,
     .efforts = true,
     .bases = true,
     .springs = true,
     .servos = true,
     .velocity = true,
     .acceleration = true,
     .surfaces = true,
     .revolute = true,
     .without = "floating",
     .bound_planar = true},
    {.id = "mjcf", .extension = "xml", .bases = true, .springs = true, .servos = true, .without = "floating screw"},
};

/// The largest deviations over all configurations that were tried.
typedef struct save_deviation {
    double pose, mass, bias;
} save_deviation;

static inline stn_model *save_compile(fixture *f, stn_model_builder *builder) {
    stn_model *model = NULL;
    assert_ok(stn_model_compile(builder, &model, &f->err), f->err);
    stn_builder_destroy(builder);
    return model;
}

/// How the root stands.
typedef enum save_base { SAVE_FREE, SAVE_WELDED, SAVE_AS_PROPOSED } save_base;

static inline stn_pose save_base_pose(void) {
    return (stn_pose){stn_mat3_from_rpy(0.3, -0.2, 0.1), {1.0, 2.0, 3.0}};
}

/// Loads a file and compiles.
static inline stn_model *save_load(fixture *f, const char *path, save_base stands) {
    stn_model_builder *builder = NULL;
    stn_pose base = save_base_pose();
    int32_t robot = 0;
    stn_load_request request = {.path = path};
    stn_diagnostics_clear(&f->list);
    stn_diagnostics_init(&f->list, f->context);
    assert_ok(stn_builder_create(f->context, &builder, &f->err), f->err);
    if (stn_load_robot(f->context, &request, builder, &robot, &f->list, &f->err) != STN_OK) {
        print_findings(f);
        fail_msg("%s", f->err.text);
    }
    if (stands != SAVE_AS_PROPOSED) {
        assert_ok(stn_builder_set_base(builder, robot, &base, stands == SAVE_WELDED, &f->err), f->err);
    }
    return save_compile(f, builder);
}

static inline void save_write(fixture *f, const stn_model *model, const save_format *format, const char *path) {
    stn_save_request request = {.model = model, .path = path};
    assert_ok(stn_save_robot(f->context, &request, format->id, &f->list, &f->err), f->err);
}

static inline char *save_read(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t length = (size_t)ftell(file);
    char *text = calloc(length + 1, 1);
    rewind(file);
    assert_int_equal(fread(text, 1, length, file), length);
    fclose(file);
    return text;
}

// --------------------------------------------------------------------------------------------------------- structure

/// Undeclared parents "world" become links.
static inline bool save_is_world(const stn_link *link) {
    return link->parent == STN_WORLD && strcmp(link->name, "world") == 0;
}

/// Links that a file names: not those without mass between the joints of one MJCF body.
static inline int32_t save_link_count(const stn_model *m) {
    int32_t count = 0;
    for (int32_t i = 0; i < m->link_count; i++) {
        const stn_link *link = &m->links[i];
        count += !save_is_world(link) && !(link->mass.mass == 0.0 && strstr(link->name, "_part") != NULL);
    }
    return count;
}

static inline void save_compare_joint(const save_format *format, const stn_model *a, const stn_model *b,
                                      const stn_joint *j) {
    const stn_joint *k = &b->joints[stn_model_find_joint(b, 0, j->name)];
    bool free = !format->revolute && j->type == STN_JOINT_REVOLUTE && isinf(j->lower) && isinf(j->upper);
    bool effort = format->efforts || stn_joint_type_is_axial(j->type);
    const double pairs[][2] = {
        {j->lower, k->lower},
        {j->upper, k->upper},
        {effort ? j->effort : 0.0, effort ? k->effort : 0.0},
        {j->damping, k->damping},
        {j->friction, k->friction},
        {j->screw_pitch, k->screw_pitch},
        {j->reflected_inertia, j->effort == 0.0 ? j->reflected_inertia : k->reflected_inertia},
        {format->velocity ? j->velocity : 0.0, format->velocity ? k->velocity : 0.0},
        {format->acceleration ? j->acceleration : 0.0, format->acceleration ? k->acceleration : 0.0},
        {format->springs ? j->stiffness : 0.0, k->stiffness},
        {format->springs ? j->rest : 0.0, k->rest},
        {format->servos ? j->servo_kp : 0.0, k->servo_kp},
        {format->servos ? j->servo_kd : 0.0, k->servo_kd}};
    for (int32_t i = 0; i < STN_COUNT(pairs); i++) {
        if (pairs[i][0] != pairs[i][1] && !(fabs(pairs[i][0] - pairs[i][1]) <= 4e-16 * fabs(pairs[i][0]))) {
            fail_msg("%s: figure %d of joint %s is %.17g, was %.17g", format->id, (int)i, j->name, pairs[i][1],
                     pairs[i][0]);
        }
    }
    assert_int_equal(free ? STN_JOINT_CONTINUOUS : j->type, k->type);
    assert_int_equal(j->mimic >= 0, k->mimic >= 0);
    if (j->mimic >= 0) {
        assert_string_equal(a->joints[j->mimic].name, b->joints[k->mimic].name);
        assert_near(j->mimic_multiplier, k->mimic_multiplier, 0.0);
        assert_near(j->mimic_offset, k->mimic_offset, 0.0);
    }
    if (format->actuators) {
        assert_string_equal(j->actuator, k->actuator);
    }
}

static inline void save_compare_links(const stn_model *a, const stn_model *b) {
    assert_int_equal(save_link_count(a), save_link_count(b));
    for (int32_t i = 0; i < a->link_count; i++) {
        const stn_link *link = &a->links[i];
        int32_t other = stn_model_find_link(b, 0, link->name);
        if (save_is_world(link)) {
            continue;
        }
        if (other < 0) {
            fail_msg("link %s is lost", link->name);
        }
        assert_near(link->mass.mass, b->links[other].mass.mass, 0.0);
        assert_true(link->joint_name == NULL || b->links[other].joint_name != NULL);
    }
}

static inline void save_compare_joints(const save_format *format, const stn_model *a, const stn_model *b) {
    assert_int_equal(a->nq, b->nq);
    assert_int_equal(a->nv, b->nv);
    if (format->same_joints) {
        assert_int_equal(a->joint_count, b->joint_count);
    }
    for (int32_t i = 0; i < a->joint_count; i++) {
        int32_t other = stn_model_find_joint(b, 0, a->joints[i].name);
        if (other < 0 && format->same_joints) {
            fail_msg("joint %s is lost", a->joints[i].name);
        }
        if (other >= 0) {
            assert_true(!format->same_joints || other == i);
            assert_int_equal(b->joints[other].v_start, a->joints[i].v_start);
            save_compare_joint(format, a, b, &a->joints[i]);
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ shapes

/// The k-th shape of a link that collides, or is only seen; NULL: there are fewer.
static inline const stn_geometry *save_shape(const stn_model *m, int32_t link, bool collision, int32_t k) {
    for (int32_t i = 0; i < m->geometry_count; i++) {
        if (m->geometries[i].link == link && m->geometries[i].collision == collision && k-- == 0) {
            return &m->geometries[i];
        }
    }
    return NULL;
}

/// Angles in steps of 2e-15 turn by 1e-15 each at most, a roll that is hardly known beside the yaw by 2.5e-15;
/// round-off comes on top.
static inline void save_same(const char *what, const stn_geometry *g, double a, double b) {
    if (!(fabs(a - b) <= 6e-15 * fmax(1.0, fabs(a))) && !(isnan(a) && isnan(b)) && a != b) {
        fail_msg("%s of a %s on link %d is %.17g, was %.17g", what, stn_shape_name(g->shape.type), (int)g->link, b, a);
    }
}

static inline void save_compare_shape(const save_format *format, const stn_geometry *g, const stn_geometry *h) {
    const stn_material *m = &g->material, *n = &h->material;
    if (g->mesh < 0 || (g->collision && format->surfaces)) { // what is only seen stays a reference
        assert_int_equal(g->shape.type, h->shape.type);
    }
    save_same("radius", g, g->shape.radius, h->shape.radius);
    save_same("length", g, g->shape.half_length, h->shape.half_length);
    save_same("size x", g, g->shape.half_extents.x, h->shape.half_extents.x);
    save_same("size y", g, g->shape.half_extents.y, h->shape.half_extents.y);
    save_same("size z", g, g->shape.half_extents.z, h->shape.half_extents.z);
    stn_pose difference = stn_pose_inverse(&g->in_link);
    difference = stn_pose_mul(&difference, &h->in_link);
    for (int32_t k = 0; k < 9; k++) {
        save_same("turn", g, k % 4 == 0, difference.rotation.m[k / 3][k % 3]);
    }
    save_same("place", g, 0.0, stn_vec3_norm(difference.position));
    for (int32_t k = 0; k < 4 && g->visual; k++) {
        assert_true(g->rgba[k] == h->rgba[k]);
    }
    if (format->surfaces && g->collision) {
        save_same("friction", g, m->mu, n->mu);
        save_same("stiffness", g, m->stiffness, n->stiffness);
        save_same("relaxation time", g, m->relaxation_time, n->relaxation_time);
        save_same("dissipation", g, m->dissipation, n->dissipation);
        save_same("modulus", g, m->modulus, n->modulus);
        save_same("restitution", g, m->restitution, n->restitution);
        save_same("resolution", g, g->field.resolution, h->field.resolution);
        save_same("field margin", g, g->field.margin, h->field.margin);
        save_same("slab thickness", g, g->field.thickness, h->field.thickness);
        assert_int_equal(g->field.volume_mesh >= 0, h->field.volume_mesh >= 0);
    }
    assert_int_equal(g->mesh >= 0, h->mesh >= 0);
}

static inline void save_compare_shapes(const save_format *format, const stn_model *a, const stn_model *b) {
    assert_int_equal(a->geometry_count, b->geometry_count);
    for (int32_t i = 0; i < a->link_count; i++) {
        int32_t other = stn_model_find_link(b, 0, a->links[i].name);
        for (int32_t collision = 0; collision <= 1; collision++) {
            for (int32_t k = 0;; k++) {
                const stn_geometry *g = save_shape(a, i, collision == 1, k);
                const stn_geometry *h = save_shape(b, other, collision == 1, k);
                if (g == NULL && h == NULL) {
                    break;
                }
                assert_true(g != NULL && h != NULL);
                save_compare_shape(format, g, h);
            }
        }
    }
}

/// The same pairs of links may touch.
static inline void save_compare_filters(const stn_model *a, const stn_model *b) {
    for (int32_t i = 0; i < a->link_count; i++) {
        for (int32_t j = 0; j < i; j++) {
            const stn_geometry *g = save_shape(a, i, true, 0), *h = save_shape(a, j, true, 0);
            if (g == NULL || h == NULL) {
                continue;
            }
            int32_t k = stn_model_find_link(b, 0, a->links[i].name), l = stn_model_find_link(b, 0, a->links[j].name);
            const stn_geometry *g2 = save_shape(b, k, true, 0), *h2 = save_shape(b, l, true, 0);
            assert_int_equal(stn_model_may_collide(a, (int32_t)(g - a->geometries), (int32_t)(h - a->geometries)),
                             stn_model_may_collide(b, (int32_t)(g2 - b->geometries), (int32_t)(h2 - b->geometries)));
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- dynamics

static inline void save_worsen(double *most, double value) {
    *most = worse(*most, value);
}

/// Any coordinates: the limits do not matter here, quaternions are normalised.
static inline void save_choose_state(stn_random *r, const stn_model *m, double *q, double *v) {
    for (int32_t i = 0; i < m->nq; i++) {
        q[i] = random_between(r, -2.0, 2.0);
    }
    for (int32_t i = 0; i < m->nv; i++) {
        v[i] = random_between(r, -2.0, 2.0);
    }
    for (int32_t j = 0; j < m->joint_count; j++) {
        int32_t at = stn_joint_type_quaternion(m->joints[j].type);
        if (at >= 0) {
            double *e = q + m->joints[j].q_start + at;
            stn_quat turn = stn_quat_normalize((stn_quat){e[0], e[1], e[2], e[3]});
            const double values[4] = {turn.w, turn.x, turn.y, turn.z};
            memcpy(e, values, sizeof values);
        }
    }
}

static inline void save_compare_tree(const stn_kinematics *a, const stn_kinematics *b, int32_t t, save_deviation *d) {
    enum { MOST = 7 * 64 };
    const stn_vec3 gravity = {0.7, -1.1, -9.81};
    static stn_spatial scratch[MOST];
    double bias[2][MOST], largest = 0.0;
    int32_t n = a->model->trees[t].nv;
    assert_int_equal(b->model->trees[t].nv, n);
    assert_true(n <= MOST && a->model->trees[t].body_count <= MOST && b->model->trees[t].body_count <= MOST);
    double *values = calloc(2 * (size_t)n * (size_t)n + 1, sizeof *values);
    stn_matrix M = {.n = n, .form = STN_MATRIX_DENSE, .values = values};
    stn_matrix N = {.n = n, .form = STN_MATRIX_DENSE, .values = values + n * n};
    stn_mass_matrix(a, t, &M);
    stn_mass_matrix(b, t, &N);
    stn_inverse_dynamics(a, t, gravity, NULL, scratch, bias[0]);
    stn_inverse_dynamics(b, t, gravity, NULL, scratch, bias[1]);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            double scale = sqrt(M.values[i * (n + 1)] * M.values[j * (n + 1)]);
            save_worsen(&d->mass, fabs(M.values[i * n + j] - N.values[i * n + j]) / scale);
        }
        largest = worse(largest, fabs(bias[0][i]) / sqrt(M.values[i * (n + 1)]));
    }
    for (int32_t i = 0; i < n; i++) {
        save_worsen(&d->bias, fabs(bias[0][i] - bias[1][i]) / sqrt(M.values[i * (n + 1)]) / largest);
    }
    free(values);
}

static inline void save_compare_motion(fixture *f, const stn_model *a, const stn_model *b, save_deviation *d) {
    stn_kinematics *ka = NULL, *kb = NULL;
    stn_random r = {17};
    double *q = calloc((size_t)(a->nq + a->nv) + 1, sizeof *q), *v = q + a->nq;
    assert_ok(stn_kinematics_create(a, &ka, &f->err), f->err);
    assert_ok(stn_kinematics_create(b, &kb, &f->err), f->err);
    assert_int_equal(a->tree_count, b->tree_count);
    for (int32_t round = 0; round < 20; round++) {
        save_choose_state(&r, a, q, v);
        stn_kinematics_update(ka, q, v);
        stn_kinematics_update(kb, q, v);
        for (int32_t i = 0; i < a->link_count; i++) {
            const stn_link *l = &a->links[i], *m = &b->links[stn_model_find_link(b, 0, l->name)];
            if (save_is_world(l)) {
                continue;
            }
            stn_pose at = stn_pose_mul(&ka->body_pose[l->body], &l->pose);
            stn_pose other = stn_pose_mul(&kb->body_pose[m->body], &m->pose);
            double scale = fmax(1.0, stn_vec3_norm(at.position));
            save_worsen(&d->pose, stn_vec3_norm(stn_vec3_sub(at.position, other.position)) / scale);
            for (int32_t k = 0; k < 9; k++) {
                save_worsen(&d->pose, fabs(at.rotation.m[k / 3][k % 3] - other.rotation.m[k / 3][k % 3]));
            }
        }
        for (int32_t t = 0; t < a->tree_count; t++) {
            save_compare_tree(ka, kb, t, d);
        }
    }
    stn_kinematics_destroy(ka);
    stn_kinematics_destroy(kb);
    free(q);
}

// --------------------------------------------------------------------------------------------------------------- all

/// model -> file -> model -> file: the models agree, and so do the bytes of the files. Returns the second model.
static inline stn_model *save_round_trip(fixture *f, const stn_model *model, const save_format *format, bool fixed,
                                         save_deviation *d) {
    char first[128], second[128];
    snprintf(first, sizeof first, "%s/first.%s", f->folder, format->extension);
    snprintf(second, sizeof second, "%s/second.%s", f->folder, format->extension);
    save_write(f, model, format, first);
    stn_model *copy = save_load(f, first, format->bases ? SAVE_AS_PROPOSED : fixed ? SAVE_WELDED : SAVE_FREE);
    save_write(f, copy, format, second);
    char *text = save_read(first), *again = save_read(second);
    if (strcmp(text, again) != 0) {
        size_t at = 0;
        while (text[at] == again[at]) {
            at++;
        }
        fail_msg("%s: saved again the text differs: '%.80s' became '%.80s'", format->id, text + (at > 40 ? at - 40 : 0),
                 again + (at > 40 ? at - 40 : 0));
    }
    free(text);
    free(again);
    assert_string_equal(copy->groups[0].name, model->groups[0].name);
    save_compare_links(model, copy);
    save_compare_joints(format, model, copy);
    save_compare_shapes(format, model, copy);
    save_compare_filters(model, copy);
    save_compare_motion(f, model, copy, d);
    return copy;
}

typedef void save_visitor(fixture *f, const char *path, void *user);

static inline bool save_ends_with(const char *text, const char *end) {
    size_t length = strlen(text), size = strlen(end);
    return length > size && strcmp(text + length - size, end) == 0;
}

/// Calls `visit` with every URDF file of models/; how many there are.
static inline int32_t save_each_own(fixture *f, save_visitor *visit, void *user) {
    static const char models[] = STN_SOURCE_DIR "/models";
    DIR *folders = opendir(models);
    int32_t robots = 0;
    assert_non_null(folders);
    for (const struct dirent *d; (d = readdir(folders)) != NULL;) {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/%s", models, d->d_name);
        DIR *files = d->d_name[0] != '.' ? opendir(folder) : NULL;
        for (const struct dirent *e; files != NULL && (e = readdir(files)) != NULL;) {
            if (save_ends_with(e->d_name, ".urdf")) {
                char path[1024];
                snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
                visit(f, path, user);
                robots++;
            }
        }
        if (files != NULL) {
            closedir(files);
        }
    }
    closedir(folders);
    return robots;
}

#endif
