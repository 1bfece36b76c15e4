// SPDX-License-Identifier: Apache-2.0
// Robots in MuJoCo's XML, read by the loader and by MuJoCo itself: coordinates, mass matrix, bias forces with gravity,
// poses of bodies and shapes, and which shapes may collide. MuJoCo turns with the body (angular velocity of ball and
// free joints in the child's axes), here rates are in the joint frame's axes; with v_mujoco = T v the same mechanics
// are
//     M = T^T M_mujoco T,   bias = T^T bias_mujoco,
// as T-dot v = 0: of a free or ball joint d/dt (R^T w) = R^T dw/dt.
#include <mujoco/mujoco.h>

#include <stiction/dynamics.h>
#include <stiction/plugin.h>

#include "mjcf_fixture.h"

#include "random_mjcf.h"

enum { ROBOTS = 150, CONFIGURATIONS = 5, MOST_DOFS = 400 };

/// The largest deviations, relative to the size of the quantity.
typedef struct deviations {
    double inertia, mass, bias, position, rotation, shape;
    int32_t robots, bodies, dofs, pairs, shapes;
} deviations;

typedef struct subject {
    const stn_model *ours;
    mjModel *theirs;
    mjData *data;
    stn_kinematics *kinematics;
    double *q, *v, *T, *M, *theirs_M, *bias;
    deviations *worst;
} subject;

static void be_silent(const char *text) {
    (void)text;
}

static void worsen(double *most, double value) {
    *most = worse(*most, value);
}

static stn_mat3 matrix_of(const mjtNum *m) {
    return (stn_mat3){{{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}}};
}

static double distance(const stn_mat3 *a, const stn_mat3 *b) {
    double most = 0.0;
    for (int32_t i = 0; i < 9; i++) {
        worsen(&most, fabs(a->m[i / 3][i % 3] - b->m[i / 3][i % 3]));
    }
    return most;
}

/// Our coordinates and velocities from MuJoCo's, and T. Joints of both are in the order of the file.
static void convert(subject *s) {
    size_t n = (size_t)s->ours->nv;
    memset(s->T, 0, n * n * sizeof *s->T);
    for (int32_t j = 0; j < s->ours->joint_count; j++) {
        const stn_joint *joint = &s->ours->joints[j];
        const mjtNum *from = s->data->qpos + s->theirs->jnt_qposadr[j];
        double *to = s->q + joint->q_start;
        size_t start = (size_t)joint->v_start, turn = start;
        assert_int_equal(s->theirs->jnt_dofadr[j], joint->v_start);
        if (joint->nv == 1) {
            to[0] = from[0];
            s->T[start * n + start] = 1.0;
            continue;
        }
        stn_mat3 r = stn_mat3_identity();
        if (joint->type == STN_JOINT_FLOATING) {
            stn_quat e = {from[3], from[4], from[5], from[6]};
            stn_pose pose = stn_pose_make(e, stn_vec3_make(from[0], from[1], from[2]));
            stn_pose back = stn_pose_inverse(&joint->origin);
            pose = stn_pose_mul(&back, &pose);
            const double x[3] = {pose.position.x, pose.position.y, pose.position.z};
            memcpy(to, x, sizeof x);
            to += 3;
            r = pose.rotation;
            for (size_t i = 0; i < 9; i++) {
                s->T[(start + i / 3) * n + start + i % 3] = joint->origin.rotation.m[i / 3][i % 3];
            }
            turn += 3;
        } else {
            r = stn_quat_matrix((stn_quat){from[0], from[1], from[2], from[3]});
        }
        stn_quat e = stn_quat_from_matrix(&r);
        const double wxyz[4] = {e.w, e.x, e.y, e.z};
        memcpy(to, wxyz, sizeof wxyz);
        for (size_t i = 0; i < 9; i++) {
            s->T[(turn + i / 3) * n + turn + i % 3] = r.m[i % 3][i / 3];
        }
    }
}

static void choose(subject *s, stn_random *r) {
    for (int i = 0; i < s->theirs->nq; i++) {
        s->data->qpos[i] = random_between(r, -2.0, 2.0);
    }
    mj_normalizeQuat(s->theirs, s->data->qpos);
    for (int32_t i = 0; i < s->ours->nv; i++) {
        s->v[i] = random_between(r, -2.0, 2.0);
    }
    convert(s);
    for (size_t i = 0, n = (size_t)s->ours->nv; i < n; i++) {
        s->data->qvel[i] = 0.0;
        for (size_t k = 0; k < n; k++) {
            s->data->qvel[i] += s->T[i * n + k] * s->v[k];
        }
    }
}

