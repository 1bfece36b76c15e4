// SPDX-License-Identifier: Apache-2.0
#include "problem_make.h"

#include <string.h>

enum {
    ARM_MOST = 9,
    CLOUD_LEAST = 3,
    CLOUD_MOST = 6,
    TREE_MOST = 3 * CLOUD_MOST,
    TREE_REALS = 9 * CLOUD_MOST * CLOUD_MOST,
    TREE_INTEGERS = CLOUD_MOST + 1 + CLOUD_MOST * CLOUD_MOST,
    JACOBIAN_REALS = STN_MAX_ROWS * TREE_MOST,
    CABLE_MOST = 8 // trees of a cable
};

typedef enum tree_form { TREE_BODY, TREE_ARM, TREE_POINT, TREE_CLOUD } tree_form;

typedef struct maker {
    const problem_spec *spec;
    random_stream *random;
    stn_problem *p;
    tree_form *form; // (tree_count)
    double *reals;   // pools that were sized before
    int32_t *integers;
} maker;

// ---------------------------------------------------------------------------------------------------------- numbers

static stn_vec3 random_vector(random_stream *r, double scale) {
    double x = random_normal(r), y = random_normal(r), z = random_normal(r);
    return stn_vec3_make(scale * x, scale * y, scale * z);
}

static stn_vec3 random_direction(random_stream *r) {
    for (;;) {
        stn_vec3 v = random_vector(r, 1.0);
        double length = stn_vec3_norm(v);
        if (length > 1e-3) {
            return stn_vec3_scale(1.0 / length, v);
        }
    }
}

static double *take(maker *m, int32_t count) {
    double *start = m->reals;
    m->reals += count;
    return start;
}

// ------------------------------------------------------------------------------------------------------------ trees

static double random_mass(maker *m) {
    double decades = m->spec->mass_decades;
    return pow(10.0, random_uniform(m->random, -decades, decades));
}

/// A box of 0.1 to 0.3 m, turned at random.
static stn_matrix make_body(maker *m) {
    double mass = random_mass(m), square[3], *A = take(m, 36);
    for (int32_t a = 0; a < 3; a++) {
        double side = random_uniform(m->random, 0.1, 0.3);
        square[a] = side * side;
    }
    double c = mass / 12.0;
    stn_mat3 principal =
        stn_mat3_diagonal(c * (square[1] + square[2]), c * (square[0] + square[2]), c * (square[0] + square[1]));
    stn_vec3 axis = random_direction(m->random);
    stn_mat3 turn = stn_contact_frame(axis), inertia = stn_mat3_rotate_tensor(&turn, &principal);
    for (int32_t i = 0; i < 3; i++) {
        A[7 * i] = mass;
        for (int32_t j = 0; j < 3; j++) {
            A[6 * (3 + i) + 3 + j] = 0.5 * (inertia.m[i][j] + inertia.m[j][i]);
        }
    }
    return (stn_matrix){.n = 6, .form = STN_MATRIX_DENSE, .values = A};
}

/// Row i of q becomes a unit vector at right angles to those before; Gram-Schmidt, twice.
static void orthogonal_row(maker *m, int32_t n, int32_t i, double *q) {
    double *row = q + i * n, square = 0.0;
    while (square < 1e-6) {
        for (int32_t k = 0; k < n; k++) {
            row[k] = random_normal(m->random);
        }
        for (int32_t j = 0; j < 2 * i; j++) {
            const double *other = q + (j % i) * n;
            double dot = 0.0;
            for (int32_t k = 0; k < n; k++) {
                dot += other[k] * row[k];
            }
            for (int32_t k = 0; k < n; k++) {
                row[k] -= dot * other[k];
            }
        }
        square = 0.0;
        for (int32_t k = 0; k < n; k++) {
            square += row[k] * row[k];
        }
    }
    for (int32_t k = 0; k < n; k++) {
        row[k] /= sqrt(square);
    }
}

