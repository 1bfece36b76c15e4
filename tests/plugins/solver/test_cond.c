// SPDX-License-Identifier: Apache-2.0
// solver/cond: what the paper's parts promise, each against something that does not know of them.
#include "solver_fixture.h"

#include "stn_cloud.h"

#include <stiction/threads.h>

enum { MOST = 40000 };
static double v_one[MOST], v_two[MOST], gamma_one[MOST], gamma_two[MOST];

static void choose(fixture *f, const char *id, const char *name, const char *value, double tolerance) {
    const stn_setting settings[] = {number_setting("tolerance", tolerance), number_setting("max_iterations", 20000.0),
                                    text_setting(name, value)};
    choose_with(f, id, settings, name != NULL ? 3 : 2);
}

static double largest_difference(int32_t n, const double *a, const double *b) {
    double largest = 0.0;
    for (int32_t i = 0; i < n; i++) {
        largest = worse(largest, fabs(a[i] - b[i]));
    }
    return largest;
}

/// Rows of a contact on one node, along the axes of `frame`.
static double *node_rows(scene *s, const stn_mat3 *frame, double sign) {
    double *J = scene_reals(s, 9, 0.0);
    for (int32_t r = 0; r < 3; r++) {
        const stn_vec3 row = stn_vec3_scale(sign, stn_mat3_column(frame, r));
        memcpy(J + 3 * r, &row, 3 * sizeof(double));
    }
    return J;
}

/// Every way of W and its acceleration.
static const char *const ways[][2] = {{"acceleration", "momentum"},
                                      {"acceleration", "chebyshev"},
                                      {"acceleration", "none"},
                                      {"step_size", "barzilai_borwein"}};

// -------------------------------------------------------------------------------------------------------- virtual
// nodes

static const double corners[4][2] = {{0.1, 0.1}, {-0.1, 0.1}, {-0.1, -0.1}, {0.1, -0.1}};

/// Two boxes of 0.5 kg on each other and on the ground, pushed by `push` [N s]; with `nodes` every contact point is a
/// massless node of its own, tied to its box by a damper kv [kg], as the paper draws it: dofs of the box, then 3 of
/// each.
static void make_boxes(scene *s, stn_context *context, bool nodes, double kv, double push) {
    scene_begin(s, context, 1);
    s->problem.dt = 0.01;
    const stn_mat3 frame = stn_mat3_identity();
    const int32_t points[2] = {8, 4}; // of the lower box below and above, of the upper one below
    for (int32_t box = 0; box < 2; box++) {
        const int32_t n = 6 + (nodes ? 3 * points[box] : 0);
        double A[30 * 30] = {0.0};
        for (int32_t i = 0; i < 6; i++) {
            A[i * n + i] = i < 3 ? 0.5 : 0.5 * 0.04 / 6.0;
        }
        for (int32_t k = 0; k < points[box] && nodes; k++) {
            const double *at = corners[k % 4];
            double J[18];
            scene_body_rows(stn_vec3_make(at[0], at[1], k < 4 ? -0.1 : 0.1), &frame, 1.0, J);
            for (int32_t r = 0; r < 3; r++) {
                const int32_t own = 6 + 3 * k + r;
                A[own * n + own] = kv;
                for (int32_t i = 0; i < 6; i++) {
                    A[own * n + i] -= kv * J[6 * r + i];
                    A[i * n + own] -= kv * J[6 * r + i];
                    for (int32_t j = 0; j < 6; j++) {
                        A[i * n + j] += kv * J[6 * r + i] * J[6 * r + j];
                    }
                }
            }
        }
        scene_tree(s, n, A);
    }
    for (int32_t k = 0; k < 8; k++) { // on the ground, then between the boxes
        const double *at = corners[k % 4];
        double J[2][90] = {{0.0}};
        for (int32_t side = 0; side < 2; side++) {
            const int32_t box = k < 4 ? 0 : 1 - side, n = s->problem.trees[box].A.n;
            const double sign = side == 0 ? 1.0 : -1.0, z = k < 4 || box == 1 ? -0.1 : 0.1;
            double rows[18];
            scene_body_rows(stn_vec3_make(at[0], at[1], z), &frame, sign, rows);
            for (int32_t r = 0; r < 3; r++) {
                if (nodes) {
                    J[side][r * n + 6 + 3 * (box == 0 ? k : k - 4) + r] = sign;
                } else {
                    memcpy(J[side] + r * n, rows + 6 * r, 6 * sizeof(double));
                }
            }
        }
        stn_constraint *c = scene_constraint(s, 3, k < 4 ? 0 : 1, J[0], k < 4 ? -1 : 0, J[1]);
        c->mu1 = c->mu2 = k < 4 ? 0.2 : 0.4;
    }
    stn_problem *p = scene_finish(s);
    double *f = p->free_impulse = scene_reals(s, p->nv, 0.0);
    for (int32_t box = 0; box < 2; box++) {
        f[p->trees[box].dof_start + 2] = -0.5 * 9.81 * p->dt;
    }
    f[1] = push;
    f[p->trees[1].dof_start + 3] = 0.3 * push;
}

