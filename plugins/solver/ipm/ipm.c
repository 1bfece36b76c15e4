// SPDX-License-Identifier: Apache-2.0
// IPM: a primal-dual interior-point method over velocities of the convex relaxation, a second-order-cone problem
// [mehrotra-1992], [nesterov-todd-1997]. Pairs z, s: system.h, jordan.h.
//
//     (A + J^T T B^-1 T J) dv = -(A (v - v*) - J^T T z - f) + J^T T B^-1 h,    B = Q(w)^-1 + T R T
//     dz = B^-1 (h - T J dv),    h = Q(w^-1/2) (l \ r) + s - T (u + R T z)     w of Nesterov and Todd, l = Q(w^1/2) s
//     first with r = -l o l, then with r = -l o l - (..ds) o (..dz) + sigma (s.z/degree) e, sigma = (1 - a)^3
//
// v, s and z follow the same step a. The matrix has the pattern of the Hessian of solver/sap, and the same factor.
#include <math.h>
#include <string.h>

#include "common/proximal.h"
#include "system.h"

/// delta of proximal points.
#define IPM_SHARE 1e-5

typedef struct ipm {
    const stn_problem *problem;
    const stn_solve_control *control;
    stn_solution *solution;
    stn_solve_info *info;
    augmented H;
    scaled_dual dual; // scales of the tolerances
    ipm_cones cones;
    ipm_lines lines;
    // padded
    double *v, *v_star, *force, *D, *A_v_star; // D = diag(A)^-1/2
    double *balance;                           // A (v - v*) - J^T gamma - f
    double *impulse, *mass, *dv, *left;
    double allowed;        // |D balance| at which it is done
    double *centre;        // proximal term about it, where an A is singular
    double *compact;       // (nv)
    double *gamma;         // (row_count)
    double *x, *g;         // of `dual`
    double *best_v, *best; // (nv), (row_count) of the least error
    double *scratch;       // (3 nv) of stn_problem_imbalance
    proximal points;       // where an A is singular
    stn_status last;       // of the last centre
    double least;          // that error, relative to the tolerance
    bool enough;           // it is within the tolerances, though not within those of a centre
    int32_t since;         // iterations that have not halved it
} ipm;

// ------------------------------------------------------------------------------------------------------------- packing

/// Mean of the diagonal of a constraint's W [1/kg], 1 where that is 0.
static double scale_of(const ipm *m, int32_t constraint) {
    const stn_constraint *c = &m->problem->constraints[constraint];
    return c->w_trace > 0.0 ? c->w_trace / c->rows : 1.0;
}

typedef struct array {
    double **out;
    int32_t fields;
} array;

/// Zeroed arrays of `fields` x `stride` doubles.
static bool allocate(stn_arena *arena, int64_t stride, int32_t count, const array *arrays) {
    bool good = true;
    for (int32_t i = 0; i < count; i++) {
        *arrays[i].out = STN_ARENA_ZEROED(arena, arrays[i].fields * stride + 8, double);
        good = good && *arrays[i].out != NULL;
    }
    return good;
}