/// A = mass Q diag(1 ... 1/condition, log-spaced) Q^T.
static stn_matrix make_arm(maker *m) {
    int32_t n = random_integer(m->random, 1, ARM_MOST);
    double mass = random_mass(m), q[ARM_MOST * ARM_MOST], *A = take(m, n * n);
    for (int32_t i = 0; i < n; i++) {
        orthogonal_row(m, n, i, q);
    }
    for (int32_t e = 0; e < n; e++) {
        double value = mass * pow(m->spec->condition, n > 1 ? -(double)e / (n - 1) : 0.0);
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j <= i; j++) {
                A[i * n + j] += value * q[e * n + i] * q[e * n + j];
                A[j * n + i] = A[i * n + j];
            }
        }
    }
    return (stn_matrix){.n = n, .form = STN_MATRIX_DENSE, .values = A};
}

static stn_matrix make_point(maker *m) {
    double mass = random_mass(m), *A = take(m, 3);
    A[0] = A[1] = A[2] = mass;
    return (stn_matrix){.n = 3, .form = STN_MATRIX_DIAGONAL, .values = A};
}

static double *cloud_block(const stn_matrix *A, int32_t i, int32_t j) {
    return A->values + 9 * stn_nodal_entry(A->row_start, A->column, i, j);
}

/// Masses joined by springs, each with the next and the last with the first: A = M + dt^2 K.
static stn_matrix make_cloud(maker *m) {
    int32_t n = random_integer(m->random, CLOUD_LEAST, CLOUD_MOST), e = 0;
    int32_t *row_start = m->integers, *column = row_start + n + 1;
    for (int32_t i = 0; i < n; i++) {
        row_start[i] = e;
        for (int32_t j = 0; j < n; j++) {
            if (j == i || j == (i + 1) % n || i == (j + 1) % n) {
                column[e++] = j;
            }
        }
    }
    row_start[n] = e;
    m->integers += n + 1 + e;
    stn_matrix A = {.n = 3 * n, .form = STN_MATRIX_NODAL, .values = take(m, 9 * e), .node_count = n, .node_size = 3};
    A.row_start = row_start;
    A.column = column;
    double mass = random_mass(m);
    for (int32_t i = 0; i < n; i++) {
        int32_t j = (i + 1) % n;
        stn_vec3 axis = random_direction(m->random);
        const double u[3] = {axis.x, axis.y, axis.z};
        double spring = mass * random_uniform(m->random, 0.1, 3.0);
        double *blocks[4] = {cloud_block(&A, i, i), cloud_block(&A, j, j), cloud_block(&A, i, j),
                             cloud_block(&A, j, i)};
        for (int32_t k = 0; k < 9; k++) {
            double stiffness = spring * (u[k / 3] * u[k % 3] + (k % 4 == 0 ? 0.1 : 0.0));
            blocks[0][k] += stiffness + (k % 4 == 0 ? mass : 0.0);
            blocks[1][k] += stiffness;
            blocks[2][k] -= stiffness;
            blocks[3][k] -= stiffness;
        }
    }
    return A;
}

static void make_trees(maker *m) {
    static stn_matrix (*const make[])(maker *) = {make_body, make_arm, make_point, make_cloud};
    const problem_spec *spec = m->spec;
    stn_problem *p = m->p;
    int32_t left[4] = {spec->bodies, spec->arms, spec->points, spec->clouds};
    for (int32_t t = 0; t < p->tree_count; t++) { // forms mixed, so that any may come first
        int32_t form = random_integer(m->random, 0, 3);
        while (left[form] == 0) {
            form = (form + 1) % 4;
        }
        left[form]--;
        m->form[t] = (tree_form)form;
        p->trees[t] = (stn_problem_tree){.dof_start = p->nv, .source = t, .A = make[form](m)};
        p->nv += p->trees[t].A.n;
    }
}

// ------------------------------------------------------------------------------------------------------ constraints

