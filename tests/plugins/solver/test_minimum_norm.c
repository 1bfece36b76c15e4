// SPDX-License-Identifier: Apache-2.0
// Solver qp, impulses = minimum_norm, against a reference over all rays at once:
//
//     max over y  b^T y - |(C^T y)_+|^2/2,    C: columns J^T r and the compliant rows of r, b = C beta
//
// whose beta = (C^T y)_+ is the least that gives the same motion. By Newton's method with exact line searches.
#include "solver_fixture.h"
#include "stn_scene.h"

enum { ROWS = 384, RAYS = 800 };

typedef struct reference {
    int32_t rows, rays;
    int32_t ray[RAYS];    // 4 times its contact, and which
    double C[RAYS][ROWS]; // columns
    double b[ROWS], y[ROWS], step[ROWS], gradient[ROWS], M[ROWS * ROWS];
    double at[RAYS], along[RAYS]; // C^T y, C^T step
} reference;

static double dot(int32_t n, const double *x, const double *y) {
    double sum = 0.0;
    for (int32_t k = 0; k < n; k++) {
        sum += x[k] * y[k];
    }
    return sum;
}

static const double cosine[4] = {1.0, 0.0, -1.0, 0.0}, sine[4] = {0.0, 1.0, 0.0, -1.0};

/// Rays that rest are columns; b is what gamma gives. False: it is not clear which rest.
static bool prepare(reference *r, const stn_problem *p, const double *v, const double *gamma) {
    static double v_c[MULTICONTACT_MOST], one[MULTICONTACT_MOST];
    double speed = 0.0;
    memset(r, 0, sizeof *r);
    stn_problem_contact_velocity(p, p->v_star, true, v_c);
    for (int32_t k = 0; k < p->row_count; k++) {
        speed = fmax(speed, fabs(v_c[k]));
    }
    stn_problem_contact_velocity(p, v, true, v_c);
    r->rows = p->nv;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        const int32_t first = r->rows; // rows of its compliance
        double own[3];
        for (int32_t k = 0; k < 3; k++) {
            const int32_t row = c->row + k;
            own[k] = v_c[row] + p->R[row] * gamma[row] - p->v_hat[row];
            if (p->R[row] > 0.0) {
                assert_true(r->rows < ROWS);
                r->b[r->rows++] = gamma[row];
            }
        }
        for (int32_t j = 0; j < 4; j++) {
            const double ray[3] = {c->mu1 * cosine[j], c->mu1 * sine[j], 1.0}, g = fabs(dot(3, ray, own));
            if (g > 1e-12 * speed && g < 1e-7 * speed) {
                return false;
            }
            if (g >= 1e-7 * speed) {
                continue;
            }
            assert_true(r->rays < RAYS);
            memset(one, 0, sizeof one);
            memcpy(one + c->row, ray, sizeof ray);
            stn_problem_jacobian_transposed_add(p, 1.0, one, r->C[r->rays]);
            for (int32_t k = 0, soft = first; k < 3; k++) {
                if (p->R[c->row + k] > 0.0) {
                    r->C[r->rays][soft++] = ray[k];
                }
            }
            r->ray[r->rays++] = 4 * i + j;
        }
    }
    stn_problem_jacobian_transposed_add(p, 1.0, gamma, r->b);
    return true;
}

/// gradient = C beta - b, beta the positive ones of r->at; returns its norm.
static double find_gradient(reference *r) {
    for (int32_t k = 0; k < r->rows; k++) {
        r->gradient[k] = -r->b[k];
    }
    for (int32_t j = 0; j < r->rays; j++) {
        for (int32_t k = 0; k < r->rows && r->at[j] > 0.0; k++) {
            r->gradient[k] += r->at[j] * r->C[j][k];
        }
    }
    return sqrt(dot(r->rows, r->gradient, r->gradient));
}

/// step = -(C_P C_P^T + 1e-12)^-1 gradient, P the rays with beta > 0.
static void find_step(reference *r) {
    const int32_t n = r->rows;
    memset(r->M, 0, sizeof r->M);
    for (int32_t j = 0; j < r->rays; j++) {
        for (int32_t a = 0; a < n && r->at[j] > 0.0; a++) {
            for (int32_t b = 0; b <= a && r->C[j][a] != 0.0; b++) {
                r->M[a * n + b] += r->C[j][a] * r->C[j][b];
            }
        }
    }
    for (int32_t k = 0; k < n; k++) {
        r->M[k * n + k] += 1e-12;
        r->step[k] = -r->gradient[k];
    }
    assert_int_equal(stn_cholesky(n, r->M, n), -1);
    stn_cholesky_forward(n, r->M, n, 1, r->step, n);
    stn_cholesky_backward(n, r->M, n, 1, r->step, n);
}