static bool allocate_all(ipm *m) {
    stn_arena *arena = m->control->arena;
    ipm_cones *c = &m->cones;
    ipm_lines *l = &m->lines;
    const array dofs[] = {{&m->v, 1},      {&m->v_star, 1},  {&m->force, 1},   {&m->D, 1},  {&m->A_v_star, 1},
                          {&m->mass, 1},   {&m->balance, 1}, {&m->impulse, 1}, {&m->dv, 1}, {&m->left, 1},
                          {&m->centre, 1}, {&m->best_v, 1},  {&m->compact, 1}};
    const array lanes[] = {{&c->mu, 2},    {&c->R, 3},    {&c->offset, 3}, {&c->u, 3},    {&c->omega, 1},
                           {&c->z, 3},     {&c->s, 3},    {&c->dz, 3},     {&c->ds, 3},   {&c->residual, 3},
                           {&c->eta, 1},   {&c->unit, 3}, {&c->l, 3},      {&c->gain, 3}, {&c->dz_l, 3},
                           {&c->ds_l, 3},  {&c->slip, 2}, {&c->value, 3},  {&c->L, 3},    {&c->d, 3},
                           {&c->gamma, 3}, {&c->du, 3},   {&c->G, 6},      {&c->own, 1}};
    const array rows[] = {{&l->R, 1},         {&l->offset, 1}, {&l->u, 1},     {&l->lo, 1},       {&l->hi, 1},
                          {&l->omega, 1},     {&l->x, 1},      {&l->low, 1},   {&l->high, 1},     {&l->dx, 1},
                          {&l->dlow, 1},      {&l->dhigh, 1},  {&l->above, 1}, {&l->below, 1},    {&l->gain_low, 1},
                          {&l->gain_high, 1}, {&l->du, 1},     {&l->gamma, 1}, {&l->residual, 1}, {&l->G, 1}};
    const array places[] = {{&m->x, 1}, {&m->g, 1}, {&m->best, 1}};
    m->gamma = STN_ARENA(arena, m->problem->row_count + 1, double);
    m->scratch = STN_ARENA(arena, 3 * (size_t)m->problem->nv + 1, double);
    return allocate(arena, m->H.nx, STN_COUNT(dofs), dofs) &&
           allocate(arena, m->H.lane_stride, STN_COUNT(lanes), lanes) &&
           allocate(arena, m->H.line_stride, STN_COUNT(rows), rows) &&
           allocate(arena, m->dual.H.size, STN_COUNT(places), places) && m->gamma != NULL && m->scratch != NULL;
}

static stn_status pack(ipm *m, stn_error *err) {
    const stn_problem *p = m->problem;
    ipm_cones *c = &m->cones;
    ipm_lines *l = &m->lines;
    stn_status status = scaled_dual_build_traces(p, m->control, &m->dual, err);
    if (status == STN_OK) {
        status = augmented_pack(&m->H, p, m->control, err);
    }
    if (status == STN_OK) {
        status = proximal_weights(p, m->control, IPM_SHARE, &m->H.proximal, err);
    }
    if (status != STN_OK) {
        return status;
    }
    if (!allocate_all(m)) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs, %d rows: out of memory", p->nv, p->row_count);
    }
    augmented_pad(&m->H, p->v_star, m->v_star);
    if (p->free_impulse != NULL) {
        augmented_pad(&m->H, p->free_impulse, m->force);
    }
    augmented_scale(&m->H, m->D);
    augmented_mass_times(&m->H, m->v_star, m->A_v_star);
    c->count = m->H.lane_count;
    c->stride = m->H.lane_stride;
    for (int32_t i = 0; i < c->stride; i++) {
        c->omega[i] = 1.0; // of padding
    }
    const size_t n = (size_t)c->stride;
    for (size_t i = 0; i < (size_t)c->count; i++) {
        const int32_t index = m->H.lane_constraint[i], row = p->constraints[index].row;
        const packed_row *own = &m->dual.H.rows[index];
        for (size_t r = 0; r < 3; r++) {
            c->R[i + r * n] = p->R[row + (int32_t)r];
            c->offset[i + r * n] = p->bias[row + (int32_t)r] - p->v_hat[row + (int32_t)r];
        }
        c->mu[i] = own->mu * own->scale[0];
        c->mu[i + n] = own->mu * own->scale[1];
        c->omega[i] = scale_of(m, index);
    }
    l->count = m->H.line_count;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *k = &p->constraints[i];
        for (int32_t r = 0; r < k->rows && !stn_constraint_has_cone(k); r++) {
            m->gamma[k->row + r] = scale_of(m, i);
        }
    }
    for (int32_t i = 0; i < l->count; i++) {
        const int32_t row = m->H.line_row[i];
        l->omega[i] = m->gamma[row];
        l->R[i] = p->R[row];
        l->offset[i] = p->bias[row] - p->v_hat[row];
        l->lo[i] = p->lo[row];
        l->hi[i] = p->hi[row];
    }
    return STN_OK;
}

/// Impulses of the problem's order to lanes and lines, and back.
static void spread(const ipm *m, const double *gamma) {
    const size_t n = (size_t)m->cones.stride;
    for (size_t i = 0; i < (size_t)m->cones.count; i++) {
        const double *own = gamma + m->problem->constraints[m->H.lane_constraint[i]].row;
        for (size_t r = 0; r < 3; r++) {
            m->cones.gamma[i + r * n] = own[r];
        }
    }
    for (int32_t i = 0; i < m->lines.count; i++) {
        m->lines.gamma[i] = gamma[m->H.line_row[i]];
    }
}