/// C = T^T A T for A (n x n).
static void pull_back(size_t n, const double *T, const double *A, double *C) {
    double *AT = calloc(n * n + 1, sizeof *AT);
    assert_non_null(AT);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            for (size_t j = 0; A[i * n + k] != 0.0 && j < n; j++) {
                AT[i * n + j] += A[i * n + k] * T[k * n + j];
            }
        }
    }
    memset(C, 0, n * n * sizeof *C);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; T[k * n + i] != 0.0 && j < n; j++) {
                C[i * n + j] += T[k * n + i] * AT[k * n + j];
            }
        }
    }
    free(AT);
}

static void compare_dynamics(subject *s) {
    size_t n = (size_t)s->ours->nv;
    const stn_vec3 gravity = {s->theirs->opt.gravity[0], s->theirs->opt.gravity[1], s->theirs->opt.gravity[2]};
    double *block = calloc(n * n + 1, sizeof *block), *tau = calloc(n + 1, sizeof *tau);
    stn_spatial *scratch = calloc((size_t)s->ours->body_count + 1, sizeof *scratch);
    assert_true(block != NULL && tau != NULL && scratch != NULL);
    mj_fullM(s->theirs, block, s->data->qM);
    pull_back(n, s->T, block, s->theirs_M);
    memset(s->M, 0, n * n * sizeof *s->M);
    for (int32_t t = 0; t < s->ours->tree_count; t++) {
        const stn_tree *tree = &s->ours->trees[t];
        size_t start = (size_t)tree->v_start, size = (size_t)tree->nv;
        stn_matrix M = {.n = tree->nv, .form = STN_MATRIX_DENSE, .values = block};
        stn_mass_matrix(s->kinematics, t, &M);
        for (size_t i = 0; i < size; i++) {
            memcpy(s->M + (start + i) * n + start, block + i * size, size * sizeof *block);
        }
        stn_inverse_dynamics(s->kinematics, t, gravity, NULL, scratch, tau + start);
    }
    double force = 0.0;
    for (size_t i = 0; i < n; i++) {
        s->bias[i] = 0.0;
        for (size_t k = 0; k < n; k++) {
            s->bias[i] += s->T[k * n + i] * s->data->qfrc_bias[k];
        }
        force = worse(force, fabs(s->bias[i]) / sqrt(s->theirs_M[i * n + i]));
    }
    for (size_t i = 0; i < n; i++) {
        double own = sqrt(s->theirs_M[i * n + i]);
        worsen(&s->worst->bias, fabs(tau[i] - s->bias[i]) / (own * force));
        for (size_t j = 0; j < n; j++) {
            worsen(&s->worst->mass,
                   fabs(s->M[i * n + j] - s->theirs_M[i * n + j]) / (own * sqrt(s->theirs_M[j * n + j])));
        }
    }
    free(scratch);
    free(tau);
    free(block);
}

static const stn_link *link_of_body(const subject *s, int b) {
    const char *name = mj_id2name(s->theirs, mjOBJ_BODY, b);
    char automatic[32];
    snprintf(automatic, sizeof automatic, "body%d", b);
    int32_t index = stn_model_find_link(s->ours, 0, name != NULL ? name : automatic);
    assert_true(index >= 0);
    return &s->ours->links[index];
}

/// Mass, centre of mass, inertia about it in the body's axes.
static void compare_inertia(subject *s) {
    for (int b = 1; b < s->theirs->nbody; b++) {
        const stn_mass *own = &link_of_body(s, b)->mass;
        const mjtNum *p = s->theirs->body_ipos + 3 * b, *i = s->theirs->body_inertia + 3 * b;
        const mjtNum *e = s->theirs->body_iquat + 4 * b;
        stn_mat3 r = stn_quat_matrix((stn_quat){e[0], e[1], e[2], e[3]}), d = stn_mat3_diagonal(i[0], i[1], i[2]);
        stn_mat3 inertia = stn_mat3_rotate_tensor(&r, &d);
        double mass = s->theirs->body_mass[b];
        worsen(&s->worst->inertia, fabs(own->mass - mass) / mass);
        worsen(&s->worst->inertia, stn_vec3_norm(stn_vec3_sub(own->com, stn_vec3_make(p[0], p[1], p[2]))));
        worsen(&s->worst->inertia, distance(&own->inertia, &inertia) / fmax(i[0], fmax(i[1], i[2])));
    }
}