/// Slope of the cost at y + t step.
static double slope(const reference *r, double t) {
    double sum = -dot(r->rows, r->b, r->step);
    for (int32_t j = 0; j < r->rays; j++) {
        sum += fmax(r->at[j] + t * r->along[j], 0.0) * r->along[j];
    }
    return sum;
}

/// The zero of the slope beyond 0.
static double search(const reference *r) {
    double low = 0.0, high = 1.0;
    while (slope(r, high) < 0.0 && high < 1e12) {
        high *= 2.0;
    }
    for (int32_t i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        *(slope(r, middle) < 0.0 ? &low : &high) = middle;
    }
    return high;
}

/// beta into r->at, and last the rounding of large y out of it: steps in beta alone.
static bool solve_reference(reference *r) {
    const double size = sqrt(dot(r->rows, r->b, r->b));
    bool found = false;
    for (int32_t k = 0; k < 300 && !found; k++) {
        for (int32_t j = 0; j < r->rays; j++) {
            r->at[j] = dot(r->rows, r->C[j], r->y);
        }
        found = find_gradient(r) <= 1e-9 * size;
        find_step(r);
        for (int32_t j = 0; j < r->rays; j++) {
            r->along[j] = dot(r->rows, r->C[j], r->step);
        }
        const double by = found ? 0.0 : search(r);
        for (int32_t i = 0; i < r->rows; i++) {
            r->y[i] += by * r->step[i];
        }
    }
    for (int32_t k = 0; k < 3; k++) {
        find_gradient(r);
        find_step(r);
        for (int32_t j = 0; j < r->rays; j++) {
            r->at[j] = r->at[j] > 0.0 ? r->at[j] + dot(r->rows, r->C[j], r->step) : 0.0;
        }
    }
    return found && find_gradient(r) <= 1e-12 * size;
}

/// The largest difference between gamma and the reference, relative to the largest impulse. NaN: it is not clear which
/// rays rest.
static double compare(const stn_problem *p, const double *v, const double *gamma) {
    static reference r;
    static double expected[MULTICONTACT_MOST];
    if (!prepare(&r, p, v, gamma)) {
        return NAN;
    }
    assert_true(solve_reference(&r));
    memset(expected, 0, sizeof expected);
    for (int32_t k = 0; k < r.rays; k++) {
        const stn_constraint *c = &p->constraints[r.ray[k] / 4];
        expected[c->row] += r.at[k] * c->mu1 * cosine[r.ray[k] % 4];
        expected[c->row + 1] += r.at[k] * c->mu1 * sine[r.ray[k] % 4];
        expected[c->row + 2] += r.at[k];
    }
    return multicontact_largest(p->row_count, gamma, expected) / multicontact_largest(p->row_count, gamma, NULL);
}

// ------------------------------------------------------------------------------------------------------------- scenes

static const double half = 0.05;

/// A box of 0.1 to 10 kg, size 0.1 m.
static int32_t add_box(scene *s) {
    const double mass = pow(10.0, scene_uniform(s, -1.0, 1.0));
    double A[36] = {0.0};
    for (int32_t k = 0; k < 6; k++) {
        A[7 * k] = k < 3 ? mass : mass * 4.0 * half * half / 6.0;
    }
    return scene_tree(s, 6, A);
}

/// A patch of four contacts on the face of box `a` from which the normal (axis, sign) points inwards; b: a box, a
/// finger that slides along x, -1: what is fixed.
static void add_patch(scene *s, int32_t a, int32_t b, int32_t axis, double sign) {
    const double e[3] = {axis == 0 ? sign : 0.0, axis == 1 ? sign : 0.0, axis == 2 ? sign : 0.0};
    const stn_vec3 n = {e[0], e[1], e[2]};
    const stn_mat3 frame = stn_contact_frame(n);
    const stn_vec3 t1 = stn_mat3_column(&frame, 0), t2 = stn_mat3_column(&frame, 1);
    const double mu = scene_uniform(s, 0.2, 1.0), part = scene_uniform(s, 0.3, 1.0);
    for (int32_t corner = 0; corner < 4; corner++) {
        const double u = corner & 1 ? half : -part * half, w = corner & 2 ? half : -half;
        const stn_vec3 point = stn_vec3_mul_add(stn_vec3_scale(u, t1), w, t2);
        double J[2][18];
        scene_body_rows(stn_vec3_mul_add(point, -half, n), &frame, 1.0, J[0]);
        scene_body_rows(stn_vec3_mul_add(point, half, n), &frame, -1.0, J[1]);
        for (int32_t k = 0; k < 3 && b >= 0 && s->problem.trees[b].A.n == 1; k++) {
            J[1][k] = -stn_mat3_column(&frame, k).x;
        }
        stn_constraint *c = scene_constraint(s, 3, a, J[0], b, J[1]);
        c->mu1 = c->mu2 = mu;
    }
}

enum { COLUMNS = 2, LEVELS = 3 };