/// Virtual nodes that are eliminated give what virtual nodes with velocities of their own give, by another solver.
static void virtual_nodes_are_those_of_the_paper(void **state) {
    fixture *f = *state;
    static const double dampings[] = {1e2, 1e3, 1e4}, pushes[] = {0.0, 0.005, 0.03, -0.2};
    for (int32_t d = 0; d < STN_COUNT(dampings); d++) {
        for (int32_t k = 0; k < STN_COUNT(pushes); k++) {
            scene with, without;
            make_boxes(&with, f->context, true, dampings[d] * 0.01, pushes[k]);
            make_boxes(&without, f->context, false, 0.0, pushes[k]);
            choose(f, "nsgs", NULL, NULL, 1e-12);
            assert_int_equal(solve_into(f, &with.problem, 0, v_one, gamma_one), STN_OK);
            leave(f);
            for (int32_t w = 0; w < STN_COUNT(ways); w++) {
                const stn_setting settings[] = {
                    number_setting("tolerance", 1e-8), number_setting("max_iterations", 20000.0),
                    text_setting(ways[w][0], ways[w][1]), number_setting("virtual_node_damping", dampings[d])};
                choose_with(f, "cond", settings, STN_COUNT(settings));
                solve_into(f, &without.problem, 0, v_two, gamma_two);
                if (strcmp(f->report.reason, "residual") != 0) { // of its own problem; the certificate's has no nodes
                    fail_msg("k_v %g, push %g, %s: %s after %d iterations, momentum %g, map %g", dampings[d], pushes[k],
                             ways[w][1], f->report.reason, f->report.iterations, f->certificate.momentum,
                             f->certificate.natural_ncp);
                }
                // sums of impulses, for those of four corners are not unique
                for (int32_t box = 0; box < 2; box++) {
                    const double off = largest_difference(6, v_one + with.problem.trees[box].dof_start,
                                                          v_two + without.problem.trees[box].dof_start);
                    if (!(off < 3e-7)) {
                        fail_msg("k_v %g, push %g, %s: box %d is off by %g m/s", dampings[d], pushes[k], ways[w][1],
                                 box, off);
                    }
                }
                leave(f);
            }
            scene_end(&with);
            scene_end(&without);
        }
    }
}

// ---------------------------------------------------------------------------------------------------- nodes that share