/// Of lanes and lines to the order of the problem: impulses, or g = u + R gamma.
static void gather(const ipm *m, bool velocities, double *out) {
    const ipm_cones *c = &m->cones;
    const ipm_lines *l = &m->lines;
    const size_t n = (size_t)c->stride;
    for (size_t i = 0; i < (size_t)c->count; i++) {
        double *own = out + m->problem->constraints[m->H.lane_constraint[i]].row;
        for (size_t r = 0; r < 3; r++) {
            const size_t k = i + r * n;
            own[r] = velocities ? c->u[k] + c->R[k] * c->gamma[k] : c->gamma[k];
        }
    }
    for (int32_t i = 0; i < l->count; i++) {
        out[m->H.line_row[i]] = velocities ? l->u[i] + l->R[i] * l->gamma[i] : l->gamma[i];
    }
}

// ----------------------------------------------------------------------------------------------------------- residuals

/// u of the present velocity.
static void find_velocities(const ipm *m) {
    const ipm_cones *c = &m->cones;
    augmented_jacobian_times(&m->H, m->v, c->u, m->lines.u);
    for (int32_t i = 0; i < 3 * c->stride; i++) {
        c->u[i] += c->offset[i];
    }
    for (int32_t i = 0; i < m->lines.count; i++) {
        m->lines.u[i] += m->lines.offset[i];
    }
}

/// y += delta D x where an A is singular.
static void add_proximal(const ipm *m, const double *x, double *y) {
    for (int32_t b = 0; b < m->H.block_count && m->H.proximal != NULL; b++) {
        const augmented_block *block = &m->H.blocks[b];
        for (int32_t i = 0; i < block->n; i++) {
            y[block->start + i] += m->H.proximal[block->compact + i] * x[block->start + i];
        }
    }
}

typedef struct residual {
    bool done;
    double energy; // of momentum and natural maps [J]
    double error;  // relative to the tolerances, NaN for NaN
} residual;