/// Boxes on a grid of COLUMNS x 2 x LEVELS, 3/4 of the places taken, on a ground and between walls at both ends of x
/// (walls in half of the scenes): stacks, boxes wedged between others, rings of four. `density` of the faces touch.
static void add_pile(scene *s, double density) {
    int32_t at[COLUMNS][2][LEVELS];
    const bool walls = scene_integer(s, 0, 1) == 0;
    for (int32_t k = 0; k < COLUMNS * 2 * LEVELS; k++) {
        at[k % COLUMNS][k / COLUMNS % 2][k / COLUMNS / 2] = scene_integer(s, 0, 3) > 0 ? add_box(s) : -1;
    }
    for (int32_t k = 0; k < COLUMNS * 2 * LEVELS; k++) {
        const int32_t x = k % COLUMNS, y = k / COLUMNS % 2, z = k / COLUMNS / 2, box = at[x][y][z];
        const int32_t other[3] = {x > 0 ? at[x - 1][y][z] : -1, y > 0 ? at[x][0][z] : -1, z > 0 ? at[x][y][z - 1] : -1};
        for (int32_t axis = 0; axis < 3 && box >= 0; axis++) {
            const bool fixed = (axis == 2 && z == 0) || (axis == 0 && x == 0 && walls);
            if ((other[axis] >= 0 || fixed) && scene_uniform(s, 0.0, 1.0) < density) {
                add_patch(s, box, other[axis], axis, 1.0);
            }
        }
        if (box >= 0 && x == COLUMNS - 1 && walls && scene_uniform(s, 0.0, 1.0) < density) {
            add_patch(s, box, -1, 0, -1.0);
        }
    }
}

/// Three boxes in a row between two fingers that slide along x only, the middle one on the ground in half of them.
static void add_grasp(scene *s) {
    const double A[1] = {1.0};
    int32_t box[3];
    for (int32_t k = 0; k < 3; k++) {
        box[k] = add_box(s);
    }
    add_patch(s, box[1], box[0], 0, 1.0);
    add_patch(s, box[2], box[1], 0, 1.0);
    add_patch(s, box[0], scene_tree(s, 1, A), 0, 1.0);
    add_patch(s, box[2], scene_tree(s, 1, A), 0, -1.0);
    if (scene_integer(s, 0, 1) == 0) {
        add_patch(s, box[1], -1, 2, 1.0);
    }
}

/// Weight, small pushes, and fingers that press; `soft`: half of the rows give way.
static void finish(scene *s, bool soft) {
    stn_problem *p = scene_finish(s);
    double side = 1.0;
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_problem_tree *tree = &p->trees[t];
        for (int32_t k = 0; k < tree->A.n; k++) {
            p->v_star[tree->dof_start + k] = 0.02 * scene_normal(s) - (k == 2 ? 0.1 : 0.0);
        }
        if (tree->A.n == 1) {
            p->v_star[tree->dof_start] = side * scene_uniform(s, 1.0, 5.0);
            side = -1.0;
        }
    }
    for (int32_t k = 0; k < p->row_count; k++) {
        p->R[k] = soft && scene_integer(s, 0, 1) == 0 ? scene_uniform(s, 0.01, 0.1) : 0.0;
    }
    p->explicit_R = true;
}

// ------------------------------------------------------------------------------------------------------------- claims

/// `allowed`: of the largest impulse.
static void minimum_by(fixture *f, const char *method, double allowed) {
    enum { PROBLEMS = 60 };
    const stn_setting settings[] = {number_setting("tolerance", 1e-9), text_setting("impulses", "minimum_norm"),
                                    text_setting("method", method)};
    double worst = 0.0;
    int32_t compared = 0;
    for (int32_t kind = 0; kind < 6; kind++) { // thin piles, full ones, grasps; rigid, soft
        for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
            scene s;
            scene_begin(&s, f->context, seed);
            if (kind / 2 < 2) {
                add_pile(&s, kind / 2 == 0 ? 0.6 : 1.0);
            } else {
                add_grasp(&s);
            }
            finish(&s, kind % 2 == 1);
            choose_with(f, "qp", settings, 3);
            assert_ok(solve(f, &s.problem), f->err);
            leave(f);
            const double error = compare(&s.problem, f->v, f->gamma);
            if (!isnan(error)) {
                if (error > allowed) {
                    fail_msg("%s, kind %d, seed %d: off by %g", method, kind, (int)seed, error);
                }
                worst = worse(worst, error);
                compared++;
            }
            scene_end(&s);
        }
    }
    print_message("%s: %d of %d compared, impulses off by at most %.1e\n", method, compared, 6 * PROBLEMS, worst);
    assert_true(compared >= 6 * PROBLEMS * 98 / 100);
}

static void it_is_the_minimum_of_all_rays_at_once(void **state) {
    minimum_by(*state, "active_set", 1e-9);
}

static void the_interior_point_finds_it_too(void **state) {
    minimum_by(*state, "interior_point", 1e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_the_minimum_of_all_rays_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(the_interior_point_finds_it_too, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