static stn_constraint *add_constraint(maker *m, stn_constraint_kind kind, stn_constraint_set set, int32_t rows) {
    stn_problem *p = m->p;
    stn_constraint *c = &p->constraints[p->constraint_count];
    *c = (stn_constraint){.id = 1000 + 7 * (uint64_t)p->constraint_count,
                          .kind = kind,
                          .set = set,
                          .row = p->row_count,
                          .rows = rows,
                          .J = {{.tree = -1}, {.tree = -1}},
                          .phi0 = NAN,
                          .stiffness = INFINITY,
                          .relaxation_time = p->dt,
                          .dissipation = NAN,
                          .mu1 = NAN,
                          .mu2 = NAN,
                          .restitution = NAN,
                          .w = NAN,
                          .w_trace = NAN,
                          .gamma_n0 = NAN,
                          .vn0 = NAN,
                          .memory = p->constraint_count,
                          .body = {-1, -1},
                          .contact = -1,
                          .patch = -1};
    c->frame = stn_mat3_identity();
    for (int32_t r = c->row; r < c->row + rows; r++) {
        p->lo[r] = -INFINITY;
        p->hi[r] = INFINITY;
        p->phi[r] = NAN;
    }
    p->row_count += rows;
    p->constraint_count++;
    return c;
}

static void block_rows(maker *m, const stn_constraint *c, stn_jacobian *J, int32_t tree, double sign) {
    if (m->form[tree] == TREE_CLOUD) {
        // The same of a point within one to three nodes.
        int32_t rows = c->rows;
        int32_t nodes = m->p->trees[tree].A.node_count, count = random_integer(m->random, 1, 3);
        int32_t first = random_integer(m->random, 0, nodes - 1);
        double *values = take(m, 3 * rows * count);
        *J = (stn_jacobian){.tree = tree, .node_count = count, .node_size = 3, .values = values};
        for (int32_t b = 0; b < count; b++) {
            J->node[b] = (first + b) % nodes;
            for (int32_t r = 0; r < rows; r++) {
                stn_vec3 e = stn_mat3_column(&c->frame, r % 3);
                double weight = sign / count, *row = values + 3 * (rows * b + r);
                row[0] = weight * e.x;
                row[1] = weight * e.y;
                row[2] = weight * e.z;
            }
        }
    } else {
        // Rows of the velocity of a point of a tree along the frame's axes, and of its rotation when there are 6; at
        // `arm` from a body's centre.
        int32_t rows = c->rows;
        stn_vec3 arm = random_vector(m->random, 0.06);
        int32_t n = m->p->trees[tree].A.n;
        double *values = take(m, rows * n);
        *J = (stn_jacobian){.tree = tree, .values = values};
        for (int32_t r = 0; r < rows; r++) {
            double *row = values + r * n;
            stn_vec3 e = stn_mat3_column(&c->frame, r % 3), moment = stn_vec3_cross(arm, e);
            if (m->form[tree] == TREE_ARM) {
                for (int32_t k = 0; k < n; k++) {
                    row[k] = sign * 0.5 * random_normal(m->random);
                }
                continue;
            }
            if (r < 3) {
                row[0] = sign * e.x;
                row[1] = sign * e.y;
                row[2] = sign * e.z;
            }
            if (n == 6) {
                row[3] = sign * (r < 3 ? moment.x : e.x);
                row[4] = sign * (r < 3 ? moment.y : e.y);
                row[5] = sign * (r < 3 ? moment.z : e.z);
            }
        }
    }
}

/// Another tree of the same island, -1: the world.
static int32_t partner(maker *m, int32_t tree) {
    int32_t islands = m->spec->islands > 1 ? m->spec->islands : 1, trees = m->p->tree_count;
    int32_t members = (trees - 1 - tree % islands) / islands + 1;
    if (members < 2 || random_chance(m->random, 0.4)) {
        return -1;
    }
    int32_t other = (tree / islands + random_integer(m->random, 1, members - 1)) % members;
    return tree % islands + islands * other;
}