/// Of v and the impulses of lanes and lines. Keeps the best.
static residual find_residual(ipm *m) {
    const stn_problem *p = m->problem;
    const stn_solve_control *control = m->control;
    const int32_t nx = m->H.nx;
    augmented_jacobian_transposed(&m->H, m->cones.gamma, m->lines.gamma, m->impulse);
    for (int32_t k = 0; k < nx; k++) {
        m->dv[k] = m->v[k] - m->v_star[k];
    }
    augmented_mass_times(&m->H, m->dv, m->mass);
    for (int32_t k = 0; k < nx; k++) {
        m->balance[k] = m->mass[k] - m->impulse[k] - m->force[k];
        m->mass[k] += m->A_v_star[k];
    }
    for (int32_t k = 0; k < nx; k++) {
        m->left[k] = m->v[k] - m->centre[k];
    }
    add_proximal(m, m->left, m->balance);
    const double momentum = padded_scaled_norm(nx, m->D, m->balance);
    const double own = fmax(padded_scaled_norm(nx, m->D, m->mass), padded_scaled_norm(nx, m->D, m->impulse));
    const packed *H = &m->dual.H;
    gather(m, false, m->gamma);
    if (m->H.proximal != NULL) { // impulses that balance cancel to nothing
        stn_problem_impulse_sizes(p, m->gamma, m->compact);
        augmented_pad(&m->H, m->compact, m->impulse);
    }
    const double size = fmax(padded_scaled_norm(nx, m->D, m->mass), padded_scaled_norm(nx, m->D, m->impulse));
    // natural maps, in the scales of `dual`
    scaled_dual_enter(&m->dual, m->gamma, m->x);
    scaled_dual_project(&m->dual, m->x); // to the rounding of T z
    gather(m, true, m->gamma);
    double speed = H->speed, defect = 0.0, digits = 0.0; // sums of |gamma . g| over contacts, and of their rounding [J]
    for (int32_t i = 0; i < H->n; i++) {
        const packed_row *row = &H->rows[i];
        double product = 0.0;
        for (int32_t r = 0; r < row->rows; r++) {
            const double g = m->gamma[row->row + r];
            m->g[row->place + r] = m->dual.s[row->place] * (row->cone && r < 2 ? row->scale[r] : 1.0) * g;
            speed = m->H.proximal != NULL ? fmax(speed, fabs(g)) : speed; // v_star may be no speed at all
            product += m->x[row->place + r] * m->g[row->place + r];
            digits += row->cone ? 1e-15 * fabs(m->x[row->place + r] * m->g[row->place + r]) : 0.0;
        }
        defect += row->cone ? fabs(product) : 0.0;
    }
    const dual_residual natural = scaled_dual_residual(&m->dual, true, m->x, m->g);
    const double allowed = fmax(control->tolerance * speed, H->rounding);
    memset(m->left, 0, (size_t)nx * sizeof *m->left);
    add_proximal(m, m->v, m->left); // a centre may be far: its digits are those of delta D v
    const double rounding = 1e-14 * padded_scaled_norm(nx, m->D, m->left);
    const double plain = fmax(control->absolute_tolerance + control->tolerance * size, rounding);
    // what is left of a balance about a centre must not hide how the balance of A alone moves from centre to centre
    const double bound = m->H.proximal != NULL ? fmax(0.01 * plain, rounding) : plain;
    m->allowed = bound;
    // S(33), the mean over contacts
    const double slack = fmax(m->cones.count * control->tolerance * 0.5 * own * own, digits);
    residual out = {.energy = momentum * momentum + natural.size * natural.size,
                    .error = natural.speed / fmax(allowed, 1e-300) + momentum / fmax(bound, 1e-300) +
                             defect / fmax(slack, 1e-300)};
    const bool complementary =
        (natural.speed <= allowed && defect <= slack) || natural.size <= control->absolute_tolerance;
    out.done = complementary && momentum <= bound;
    m->since++;
    if (out.done || out.error < m->least) {
        m->since = out.error < 0.5 * m->least ? 0 : m->since;
        m->least = out.error;
        m->enough = complementary && momentum <= plain;
        memcpy(m->best, m->x, (size_t)H->size * sizeof *m->best);
        memcpy(m->best_v, m->v, (size_t)nx * sizeof *m->best_v);
        m->info->cost =
            m->H.proximal == NULL && p->free_impulse == NULL ? scaled_dual_cost(&m->dual, m->x, m->g) : (double)NAN;
    }
    return out;
}

// ----------------------------------------------------------------------------------------------------------- direction

/// A + J^T G J and its factor; once more with 1e-12 of its diagonal where it has none.
static stn_status factor(ipm *m, stn_error *err) {
    stn_status status = STN_ERR_NUMERIC;
    for (int32_t k = 0; k < 2 && status == STN_ERR_NUMERIC; k++) {
        double mark = phase_mark(m->control);
        if (!m->H.ready) {
            status = augmented_analyse(&m->H, AUGMENTED_AUTO, err);
            if (status != STN_OK) {
                return status;
            }
        }
        augmented_assemble(&m->H, m->cones.G, m->lines.G, NULL);
        phase_note(m->control, STN_PHASE_HESSIAN, mark);
        mark = phase_mark(m->control);
        status = augmented_factor(&m->H, k == 0 ? 0.0 : 1e-12, err);
        m->info->factorizations++;
        phase_note(m->control, STN_PHASE_FACTOR, mark);
    }
    return status;
}

/// x = K^-1 x, padded.
static void divide(ipm *m, double *x) {
    for (int32_t b = 0; b < m->H.block_count; b++) {
        const augmented_block *block = &m->H.blocks[b];
        memcpy(m->compact + block->compact, x + block->start, (size_t)block->n * sizeof *x);
    }
    augmented_solve(&m->H, m->compact);
    for (int32_t b = 0; b < m->H.block_count; b++) {
        const augmented_block *block = &m->H.blocks[b];
        memcpy(x + block->start, m->compact + block->compact, (size_t)block->n * sizeof *x);
    }
}