/// Nodes of a soft block in a corner of floor and two walls, each node there in two or three contacts: without care the
/// iteration ends beside the solution.
static void nodes_in_several_contacts_are_solved(void **state) {
    fixture *f = *state;
    for (int32_t seed = 1; seed <= 8; seed++) {
        scene s;
        scene_begin(&s, f->context, (uint64_t)seed);
        const cloud block = scene_cloud(&s, 3, 3, 3, 100.0);
        for (int32_t i = 0; i < cloud_nodes(&block); i++) {
            const int32_t at[3] = {i % 4, i / 4 % 4, i / 16};
            for (int32_t axis = 0; axis < 3; axis++) {
                const double one = 1.0;
                if (at[axis] == 0) {
                    const stn_vec3 normal = {axis == 0, axis == 1, axis == 2};
                    const stn_mat3 frame = stn_contact_frame(normal);
                    stn_constraint *c = scene_constraint(&s, 3, -1, NULL, -1, NULL);
                    c->J[0] = scene_support(&s, block.tree, 1, &i, &one, 1.0);
                    c->J[0].values = node_rows(&s, &frame, 1.0);
                    c->mu1 = c->mu2 = 0.1 * seed;
                }
            }
        }
        stn_problem *p = scene_finish(&s);
        for (int32_t i = 0; i < p->nv; i++) {
            p->v_star[i] = -0.1 + 0.05 * random_real(&s.random);
        }
        choose(f, "nsgs", NULL, NULL, 1e-11);
        assert_int_equal(solve_into(f, p, 0, v_one, gamma_one), STN_OK);
        leave(f);
        for (int32_t w = 0; w < STN_COUNT(ways); w++) {
            choose(f, "cond", ways[w][0], ways[w][1], 1e-9);
            assert_int_equal(solve_into(f, p, 0, v_two, gamma_two), STN_OK);
            assert_true(f->certificate.natural_ncp < 1e-9);
            assert_true(largest_difference(p->nv, v_one, v_two) < 1e-7);
            leave(f);
        }
        scene_end(&s);
    }
}

/// Between two soft blocks that press with `across`^2 nodes each there is a plate of `mass`.
static void make_grip(scene *s, stn_context *context, int32_t across, double mass, double mu) {
    scene_begin(s, context, 7);
    double A[36] = {0.0};
    for (int32_t i = 0; i < 6; i++) {
        A[7 * i] = i < 3 ? mass : mass * 4e-4;
    }
    const int32_t plate = s->problem.tree_count;
    scene_tree(s, 6, A);
    for (int32_t side = 0; side < 2; side++) {
        const cloud block = scene_cloud(s, across - 1, across - 1, 1, 1e3);
        const double sign = side == 0 ? 1.0 : -1.0, one = 1.0; // the first one presses upwards
        const stn_mat3 frame = stn_contact_frame(stn_vec3_make(0.0, 0.0, sign));
        for (int32_t k = 0; k < across * across; k++) {
            const int32_t node = side == 0 ? across * across + k : k; // of the layer that faces the plate
            const double half = 0.005 * (across - 1);
            double rows[18];
            scene_body_rows(stn_vec3_make(0.01 * (k % across) - half, 0.01 * (k / across) - half, -0.005 * sign),
                            &frame, 1.0, rows);
            stn_constraint *c = scene_constraint(s, 3, plate, rows, -1, NULL);
            c->J[1] = scene_support(s, block.tree, 1, &node, &one, -1.0);
            c->J[1].values = node_rows(s, &frame, -1.0);
            c->mu1 = c->mu2 = mu;
        }
    }
    stn_problem *p = scene_finish(s);
    for (int32_t t = 1; t < p->tree_count; t++) {
        for (int32_t i = 0; i < p->trees[t].A.n; i++) {
            p->v_star[p->trees[t].dof_start + i] =
                (i % 3 == 2 ? (t == 1 ? 0.1 : -0.1) : 0.0) + 0.02 * random_real(&s->random);
        }
    }
}

/// Contacts that hear of each other through a light body alone take at most twice the iterations of those on a heavy
/// one, and the solution is that of another solver.
static void light_bodies_between_nodes_are_solved(void **state) {
    fixture *f = *state;
    static const char *const ids[][2] = {{"cond_proximal", "ipm"}, {"cond", "newton_ncp"}};
    for (int32_t i = 0; i < STN_COUNT(ids); i++) {
        int32_t iterations[2];
        for (int32_t light = 0; light < 2; light++) {
            scene s;
            make_grip(&s, f->context, 8, light ? 1e-4 : 1.0, 0.5);
            choose(f, ids[i][1], NULL, NULL, 1e-9);
            assert_int_equal(solve_into(f, &s.problem, 0, v_one, gamma_one), STN_OK);
            leave(f);
            choose(f, ids[i][0], NULL, NULL, 1e-8);
            assert_int_equal(solve_into(f, &s.problem, 0, v_two, gamma_two), STN_OK);
            assert_int_equal(f->report.fallbacks, 0);
            assert_true(largest_difference(s.problem.nv, v_one, v_two) < 1e-6);
            iterations[light] = f->report.iterations;
            leave(f);
            scene_end(&s);
        }
        assert_true(iterations[1] <= 2 * iterations[0]);
    }
}