static void join(maker *m, stn_constraint *c, int32_t a, int32_t b) {
    block_rows(m, c, &c->J[0], a, 1.0);
    if (b >= 0) {
        block_rows(m, c, &c->J[1], b, -1.0);
    }
}

static void contact_data(maker *m, stn_constraint *c) {
    const problem_spec *spec = m->spec;
    random_stream *r = m->random;
    c->phi0 = random_uniform(r, -1e-3, 5e-4);
    c->phi0 = spec->gap ? 1e-5 + fabs(c->phi0) : c->phi0;
    bool rigid = random_chance(r, spec->rigid);
    double exponent = random_uniform(r, spec->stiffness_low, spec->stiffness_high);
    c->stiffness = rigid ? (double)INFINITY : pow(10.0, exponent);
    c->relaxation_time = random_uniform(r, 0.0, spec->relaxation_time);
    bool smooth = spec->mu_low == 0.0 && random_chance(r, 0.125);
    double mu = random_uniform(r, spec->mu_low, spec->mu_high);
    c->mu1 = c->mu2 = smooth ? 0.0 : mu;
    c->dissipation = random_uniform(r, 0.0, 20.0);
    c->restitution = 0.0;
    if (c->set == STN_SET_ELLIPSE) {
        c->mu2 *= random_uniform(r, 0.3, 1.0);
    }
}

/// The contact before once more: exactly, or elsewhere on the same plane with the same material.
static void repeat_contact(maker *m) {
    stn_problem *p = m->p;
    const stn_constraint *before = &p->constraints[p->constraint_count - 1];
    stn_constraint *c = add_constraint(m, before->kind, before->set, before->rows);
    uint64_t id = c->id;
    int32_t row = c->row, memory = c->memory;
    *c = *before;
    c->id = id;
    c->row = row;
    c->memory = memory;
    if (random_chance(m->random, 0.5)) {
        join(m, c, before->J[0].tree, before->J[1].tree);
    }
}

static stn_constraint_set contact_set(maker *m) {
    uint32_t sets = m->spec->sets;
    bool cone = (sets >> STN_SET_CONE & 1u) != 0, ellipse = (sets >> STN_SET_ELLIPSE & 1u) != 0;
    return ellipse && (!cone || random_chance(m->random, 0.5)) ? STN_SET_ELLIPSE : STN_SET_CONE;
}

static void make_contacts(maker *m) {
    const problem_spec *spec = m->spec;
    int32_t trees = m->p->tree_count, islands = spec->islands > 1 ? spec->islands : 1;
    int32_t count = spec->one_a_pair && spec->contacts > trees ? trees : spec->contacts;
    for (int32_t i = 0; i < count; i++) {
        if (i > 0 && !spec->one_a_pair && random_chance(m->random, spec->repeated)) {
            repeat_contact(m);
            continue;
        }
        int32_t a = i < trees ? i : random_integer(m->random, 0, trees - 1), b = partner(m, a);
        if (spec->one_a_pair) {
            b = a >= islands && random_chance(m->random, 0.7) ? a - islands : -1;
        }
        stn_constraint *c = add_constraint(m, STN_CONSTRAINT_CONTACT, contact_set(m), 3);
        c->frame = stn_contact_frame(random_direction(m->random));
        contact_data(m, c);
        join(m, c, a, b);
    }
}

/// One row on a dof of a tree, or on two.
static void scalar_rows(maker *m, stn_constraint *c, int32_t tree, bool two) {
    int32_t n = m->p->trees[tree].A.n, i = random_integer(m->random, 0, n - 1);
    if (m->form[tree] == TREE_CLOUD) {
        double *values = take(m, 3);
        values[i % 3] = 1.0;
        c->J[0] = (stn_jacobian){.tree = tree, .node_count = 1, .node_size = 3, .node = {i / 3}, .values = values};
        return;
    }
    double *values = take(m, n);
    values[i] = 1.0;
    if (two && n > 1) {
        values[(i + random_integer(m->random, 1, n - 1)) % n] = -random_uniform(m->random, 0.5, 2.0);
    }
    c->J[0] = (stn_jacobian){.tree = tree, .values = values};
}