/// dv and the steps of the pairs for their `gain`. Returns the step at which the first pair leaves its set.
static double find_steps(ipm *m, bool refined) {
    enum { MOST = 3 };
    const int32_t nx = m->H.nx;
    double shrink = 0.0, before = INFINITY;
    memset(m->dv, 0, (size_t)nx * sizeof *m->dv);
    for (int32_t k = 0; k < nx; k++) {
        m->left[k] = -m->balance[k];
    }
    augmented_jacobian_transposed(&m->H, m->cones.gamma, m->lines.gamma, m->impulse);
    for (int32_t k = 0; k < nx; k++) {
        m->left[k] += m->impulse[k];
    }
    for (int32_t r = 0;; r++) {
        divide(m, m->left);
        for (int32_t k = 0; k < nx; k++) {
            m->dv[k] += m->left[k];
        }
        augmented_jacobian_times(&m->H, m->left, m->cones.du, m->lines.du);
        const double of_cones = ipm_cones_step(&m->cones, r > 0), of_lines = ipm_lines_step(&m->lines, r > 0);
        shrink = of_lines > of_cones ? of_lines : of_cones;
        if (!refined || r == MOST) {
            break;
        }
        // A dv - J^T T dz = -balance is what round-off of a large G spoils
        augmented_mass_times(&m->H, m->dv, m->left);
        augmented_jacobian_transposed(&m->H, m->cones.gamma, m->lines.gamma, m->impulse);
        add_proximal(m, m->dv, m->left);
        for (int32_t k = 0; k < nx; k++) {
            m->left[k] = m->impulse[k] - m->left[k] - m->balance[k];
        }
        const double left = padded_scaled_norm(nx, m->D, m->left);
        if (!(left > 1e-4 * m->allowed) || left > 0.5 * before) {
            break;
        }
        before = left;
    }
    return shrink <= 0.0 ? (double)INFINITY : 1.0 / shrink;
}

static void aim(const ipm *m, bool corrected, double centre) {
    ipm_cones_aim(&m->cones, corrected, centre);
    ipm_lines_aim(&m->lines, corrected, centre);
}

/// A predictor and a corrector with one factor. STN_STALLED: no digits are left.
static stn_status advance(ipm *m, stn_error *err) {
    ipm_gap gap = {0};
    ipm_cones_scale(&m->cones, &gap);
    ipm_lines_scale(&m->lines, &gap);
    stn_status status = factor(m, err);
    if (status != STN_OK) {
        return status == STN_ERR_NUMERIC ? STN_STALLED : status;
    }
    aim(m, false, 0.0);
    const double a = fmin(1.0, find_steps(m, false)), mean = gap.sum / (gap.degree > 0 ? gap.degree : 1);
    // Impulse and slack of a contact that slides point along one line on the central path only; away from it the
    // natural map falls as the root of the gap, and digits end before it is small.
    const bool central = ipm_cones_central(&m->cones, mean);
    aim(m, true, fmax((1.0 - a) * (1.0 - a) * (1.0 - a), central ? 0.0 : 0.1) * mean);
    const double step = fmin(1.0, 0.99 * find_steps(m, true));
    if (!(step > 1e-8)) { // NaN too
        return STN_STALLED;
    }
    for (int32_t k = 0; k < m->H.nx; k++) {
        m->v[k] += step * m->dv[k];
    }
    ipm_cones_move(&m->cones, step);
    ipm_lines_move(&m->lines, step);
    ipm_cones_impulses(&m->cones);
    ipm_lines_impulses(&m->lines);
    find_velocities(m);
    return STN_OK;
}

// ---------------------------------------------------------------------------------------------------------------- loop