static void compare_bodies(subject *s) {
    for (int b = 1; b < s->theirs->nbody; b++) {
        const stn_link *link = link_of_body(s, b);
        stn_pose pose = stn_pose_mul(&s->kinematics->body_pose[link->body], &link->pose);
        const mjtNum *x = s->data->xpos + 3 * b;
        stn_vec3 p = {x[0], x[1], x[2]};
        stn_mat3 r = matrix_of(s->data->xmat + 9 * b);
        worsen(&s->worst->position, stn_vec3_norm(stn_vec3_sub(pose.position, p)) / fmax(1.0, stn_vec3_norm(p)));
        worsen(&s->worst->rotation, distance(&pose.rotation, &r));
    }
}

/// What a shape's pose says: nothing about turns that leave it as it is.
static double compare_turn(const stn_shape *shape, const stn_mat3 *a, const stn_mat3 *b) {
    stn_vec3 za = stn_mat3_column(a, 2), zb = stn_mat3_column(b, 2);
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        return 0.0;
    case STN_SHAPE_BOX:
    case STN_SHAPE_ELLIPSOID:
        return distance(a, b);
    default:
        return stn_vec3_norm(stn_vec3_sub(za, zb));
    }
}

/// Shapes of both are in the order of the file, but MuJoCo moves a mesh to its centre of mass.
static void compare_shapes(subject *s) {
    assert_int_equal(s->ours->geometry_count, s->theirs->ngeom);
    for (int g = 0; g < s->theirs->ngeom; g++) {
        const stn_geometry *own = &s->ours->geometries[g];
        if (s->theirs->geom_type[g] == mjGEOM_MESH) {
            assert_int_equal(own->shape.type, STN_SHAPE_CONVEX);
            continue;
        }
        stn_pose pose = stn_pose_mul(&s->kinematics->body_pose[own->body], &own->pose);
        const mjtNum *x = s->data->geom_xpos + 3 * g, *size = s->theirs->geom_size + 3 * g;
        stn_vec3 p = {x[0], x[1], x[2]};
        stn_mat3 r = matrix_of(s->data->geom_xmat + 9 * g);
        worsen(&s->worst->shape, stn_vec3_norm(stn_vec3_sub(pose.position, p)) / fmax(1.0, stn_vec3_norm(p)));
        worsen(&s->worst->shape, compare_turn(&own->shape, &pose.rotation, &r));
        if (own->shape.type == STN_SHAPE_BOX || own->shape.type == STN_SHAPE_ELLIPSOID) {
            const stn_vec3 *e = &own->shape.half_extents;
            worsen(&s->worst->shape, fabs(e->x - size[0]) + fabs(e->y - size[1]) + fabs(e->z - size[2]));
        } else if (own->shape.type != STN_SHAPE_HALF_SPACE) {
            worsen(&s->worst->shape, fabs(own->shape.radius - size[0]));
            worsen(&s->worst->shape,
                   own->shape.type == STN_SHAPE_SPHERE ? 0.0 : fabs(own->shape.half_length - size[1]));
        }
    }
}

/// MuJoCo's rules for a pair of geoms, from the fields of its model.
static bool they_collide(const mjModel *m, int g, int h) {
    int a = m->body_weldid[m->geom_bodyid[g]], b = m->body_weldid[m->geom_bodyid[h]];
    int above_a = m->body_weldid[m->body_parentid[a]], above_b = m->body_weldid[m->body_parentid[b]];
    if (a == b || (a > 0 && b > 0 && (above_a == b || above_b == a))) {
        return false;
    }
    return ((m->geom_contype[g] & m->geom_conaffinity[h]) | (m->geom_contype[h] & m->geom_conaffinity[g])) != 0;
}

static void compare_pairs(subject *s) {
    for (int g = 0; g < s->theirs->ngeom; g++) {
        for (int h = 0; h < g; h++) {
            bool wanted = they_collide(s->theirs, g, h);
            if (stn_model_may_collide(s->ours, g, h) != wanted) {
                fail_msg("geoms %d and %d: MuJoCo says %d", h, g, (int)wanted);
            }
            s->worst->pairs += wanted;
        }
    }
}

static void compare_all(subject *s, stn_random *r) {
    stn_error err;
    assert_int_equal(s->ours->nq, s->theirs->nq);
    assert_int_equal(s->ours->nv, s->theirs->nv);
    assert_int_equal(s->ours->joint_count, s->theirs->njnt);
    assert_ok(stn_kinematics_create(s->ours, &s->kinematics, &err), err);
    for (int32_t i = 0; i < CONFIGURATIONS; i++) {
        choose(s, r);
        mj_kinematics(s->theirs, s->data);
        mj_comPos(s->theirs, s->data);
        mj_comVel(s->theirs, s->data);
        mj_crb(s->theirs, s->data);
        mj_rne(s->theirs, s->data, 0, s->data->qfrc_bias);
        stn_kinematics_update(s->kinematics, s->q, s->v);
        compare_dynamics(s);
        compare_bodies(s);
        compare_shapes(s);
    }
    compare_inertia(s);
    compare_pairs(s);
    stn_kinematics_destroy(s->kinematics);
    s->worst->robots++;
    s->worst->bodies += s->theirs->nbody - 1;
    s->worst->dofs += s->theirs->nv;
    s->worst->shapes += s->theirs->ngeom;
}