static void bound(maker *m, const stn_constraint *c, double low, double high) {
    m->p->lo[c->row] = low;
    m->p->hi[c->row] = high;
}

/// A constraint of a kind that is no contact.
static void make_other(maker *m, stn_constraint_kind kind, int32_t tree) {
    random_stream *r = m->random;
    bool box = kind == STN_CONSTRAINT_JOINT_LIMIT || kind == STN_CONSTRAINT_SERVO ||
               kind == STN_CONSTRAINT_DRY_FRICTION || kind == STN_CONSTRAINT_VELOCITY_LIMIT;
    stn_constraint_set set = box ? STN_SET_BOX : STN_SET_EQUALITY;
    if ((m->spec->sets >> set & 1u) == 0) {
        return;
    }
    bool rigid_tree = m->form[tree] == TREE_BODY || m->form[tree] == TREE_ARM;
    int32_t rows = kind == STN_CONSTRAINT_BALL || (kind == STN_CONSTRAINT_WELD && !rigid_tree) ? 3
                   : kind == STN_CONSTRAINT_WELD                                               ? 6
                                                                                               : 1;
    stn_constraint *c = add_constraint(m, kind, set, rows);
    double effort = random_uniform(r, 0.1, 10.0) * m->p->dt;
    switch (kind) {
    case STN_CONSTRAINT_JOINT_LIMIT:
        c->phi0 = random_uniform(r, -0.01, 0.01);
        bound(m, c, 0.0, INFINITY);
        break;
    case STN_CONSTRAINT_SERVO:
        c->phi0 = random_uniform(r, -0.1, 0.1);
        c->stiffness = pow(10.0, random_uniform(r, 1.0, 4.0));
        c->relaxation_time = 0.05;
        bound(m, c, -effort, effort);
        break;
    case STN_CONSTRAINT_DRY_FRICTION:
        bound(m, c, -effort, effort);
        break;
    case STN_CONSTRAINT_VELOCITY_LIMIT:
        bound(m, c, 0.0, INFINITY);
        break;
    case STN_CONSTRAINT_BALL:
    case STN_CONSTRAINT_WELD:
        for (int32_t row = c->row; row < c->row + rows; row++) {
            m->p->phi[row] = random_uniform(r, -1e-3, 1e-3);
        }
        break;
    case STN_CONSTRAINT_COUPLER:
    case STN_CONSTRAINT_DISTANCE:
    case STN_CONSTRAINT_PLUGIN:
        c->phi0 = random_uniform(r, -1e-3, 1e-3);
        break;
    default:
        break;
    }
    if (kind == STN_CONSTRAINT_BALL || kind == STN_CONSTRAINT_WELD || kind == STN_CONSTRAINT_DISTANCE) {
        c->frame = stn_contact_frame(random_direction(r));
        int32_t other = partner(m, tree);
        bool fits = other >= 0 && (rows < 6 || m->form[other] == TREE_BODY || m->form[other] == TREE_ARM);
        join(m, c, tree, fits ? other : -1);
    } else {
        scalar_rows(m, c, tree, kind == STN_CONSTRAINT_COUPLER);
    }
}