/// Leaves the best in `best_v` and `best`.
static stn_status loop(ipm *m, stn_error *err) {
    enum { PATIENCE = 30 }; // iterations that do not halve the error
    stn_solve_info *info = m->info;
    m->least = INFINITY;
    m->since = 0;
    augmented_pad(&m->H, m->solution->v, m->v);
    scaled_dual_enter(&m->dual, m->solution->gamma, m->x);
    scaled_dual_project(&m->dual, m->x);
    scaled_dual_leave(&m->dual, m->x, m->gamma);
    spread(m, m->gamma);
    find_velocities(m);
    residual r = find_residual(m); // of the start; the method itself begins inside of the cones
    if (!r.done) {
        const double pairs = fmax(1.0, m->cones.count + m->lines.count), centre = r.energy / pairs;
        ipm_cones_begin(&m->cones, centre);
        ipm_lines_begin(&m->lines, centre);
    }
    m->since = 0;
    while (!r.done) {
        if (!isfinite(r.error)) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "iteration %d: the residual is %g: numbers of the problem are too large", info->iterations,
                            r.error);
        }
        if (info->iterations >= m->control->max_iterations) {
            info->reason = "iterations";
            return STN_NOT_CONVERGED;
        }
        const stn_status status = m->since > PATIENCE ? STN_STALLED : advance(m, err);
        if (status < STN_OK) {
            return status;
        }
        if (status != STN_OK) { // digits end at some 1e-8 of the speeds; short of that it failed
            info->reason = m->enough ? "residual" : "stagnation";
            return m->enough ? STN_OK : m->least <= 1e4 ? STN_STALLED : STN_NOT_CONVERGED;
        }
        info->iterations++;
        r = find_residual(m);
    }
    info->reason = "residual";
    return STN_OK;
}

/// From the solution at hand to the best one.
static stn_status iterate(ipm *m, stn_error *err) {
    const stn_status status = loop(m, err);
    if (status >= STN_OK) {
        augmented_unpad(&m->H, m->best_v, m->solution->v);
        scaled_dual_leave(&m->dual, m->best, m->solution->gamma);
    }
    return status;
}

/// The problem about the centre x, from the solution at hand: proximal.program.
static stn_status solve_about(void *self, const double *x, stn_error *err) {
    ipm *m = self;
    augmented_pad(&m->H, x, m->centre);
    m->last = iterate(m, err);
    m->points.vague = m->points.vague || m->info->iterations >= m->control->max_iterations;
    return m->last == STN_STALLED ? STN_OK : m->last; // as near as digits allow
}

/// From centre to centre, until A alone balances.
static stn_status solve_singular(ipm *m, stn_error *err) {
    const stn_problem *p = m->problem;
    double *scale = STN_ARENA(m->control->arena, p->nv + 1, double);
    if (scale == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs: out of memory", p->nv);
    }
    proximal_scale(p, scale);
    m->points = (proximal){.problem = p,
                           .control = m->control,
                           .weight = m->H.proximal,
                           .scale = scale,
                           .solution = m->solution,
                           .program = solve_about,
                           .self = m};
    const stn_status status = proximal_solve(&m->points, err);
    m->info->reason = m->points.reason != NULL ? m->points.reason : m->info->reason;
    if (status != STN_OK || m->last != STN_OK) {
        return status != STN_OK ? status : m->last;
    }
    const double off = stn_problem_imbalance(p, m->control->singular, m->solution->v, m->solution->gamma, m->scratch);
    m->info->reason = off <= m->control->tolerance ? m->info->reason : "stagnation";
    return off <= m->control->tolerance ? STN_OK : off <= 1e3 * m->control->tolerance ? STN_STALLED : STN_NOT_CONVERGED;
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)self;
    *info = (stn_solve_info){.cost = NAN, .reason = ""};
    ipm m = {.problem = problem, .control = control, .solution = solution, .info = info};
    const double mark = phase_mark(control);
    const stn_status status = pack(&m, err);
    phase_note(control, STN_PHASE_SET_UP, mark);
    if (status != STN_OK) {
        return status;
    }
    return control->singular != NULL ? solve_singular(&m, err) : iterate(&m, err);
}

static const stn_solver_ops ops = {
    .size = sizeof ops,
    .formulation = STN_CCP,
    .yields = STN_YIELDS_BOTH,
    .needs = STN_REGULARIZED_BY_LAW,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .create_workspace = symbolic_cache_create,
    .destroy_workspace = symbolic_cache_destroy,
    .solve = solve,
    .supports = STN_SUPPORTS_SINGULAR_A | STN_SUPPORTS_ARTICULATED_A,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_SOLVER,
    .id = "ipm",
    .version = "0.2.0",
    .summary = "Primal-dual interior-point method over velocities and second-order cones, convex relaxation",
    .reference = "mehrotra-1992, nesterov-todd-1997, alizadeh-2003",
    .ops.solver = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