// ---------------------------------------------------------------------------------------------------------- step sizes

/// Every node coupled with every other, A = (1 - c) I + c 1 1^T: the W that makes |I - W A|_F least has eigenvalues of
/// W A up to (1 + (n - 1) c)/(1 + (n - 1) c^2), here 3.4. Taken as it is the iteration diverges.
static void step_sizes_are_safe(void **state) {
    fixture *f = *state;
    enum { NODES = 40 };
    const double c = 0.1, one = 1.0;
    scene s;
    scene_begin(&s, f->context, 3);
    stn_problem *p = &s.problem;
    int32_t *row_start = STN_ARENA(s.arena, NODES + 1, int32_t), *column = STN_ARENA(s.arena, NODES * NODES, int32_t);
    double *values = scene_reals(&s, 9 * NODES * NODES, 0.0);
    for (int32_t i = 0; i < NODES; i++) {
        row_start[i] = i * NODES;
        for (int32_t j = 0; j < NODES; j++) {
            column[i * NODES + j] = j;
            for (int32_t k = 0; k < 3; k++) {
                values[9 * (i * NODES + j) + 4 * k] = i == j ? 1.0 : c;
            }
        }
    }
    row_start[NODES] = NODES * NODES;
    p->trees[p->tree_count++] = (stn_problem_tree){.A = {.n = 3 * NODES,
                                                         .form = STN_MATRIX_NODAL,
                                                         .values = values,
                                                         .node_count = NODES,
                                                         .node_size = 3,
                                                         .row_start = row_start,
                                                         .column = column}};
    p->nv = 3 * NODES;
    for (int32_t i = 0; i < NODES; i += 2) {
        scene_constraint(&s, 3, -1, NULL, -1, NULL)->J[0] = scene_support(&s, 0, 1, &i, &one, 1.0);
    }
    scene_finish(&s);
    for (int32_t i = 0; i < p->nv; i++) {
        p->v_star[i] = random_real(&s.random);
    }
    choose(f, "nsgs", NULL, NULL, 1e-12);
    assert_int_equal(solve_into(f, p, 0, v_one, gamma_one), STN_OK);
    leave(f);
    for (int32_t w = 0; w < STN_COUNT(ways); w++) {
        choose(f, "cond", ways[w][0], ways[w][1], 1e-9);
        assert_int_equal(solve_into(f, p, 0, v_two, gamma_two), STN_OK);
        assert_true(largest_difference(p->nv, v_one, v_two) < 1e-7);
        assert_int_equal(f->report.fallbacks, 0);
        leave(f);
    }
    scene_end(&s);
}

// ------------------------------------------------------------------------------------------------------------
// operators