/// false: MuJoCo does not take the file.
static bool compare_file(fixture *f, const char *path, stn_random *r, deviations *worst) {
    char error[500] = "";
    subject s = {.worst = worst, .theirs = mj_loadXML(path, NULL, error, sizeof error)};
    if (s.theirs == NULL) {
        print_message("MuJoCo: %s\n", error);
        return false;
    }
    f->request.path = path;
    f->as_proposed = true;
    load_request(f);
    if (f->status != STN_OK) {
        print_findings(f);
        fail_msg("%s", f->err.text);
    }
    s.ours = f->model;
    s.data = mj_makeData(s.theirs);
    size_t n = (size_t)s.ours->nv, nq = (size_t)s.ours->nq;
    s.q = calloc(nq + 1, sizeof *s.q);
    s.v = calloc(n + 1, sizeof *s.v);
    s.T = calloc(n * n + 1, sizeof *s.T);
    s.M = calloc(n * n + 1, sizeof *s.M);
    s.theirs_M = calloc(n * n + 1, sizeof *s.M);
    s.bias = calloc(n + 1, sizeof *s.bias);
    assert_true(s.q != NULL && s.v != NULL && s.T != NULL && s.M != NULL && s.theirs_M != NULL && s.bias != NULL);
    compare_all(&s, r);
    free(s.q);
    free(s.v);
    free(s.T);
    free(s.M);
    free(s.theirs_M);
    free(s.bias);
    mj_deleteData(s.data);
    mj_deleteModel(s.theirs);
    return true;
}

static void judge(const deviations *worst, double tolerance) {
    print_message("%d robots, %d bodies, %d velocities, %d shapes, %d colliding pairs; largest relative deviation: "
                  "inertia %.1e, M %.1e, bias %.1e, positions %.1e, rotations %.1e, shapes %.1e\n",
                  (int)worst->robots, (int)worst->bodies, (int)worst->dofs, (int)worst->shapes, (int)worst->pairs,
                  worst->inertia, worst->mass, worst->bias, worst->position, worst->rotation, worst->shape);
    assert_near(worst->inertia, 0.0, tolerance);
    assert_near(worst->mass, 0.0, tolerance);
    assert_near(worst->bias, 0.0, tolerance);
    assert_near(worst->position, 0.0, 1e-9);
    assert_near(worst->rotation, 0.0, 1e-9);
    assert_near(worst->shape, 0.0, 1e-9);
}

static void compare_random(fixture *f, uint64_t first, bool compound, double tolerance) {
    deviations worst = {0};
    mjcf_text *t = malloc(sizeof *t);
    assert_non_null(t);
    mju_user_warning = be_silent;
    for (uint64_t seed = first; seed < first + ROBOTS; seed++) {
        write_mjcf(t, seed, compound);
        write_text(f, "robot.xml", t->text);
        snprintf(f->path, sizeof f->path, "%s/robot.xml", f->folder);
        bool good = compare_file(f, f->path, &t->random, &worst);
        if (!good || !(worst.mass <= tolerance && worst.bias <= tolerance)) {
            print_message("%s\n", t->text);
            fail_msg("group %d: inertia %g, M %g, bias %g, positions %g", (int)seed, worst.inertia, worst.mass,
                     worst.bias, worst.position);
        }
    }
    free(t);
    judge(&worst, tolerance);
}

static void random_robots_are_mujocos(void **state) {
    compare_random(*state, 1, false, 1e-9);
}

/// MuJoCo rounds the vertices of meshes to 24 bits, and turns an inertia to principal axes until the cosine of a turn
/// is 1 - 1e-12, which leaves an angle of 1.4e-6.
static void compound_bodies_weigh_as_in_mujoco_up_to_its_rounding(void **state) {
    compare_random(*state, 1000, true, 1e-5);
}