/// Rows over several trees of an island, as plugins of kind constraint have them: a cable that pulls, a stop that
/// pushes, a drive of limited force, a coupling. `more`: (CABLE_MOST - 2).
static void make_cable(maker *m, stn_jacobian *more) {
    random_stream *r = m->random;
    const problem_spec *spec = m->spec;
    int32_t islands = spec->islands > 1 ? spec->islands : 1, trees = m->p->tree_count, passed[CABLE_MOST], count = 0;
    int32_t first = random_integer(r, 0, trees - 1), members = (trees - 1 - first % islands) / islands + 1;
    int32_t wanted = random_integer(r, 3, CABLE_MOST);
    for (int32_t k = 0; k < members && count < wanted; k++) { // from a tree on, round the island
        passed[count++] = first % islands + islands * ((first / islands + k) % members);
    }
    bool box = (spec->sets >> STN_SET_BOX & 1u) != 0, equality = (spec->sets >> STN_SET_EQUALITY & 1u) != 0;
    if (!box && !equality) {
        return;
    }
    box = box && (!equality || random_chance(r, 0.75));
    stn_constraint *c =
        add_constraint(m, STN_CONSTRAINT_PLUGIN, box ? STN_SET_BOX : STN_SET_EQUALITY, random_integer(r, 1, 3));
    c->frame = stn_contact_frame(random_direction(r));
    c->stiffness = random_chance(r, spec->rigid)
                       ? (double)INFINITY
                       : pow(10.0, random_uniform(r, spec->stiffness_low, spec->stiffness_high));
    c->relaxation_time = random_uniform(r, 0.0, spec->relaxation_time);
    c->phi0 = c->rows == 1 ? random_uniform(r, -1e-3, 1e-3) : (double)NAN;
    int32_t way = random_integer(r, 0, 2);
    for (int32_t row = c->row; row < c->row + c->rows; row++) {
        double effort = random_uniform(r, 0.1, 10.0) * m->p->dt;
        m->p->phi[row] = c->rows > 1 ? random_uniform(r, -1e-3, 1e-3) : (double)NAN;
        m->p->lo[row] = !box || way == 0 ? -(double)INFINITY : way == 1 ? 0.0 : -effort;
        m->p->hi[row] = !box || way == 1 ? (double)INFINITY : way == 0 ? 0.0 : effort;
    }
    for (int32_t k = 0; k < count; k++) {
        block_rows(m, c, k < 2 ? &c->J[k] : &more[k - 2], passed[k], k % 2 == 0 ? 1.0 : -1.0);
    }
    c->more_count = count > 2 ? count - 2 : 0;
    c->more = count > 2 ? more : NULL;
}

// ---------------------------------------------------------------------------------------------------------- problem

static void make_velocities(maker *m) {
    const problem_spec *spec = m->spec;
    stn_problem *p = m->p;
    random_stream *r = m->random;
    for (int32_t d = 0; d < p->nv; d++) {
        p->v0[d] = p->v_guess[d] = spec->speed * random_normal(r);
        p->v_star[d] = p->v0[d] + p->dt * 9.81 * random_normal(r);
    }
    for (int32_t i = 0; i < p->row_count; i++) {
        p->bias[i] = random_chance(r, spec->bias) ? spec->speed * random_normal(r) : 0.0;
    }
}

/// The vectors and tables, all zero; false when out of memory.
static bool allocate(stn_arena *arena, int32_t trees, maker *m) {
    stn_problem *p = m->p;
    int32_t constraints = m->spec->contacts + m->spec->others + m->spec->cables;
    size_t dofs = (size_t)trees * TREE_MOST, rows = (size_t)constraints * STN_MAX_ROWS;
    size_t jacobians = (2 * (size_t)constraints + CABLE_MOST * (size_t)m->spec->cables) * JACOBIAN_REALS;
    double *reals = STN_ARENA_ZEROED(arena, 3 * dofs + 7 * rows + (size_t)trees * TREE_REALS + jacobians + 1, double);
    m->integers = STN_ARENA_ZEROED(arena, trees * TREE_INTEGERS + 1, int32_t);
    m->form = STN_ARENA_ZEROED(arena, trees + 1, tree_form);
    p->trees = STN_ARENA_ZEROED(arena, trees + 1, stn_problem_tree);
    p->constraints = STN_ARENA_ZEROED(arena, constraints + 1, stn_constraint);
    if (reals == NULL || m->integers == NULL || m->form == NULL || p->trees == NULL || p->constraints == NULL) {
        return false;
    }
    double **dof_vectors[] = {&p->v0, &p->v_star, &p->v_guess};
    double **row_vectors[] = {&p->bias, &p->lo, &p->hi, &p->R, &p->v_hat, &p->gamma_guess, &p->phi};
    for (int32_t i = 0; i < STN_COUNT(dof_vectors); i++, reals += dofs) {
        *dof_vectors[i] = reals;
    }
    for (int32_t i = 0; i < STN_COUNT(row_vectors); i++, reals += rows) {
        *row_vectors[i] = reals;
    }
    m->reals = reals;
    return true;
}