/// One node whose friction differs by direction slides to its end as maximal dissipation says: v_t against
/// (gamma_1/mu_1^2, gamma_2/mu_2^2), on the ellipse; or it stands, inside of it. In one shot: a second iteration only
/// looks.
static void one_shot_dissipates_most(void **state) {
    fixture *f = *state;
    stn_random random = {11};
    for (int32_t k = 0; k < 200; k++) {
        scene s;
        scene_begin(&s, f->context, 1);
        stn_problem *p = &s.problem;
        static const int32_t row_start[] = {0, 1}, column[] = {0};
        double *A = scene_reals(&s, 9, 0.0);
        const double mass = A[0] = A[4] = A[8] = pow(10.0, 3.0 * random_real(&random));
        const int32_t node = 0;
        const double one = 1.0;
        p->trees[p->tree_count++] = (stn_problem_tree){.A = {.n = 3,
                                                             .form = STN_MATRIX_NODAL,
                                                             .values = A,
                                                             .node_count = 1,
                                                             .node_size = 3,
                                                             .row_start = row_start,
                                                             .column = column}};
        p->nv = 3;
        stn_constraint *c = scene_constraint(&s, 3, -1, NULL, -1, NULL);
        c->J[0] = scene_support(&s, 0, 1, &node, &one, 1.0);
        c->set = STN_SET_ELLIPSE;
        c->mu1 = pow(10.0, random_real(&random));
        c->mu2 = k % 10 == 0 ? 0.0 : c->mu1 * pow(10.0, random_real(&random));
        scene_finish(&s);
        for (int32_t i = 0; i < 3; i++) {
            p->v_star[i] = i == 2 ? -0.1 : random_real(&random);
        }
        choose(f, "cond", NULL, NULL, 1e-12);
        assert_int_equal(solve(f, p), STN_OK);
        leave(f);
        assert_true(f->report.iterations <= 2);
        const double *g = f->gamma, *v = f->v;
        assert_true(fabs(g[2] - 0.1 * mass) <= 1e-12 * mass && fabs(v[2]) <= 1e-13);
        const double a = c->mu1 * g[2], b = c->mu2 * g[2], x = g[0] / a, y = b > 0.0 ? g[1] / b : 0.0;
        assert_true(b > 0.0 || fabs(g[1]) <= 1e-14 * mass);
        const double speed = hypot(v[0], b > 0.0 ? v[1] : 0.0);
        if (speed < 1e-12) {
            assert_true(x * x + y * y <= 1.0 + 1e-12);
        } else {
            assert_true(fabs(x * x + y * y - 1.0) < 1e-10);
            const double n0 = x / a, n1 = b > 0.0 ? y / b : 0.0; // outward normal of the ellipse
            assert_true(v[0] * n0 + (b > 0.0 ? v[1] * n1 : 0.0) < 0.0);
            assert_true(fabs(v[0] * n1 - (b > 0.0 ? v[1] : 0.0) * n0) <= 1e-9 * speed * hypot(n0, n1));
        }
        scene_end(&s);
    }
}

/// Where the strict operator makes no progress, at large friction, the same law is solved by another operator; it is
/// counted, and what is not solved says so. Without fallbacks some of these problems are left unsolved.
static void strict_failures_are_counted(void **state) {
    fixture *f = *state;
    int32_t fallbacks = 0, unsolved = 0;
    for (int32_t seed = 1; seed <= 60; seed++) {
        scene s;
        scene_begin(&s, f->context, (uint64_t)seed);
        const cloud block = scene_cloud(&s, 2, 2, 1, 3e4);
        const double one = 1.0;
        for (int32_t i = 0; i < cloud_nodes(&block); i++) {
            stn_constraint *c = scene_constraint(&s, 3, -1, NULL, -1, NULL);
            c->J[0] = scene_support(&s, block.tree, 1, &i, &one, 1.0);
            const stn_mat3 frame = stn_contact_frame(stn_vec3_normalize_or(
                stn_vec3_make(random_real(&s.random), random_real(&s.random), random_real(&s.random)),
                stn_vec3_make(0.0, 0.0, 1.0)));
            c->J[0].values = node_rows(&s, &frame, 1.0);
            c->mu1 = c->mu2 = 5.0;
        }
        stn_problem *p = scene_finish(&s);
        for (int32_t i = 0; i < p->nv; i++) {
            p->v_star[i] = random_real(&s.random);
        }
        choose(f, "cond", NULL, NULL, 1e-8);
        const stn_status status = solve(f, p);
        assert_true(status == STN_OK || status == STN_NOT_CONVERGED);
        assert_true(f->certificate.finite && (status != STN_OK || f->certificate.natural_ncp < 1e-6));
        fallbacks += f->report.fallbacks > 0;
        unsolved += status != STN_OK;
        leave(f);
        scene_end(&s);
    }
    printf("%d of 60 problems by a fallback, %d unsolved\n", fallbacks, unsolved);
    assert_true(fallbacks > 0);
    assert_true(unsolved <= 1);
}