/// A copy of a shared file in words that early versions of MuJoCo know.
static void copy_shared(fixture *f, const char *name) {
    enum { ROOM = 1 << 18 };
    char path[512], *text = calloc(ROOM, 1);
    assert_non_null(text);
    snprintf(path, sizeof path, STN_SHARED_DIR "/peers/models/%s.xml", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, ROOM - 1, file) < ROOM - 1);
    fclose(file);
    char *size = strstr(text, "<size memory");
    if (size != NULL) {
        memset(size, ' ', (size_t)(strstr(size, "/>") + 2 - size));
    }
    write_text(f, "robot.xml", text);
    snprintf(f->path, sizeof f->path, "%s/robot.xml", f->folder);
    free(text);
}

static void shared_robots_are_mujocos(void **state) {
    static const char *const names[] = {"humanoid27", "quadruped", "dualarm", "clutter40_walls"};
    fixture *f = *state;
    deviations worst = {0};
    stn_random r = {7};
    skip_without(STN_SHARED_DIR "/peers/models/quadruped.xml");
    mju_user_warning = be_silent;
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        copy_shared(f, names[i]);
        assert_true(compare_file(f, f->path, &r, &worst));
    }
    judge(&worst, 1e-9);
}

#define HELD                                                                                                    \
    "<compiler angle='radian'/><worldbody><body name='a' pos='1 0 0.5' euler='0 0 0.5'>" SOLID                  \
    "<joint name='j' pos='0 0.1 0' axis='0 1 0' ref='0.3'/><body name='b' pos='0.3 0 0' euler='0.3 0 0'>" SOLID \
    "<joint name='k' axis='0 1 0'/></body></body><body name='c' pos='0 2 0' euler='0 0.2 0.1'>" SOLID           \
    "<joint name='l'/></body></worldbody><equality><connect body1='b' body2='c' anchor='0.1 0.2 0.3'/>"         \
    "<weld body1='a' body2='c'/><connect body1='c' anchor='0 1 0'/>"                                            \
    "<weld body1='b' body2='c' relpose='0.1 0.2 0.3 0.9 0.1 0.2 0.3'/>"                                         \
    "<weld body1='b' relpose='0.1 0.2 0.3 0.9 0.1 0.2 0.3'/></equality>"

/// Translation and, of a weld, the sine of half the angle between what both ends hold: MuJoCo's position of the rows.
static void compare_constraints(const stn_model *ours, const stn_kinematics *kinematics, const mjData *data) {
    const mjtNum *theirs = data->efc_pos;
    for (int32_t i = 0; i < ours->constraint_count; i++) {
        const stn_constraint_end *ends = ours->constraints[i].ends;
        stn_pose a = stn_pose_mul(&kinematics->body_pose[ends[0].body], &ends[0].frame);
        stn_pose b = stn_pose_mul(&kinematics->body_pose[ends[1].body], &ends[1].frame);
        stn_mat3 back = stn_mat3_transpose(&a.rotation), turn = stn_mat3_mul(&back, &b.rotation);
        double half = 0.5 * stn_vec3_norm(stn_quat_log(stn_quat_from_matrix(&turn)));
        assert_near(stn_vec3_norm(stn_vec3_sub(b.position, a.position)), mju_norm(theirs, 3), 1e-12);
        theirs += 3;
        if (strcmp(ours->constraints[i].instance->desc->id, "weld") == 0) {
            assert_near(sin(half), mju_norm(theirs, 3), 1e-12);
            theirs += 3;
        }
    }
}

static void constraints_are_mujocos(void **state) {
    fixture *f = *state;
    char why[500] = "";
    stn_kinematics *kinematics = NULL;
    stn_random r = {5};
    stn_error err;
    good_mjcf(f, MUJOCO(HELD));
    assert_int_equal(f->model->constraint_count, 5);
    mjModel *model = mj_loadXML(f->path, NULL, why, sizeof why);
    if (model == NULL) {
        fail_msg("MuJoCo: %s", why);
        return;
    }
    mjData *data = mj_makeData(model);
    assert_ok(stn_kinematics_create(f->model, &kinematics, &err), err);
    for (int32_t c = 0; c < CONFIGURATIONS; c++) {
        const double v[3] = {0.0, 0.0, 0.0};
        mj_forward(model, data);
        stn_kinematics_update(kinematics, data->qpos, v);
        compare_constraints(f->model, kinematics, data);
        for (int32_t k = 0; k < 3; k++) {
            data->qpos[k] += random_real(&r);
        }
    }
    stn_kinematics_destroy(kinematics);
    mj_deleteData(data);
    mj_deleteModel(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_robots_are_mujocos, set_up, tear_down),
        cmocka_unit_test_setup_teardown(compound_bodies_weigh_as_in_mujoco_up_to_its_rounding, set_up, tear_down),
        cmocka_unit_test_setup_teardown(constraints_are_mujocos, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shared_robots_are_mujocos, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