problem_spec problem_spec_plain(uint32_t sets) {
    return (problem_spec){.bodies = 3,
                          .arms = 2,
                          .points = 1,
                          .contacts = 8,
                          .others = 4,
                          .cables = 1,
                          .sets = sets,
                          .repeated = 0.2,
                          .mu_high = 1.0,
                          .condition = 100.0,
                          .mass_decades = 0.5,
                          .stiffness_low = 4.0,
                          .stiffness_high = 6.0,
                          .relaxation_time = 0.01,
                          .speed = 0.5,
                          .bias = 0.1,
                          .dt = 5e-3};
}

problem_spec problem_spec_ill_posed(uint32_t sets, random_stream *random) {
    int32_t contacts = (int32_t)pow(10.0, random_uniform(random, 0.0, 2.302));
    int32_t trees = 1 + random_integer(random, 0, contacts / 2);
    int32_t bodies = random_integer(random, 0, trees);
    return (problem_spec){.bodies = bodies,
                          .arms = trees - bodies,
                          .points = random_integer(random, 0, 2),
                          .clouds = random_integer(random, 0, 1),
                          .islands = random_integer(random, 1, 3),
                          .contacts = contacts,
                          .others = random_integer(random, 0, 6),
                          .cables = random_integer(random, 0, 2),
                          .sets = sets,
                          .repeated = random_uniform(random, 0.0, 0.6),
                          .mu_high = random_uniform(random, 0.0, 5.0),
                          .condition = pow(10.0, random_uniform(random, 0.0, 12.0)),
                          .mass_decades = 2.0,
                          .stiffness_low = 2.0,
                          .stiffness_high = 12.0,
                          .rigid = 0.25,
                          .relaxation_time = 0.02,
                          .speed = pow(10.0, random_uniform(random, -3.0, 1.0)),
                          .bias = 0.2,
                          .dt = pow(10.0, random_uniform(random, -4.0, -1.5))};
}

stn_problem *problem_make(stn_arena *arena, const problem_spec *spec, random_stream *random) {
    stn_problem *p = STN_ARENA_ZEROED(arena, 1, stn_problem);
    maker m = {.spec = spec, .random = random, .p = p};
    int32_t trees = spec->bodies + spec->arms + spec->points + spec->clouds;
    if (p == NULL || !allocate(arena, trees, &m)) {
        return NULL;
    }
    p->name = "validate";
    p->form = STN_FORM_GLOBAL;
    p->velocity_kind = STN_VELOCITY_END;
    p->theta = 1.0;
    p->dt = spec->dt;
    p->tree_count = trees;
    p->beta = p->sigma = p->stiction_tolerance = (double)NAN;
    make_trees(&m);
    if ((spec->sets & (1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE)) != 0 && trees > 0) {
        make_contacts(&m);
    }
    if (trees > 0) {
        int32_t first = random_integer(m.random, 0, STN_CONSTRAINT_PLUGIN - 2);
        for (int32_t i = 0; i < m.spec->others; i++) {
            stn_constraint_kind kind = (stn_constraint_kind)(1 + (first + i) % (STN_CONSTRAINT_PLUGIN - 1));
            make_other(&m, kind, random_integer(m.random, 0, m.p->tree_count - 1));
        }
    }
    stn_jacobian *more = STN_ARENA_ZEROED(arena, (CABLE_MOST - 2) * spec->cables + 1, stn_jacobian);
    if (more == NULL) {
        return NULL;
    }
    for (int32_t i = 0; i < spec->cables && trees > 0; i++) {
        make_cable(&m, more + (CABLE_MOST - 2) * i);
    }
    make_velocities(&m);
    return p;
}