/// Two long fingers on a light plate, which all of their nodes on one side touch.
static void make_fingers(scene *s, stn_context *context, uint64_t seed) {
    enum { LONG = 24 };
    scene_begin(s, context, seed);
    double A[36] = {0.0};
    for (int32_t i = 0; i < 6; i++) {
        A[7 * i] = i < 3 ? 1e-4 : 5e-7;
    }
    const int32_t plate = s->problem.tree_count;
    scene_tree(s, 6, A);
    for (int32_t side = 0; side < 2; side++) {
        const cloud finger = scene_cloud(s, 2, 1, LONG, 1e5);
        const double sign = side == 0 ? 1.0 : -1.0, one = 1.0;
        const stn_mat3 frame = stn_contact_frame(stn_vec3_make(0.0, sign, 0.0));
        for (int32_t k = 0; k < 3 * (LONG + 1); k++) {
            const int32_t node = k % 3 + 6 * (k / 3) + 3 * (side == 0);
            double rows[18];
            scene_body_rows(stn_vec3_make(0.01 * (k % 3 - 1), -0.005 * sign, 0.01 * (k / 3 - LONG / 2)), &frame, 1.0,
                            rows);
            stn_constraint *c = scene_constraint(s, 3, plate, rows, -1, NULL);
            c->J[1] = scene_support(s, finger.tree, 1, &node, &one, -1.0);
            c->J[1].values = node_rows(s, &frame, -1.0);
            c->mu1 = c->mu2 = scene_uniform(s, 0.5, 2.0);
        }
    }
    scene_finish(s);
}

/// Contact takes energy, v . f >= v . A v, so that no speed of a solution exceeds |f|/m, m the mass of a node. What is
/// not solved is no further away: the iterate that is left best may not be one that has grown beyond all bounds.
static void what_is_left_unsolved_stays_near(void **state) {
    fixture *f = *state;
    int32_t unsolved = 0;
    double furthest = 0.0;
    for (int32_t seed = 1; seed <= 8; seed++) {
        scene s;
        make_fingers(&s, f->context, (uint64_t)seed);
        stn_problem *p = &s.problem;
        double *push = p->free_impulse = scene_reals(&s, p->nv, 0.0), square = 0.0;
        for (int32_t i = 0; i < p->nv; i++) {
            p->v_star[i] = 0.0;
            push[i] = (i < 6 ? 0.0 : 1e-3) * scene_uniform(&s, -1.0, 1.0);
            square += push[i] * push[i];
        }
        const double bound = sqrt(square) / 1e-3;
        for (int32_t i = 0; i < STN_COUNT(ways); i++) {
            choose(f, "cond", ways[i][0], ways[i][1], 1e-6);
            const stn_status status = solve_into(f, p, 0, v_one, gamma_one);
            assert_true(status == STN_OK || status == STN_NOT_CONVERGED);
            unsolved += status != STN_OK;
            for (int32_t k = 6; k < p->nv; k++) {
                furthest = worse(furthest, fabs(v_one[k]) / bound);
            }
            leave(f);
        }
        scene_end(&s);
    }
    assert_true(unsolved > 0); // else nothing is left to look at
    assert_true(furthest > 0.0 && furthest <= 1.0);
}

// --------------------------------------------------------------------------------------------------------------
// running

/// Enough nodes for threads: the same bytes whatever their number.
static void threads_change_nothing(void **state) {
    fixture *f = *state;
    scene s;
    scene_begin(&s, f->context, 5);
    const cloud mat = scene_cloud(&s, 70, 70, 1, 300.0);
    const int32_t body = scene_free_body(&s, 0.3);
    for (int32_t i = 0; i < cloud_nodes(&mat); i++) {
        int32_t triangle[3];
        if (i % 3 == 0 && cloud_triangle(&mat, i, 0, 1, triangle)) {
            double J[18];
            const stn_mat3 frame = stn_mat3_identity();
            scene_body_rows(stn_vec3_make(0.01, 0.0, -0.02), &frame, -1.0, J);
            scene_cloud_contact(&s, &mat, triangle, i % 12 == 0 ? body : -1, J);
        }
    }
    stn_problem *p = scene_finish(&s);
    assert_true(p->nv <= MOST && p->row_count <= MOST);
    for (int32_t i = 0; i < p->nv; i++) {
        p->v_star[i] = p->v_guess[i] = i % 3 == 2 ? -0.1 : 0.05;
    }
    for (int32_t w = 0; w < STN_COUNT(ways); w++) {
        for (int32_t count = 1; count <= 4; count *= 2) {
            const stn_setting settings[] = {number_setting("max_iterations", 40.0),
                                            text_setting(ways[w][0], ways[w][1])};
            stn_threads *threads = NULL;
            stn_problem_solver *solver = NULL;
            assert_ok(stn_threads_create(f->context, count, &threads, &f->err), f->err);
            assert_ok(stn_instance_create(f->context, STN_KIND_SOLVER, "cond", settings, 2, &f->solver, &f->err),
                      f->err);
            const stn_problem_solver_options options = {.solver = f->solver, .threads = threads};
            assert_ok(stn_problem_solver_create(f->context, &options, &solver, &f->err), f->err);
            stn_problem q = *p;
            const stn_solve_request request = {.masses = true};
            stn_solution solution = {.v = count == 1 ? v_one : v_two, .gamma = count == 1 ? gamma_one : gamma_two};
            stn_solve_report report;
            assert_true(stn_problem_solve(solver, &q, &request, &solution, &report, NULL, &f->err) >= STN_OK);
            assert_int_equal(report.iterations, 40);
            if (count > 1) {
                assert_memory_equal(v_one, v_two, (size_t)p->nv * sizeof(double));
                assert_memory_equal(gamma_one, gamma_two, (size_t)p->row_count * sizeof(double));
            }
            stn_problem_solver_destroy(solver);
            stn_instance_destroy(f->solver);
            stn_threads_destroy(threads);
        }
    }
    scene_end(&s);
}

/// The paper's stopping rule: by how much an iteration changes v. It claims nothing.
static void a_threshold_ends_early(void **state) {
    fixture *f = *state;
    scene s;
    scene_begin(&s, f->context, 2);
    const cloud mat = scene_cloud(&s, 6, 6, 1, 300.0);
    for (int32_t i = 0; i < cloud_nodes(&mat); i++) {
        int32_t triangle[3];
        if (cloud_triangle(&mat, i, 0, 1, triangle)) {
            scene_cloud_contact(&s, &mat, triangle, -1, NULL);
        }
    }
    stn_problem *p = scene_finish(&s);
    for (int32_t i = 0; i < p->nv; i++) {
        p->v_star[i] = i % 3 == 2 ? -0.1 : 0.05;
    }
    int32_t before = 0;
    double error = (double)INFINITY;
    for (int32_t k = 2; k <= 6; k += 2) {
        const stn_setting settings[] = {number_setting("tolerance", 1e-12), number_setting("max_iterations", 20000.0),
                                        number_setting("velocity_threshold", pow(10.0, -k))};
        choose_with(f, "cond", settings, STN_COUNT(settings));
        assert_int_equal(solve(f, p), STN_NOT_CONVERGED);
        if (strcmp(f->report.reason, "velocity threshold") != 0) {
            fail_msg("%d: %s after %d iterations, momentum %g", k, f->report.reason, f->report.iterations,
                     f->certificate.momentum);
        }
        assert_true(f->report.iterations > before && f->certificate.momentum < 0.1 * error);
        before = f->report.iterations;
        error = f->certificate.momentum;
        leave(f);
    }
    scene_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(virtual_nodes_are_those_of_the_paper, setup, teardown),
        cmocka_unit_test_setup_teardown(nodes_in_several_contacts_are_solved, setup, teardown),
        cmocka_unit_test_setup_teardown(light_bodies_between_nodes_are_solved, setup, teardown),
        cmocka_unit_test_setup_teardown(step_sizes_are_safe, setup, teardown),
        cmocka_unit_test_setup_teardown(one_shot_dissipates_most, setup, teardown),
        cmocka_unit_test_setup_teardown(strict_failures_are_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_left_unsolved_stays_near, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_change_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_threshold_ends_early, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
