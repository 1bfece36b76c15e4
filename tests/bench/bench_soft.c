// SPDX-License-Identifier: Apache-2.0
// Clouds of thousands of nodes: a mat on the ground, a ball between two bodies and two fingers that hold one.
//
//   1. A alone by every factor: analysis, factorisation, solution, memory; and what orders of elimination cost
//   2. steps of the solver sap with contacts that come and go: A and w, pattern and analysis, factorisation
//   3. worlds of element/fem and surfaces by stage: the mat on the ground below a box, the ball between the ground and
//   a
//      box, the fingers held at their upper ends with a box between them
//
// Times are those of the calling thread; those of 2 and 3 the least of all steps but the first. Arguments: a scene
// (mat, ball, gripper), then a factor; none: all of them.
#include <malloc.h>

#include <stiction/soft.h>
#include <stiction/solve.h>
#include <stiction/stiction.h>

#include "bench_row.h"
#include "bench_time.h"
#include "stn_cloud.h"

enum { STEPS = 12, ROUNDS = 5 };

static void need(stn_status status, const stn_error *err) {
    if (status < STN_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static double heap_MB(void) {
    return (double)mallinfo2().uordblks * 1e-6;
}

// -------------------------------------------------------------------------------------------------------------- scenes

static const char *const scene_names[] = {"mat", "ball", "gripper"};

/// Contacts on the triangles of one face of a cloud: those with nodes first along `axis` (or last), each with a chance.
/// other: a body whose centre is `arm` away, or -1.
static void touch(scene *s, const cloud *c, int32_t axis, bool last, int32_t from, double chance, int32_t other) {
    const int32_t u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
    for (int32_t i = 0; i < cloud_nodes(c); i++) {
        const int32_t at[3] = {i % c->side[0], i / c->side[0] % c->side[1], i / c->side[0] / c->side[1]};
        int32_t triangle[3];
        if (at[axis] != (last ? c->side[axis] - 1 : 0) || at[2] < from || scene_uniform(s, 0.0, 1.0) > chance ||
            !cloud_triangle(c, i, u, v, triangle)) {
            continue;
        }
        const stn_vec3 arm = {0.01 * at[u], 0.01 * at[v] - 0.05, 0.05};
        const stn_mat3 frame = stn_mat3_identity();
        double J[18];
        scene_body_rows(arm, &frame, -1.0, J);
        scene_cloud_contact(s, c, triangle, other, J)->phi0 = scene_uniform(s, -1e-4, 1e-4);
    }
}

static void make(scene *s, stn_context *context, int32_t which, uint64_t seed) {
    scene_begin(s, context, 1);
    if (which == 0) {
        const cloud mat = scene_cloud(s, 26, 26, 1, 2e3);
        s->random.state = seed; // A stays, contacts change
        touch(s, &mat, 2, false, 0, 0.6, -1);
    } else if (which == 1) {
        const cloud ball = scene_cloud(s, 10, 10, 11, 2e3);
        const int32_t left = scene_free_body(s, 0.2), right = scene_free_body(s, 0.2);
        s->random.state = seed;
        touch(s, &ball, 0, false, 3, 0.4, left);
        touch(s, &ball, 0, true, 3, 0.4, right);
        touch(s, &ball, 2, false, 0, 0.3, -1);
    } else {
        const cloud left = scene_cloud(s, 2, 15, 50, 5e3), right = scene_cloud(s, 2, 15, 50, 5e3);
        const int32_t body = scene_free_body(s, 0.2);
        s->random.state = seed;
        touch(s, &left, 0, true, 40, 0.3, body);
        touch(s, &right, 0, false, 40, 0.3, body);
    }
    stn_problem *p = scene_finish(s);
    for (int32_t i = 0; i < p->nv; i++) {
        p->v0[i] = p->v_guess[i] = p->v_star[i] = i % 3 == 2 ? -0.1 : 0.02;
    }
}

// ------------------------------------------------------------------------------------------------------------ 1. A

/// What an order costs: blocks of L and multiplications of its factorisation; NULL: that of the block tree itself,
/// which is made along with it and has no time of its own.
static void print_order(stn_context *context, const char *name, const stn_block_matrix *A, const int32_t *order,
                        double us) {
    stn_block_pattern pattern = A->pattern;
    stn_block_tree tree;
    stn_arena *arena = stn_arena_create(context);
    pattern.order = order;
    if (!stn_block_tree_build(&pattern, arena, &tree)) {
        exit(1);
    }
    double work = 0.0;
    for (int32_t j = 0; j < tree.n; j++) {
        const double rows = 3.0 * (tree.column_start[j + 1] - tree.column_start[j]) + 1.5;
        work += 1.5 * rows * rows;
    }
    printf("  order %-21s %7d blocks of L %8.1f million multiplications", name, tree.column_start[tree.n] + tree.n,
           1e-6 * work);
    printf(order != NULL ? " %9.0f us\n" : "\n", us);
    stn_arena_destroy(arena);
}

static void print_orders(stn_context *context, const stn_block_matrix *A) {
    static const struct {
        const char *name, *id, *setting;
    } orders[] = {{"block", "block", NULL}, {"AMD", "cholmod", "amd"}, {"METIS", "cholmod", "metis"}};
    int32_t *order = calloc((size_t)A->pattern.block_count + 1, sizeof *order);
    print_order(context, "minimum degree", A, NULL, 0.0);
    for (int32_t k = 0; k < STN_COUNT(orders); k++) {
        const stn_setting setting = {
            .name = "ordering", .form = STN_SETTING_TEXT, .text = orders[k].setting, .where = "bench"};
        stn_instance *factor = NULL;
        stn_error err = {STN_OK, ""};
        if (stn_instance_create(context, STN_KIND_FACTOR, orders[k].id, &setting, orders[k].setting != NULL, &factor,
                                &err) == STN_OK) {
            const double start = thread_us();
            need(factor->desc->ops.factor->order(factor->self, context, &A->pattern, order, &err), &err);
            print_order(context, orders[k].name, A, order, thread_us() - start);
        }
        stn_instance_destroy(factor);
    }
    free(order);
}

static void time_factor(stn_context *context, const char *name, const char *id, const stn_instance *instance,
                        const stn_block_matrix *A) {
    const stn_factor_ops *ops = instance->desc->ops.factor;
    const int32_t n = 3 * A->pattern.block_count;
    double *x = calloc((size_t)n, sizeof *x), numeric[ROUNDS], solve[ROUNDS];
    stn_error err = {STN_OK, ""};
    void *factor = NULL;
    const double before = heap_MB(), start = thread_us();
    stn_block_pattern pattern = A->pattern;
    int32_t *order = calloc((size_t)pattern.block_count + 1, sizeof *order);
    need(ops->order(instance->self, context, &pattern, order, &err), &err);
    pattern.order = order;
    need(ops->symbolic(instance->self, context, &pattern, &factor, &err), &err);
    const double analysis = thread_us() - start;
    for (int32_t k = 0; k < ROUNDS; k++) {
        double clock = thread_us();
        need(ops->numeric(factor, A, &err), &err);
        numeric[k] = thread_us() - clock;
        for (int32_t i = 0; i < n; i++) {
            x[i] = 1.0;
        }
        clock = thread_us();
        ops->solve(factor, 1, x);
        solve[k] = thread_us() - clock;
    }
    const double us = median(numeric, ROUNDS);
    printf("  %-10s analysis %9.0f us   factorisation %9.0f us   solution %7.0f us   %6.1f MB\n", id, analysis, us,
           median(solve, ROUNDS), heap_MB() - before);
    char what[64];
    snprintf(what, sizeof what, "A of the %s", name);
    bench_row("soft", what, strcmp(id, "cholmod") == 0 ? "CHOLMOD" : "Stiction", "", "us", us);
    ops->release(factor);
    free(order);
    free(x);
}

// -------------------------------------------------------------------------------------------------------- 2. steps

/// Of the steps but the first: other load on the machine only adds.
static double least(double *us) {
    return quantile(us + 1, STEPS - 1, 0.0);
}

static void time_steps(stn_context *context, int32_t which, const char *id, const stn_instance *factor) {
    stn_instance *solver = NULL, *law = NULL;
    stn_problem_solver *steps = NULL;
    stn_error err = {STN_OK, ""};
    need(stn_instance_create(context, STN_KIND_SOLVER, "sap", NULL, 0, &solver, &err), &err);
    need(stn_instance_create(context, STN_KIND_LAW, "sap", NULL, 0, &law, &err), &err);
    const stn_problem_solver_options options = {.solver = solver, .law = law, .factor = factor};
    need(stn_problem_solver_create(context, &options, &steps, &err), &err);
    double total[STEPS], prepare[STEPS], phase[STN_PHASE_COUNT][STEPS];
    int32_t iterations = 0, contacts = 0;
    const double before = heap_MB();
    for (int32_t k = 0; k < STEPS; k++) {
        scene s;
        make(&s, context, which, 7 + (uint64_t)k);
        stn_problem *p = &s.problem;
        double us[STN_PHASE_COUNT] = {0.0};
        stn_solution solution = {.v = scene_reals(&s, p->nv, 0.0), .gamma = scene_reals(&s, p->row_count, 0.0)};
        const stn_solve_request request = {.masses = true, .phase_us = us};
        stn_solve_report report = {0};
        const double clock = thread_us(), wall = now_us();
        need(stn_problem_solve(steps, p, &request, &solution, &report, NULL, &err), &err);
        total[k] = thread_us() - clock;
        const double own = total[k] / (now_us() - wall); // phases are by the wall clock
        iterations += report.iterations;
        contacts += p->constraint_count;
        prepare[k] = own * report.prepare_us;
        for (int32_t i = 0; i < STN_PHASE_COUNT; i++) {
            phase[i][k] = own * us[i];
        }
        scene_end(&s);
    }
    printf("  %-10s %4d contacts, %4.1f iterations: first step %8.0f us, then %8.0f us: A and w %7.0f, set up %6.0f, "
           "pattern and sum %7.0f, factor %8.0f, line search %6.0f; %.1f MB\n",
           id, contacts / STEPS, (double)iterations / STEPS, total[0], least(total), least(prepare),
           least(phase[STN_PHASE_SET_UP]), least(phase[STN_PHASE_HESSIAN]), least(phase[STN_PHASE_FACTOR]),
           least(phase[STN_PHASE_LINE_SEARCH]), heap_MB() - before);
    stn_problem_solver_destroy(steps);
    stn_instance_destroy(solver);
    stn_instance_destroy(law);
}

// ------------------------------------------------------------------------------------------------------- 3. worlds

/// A soft body of element/fem with its skin as a surface, its middle at `at`; `held`: nodes of this region stay in the
/// world, NULL: none.
static void add_soft(stn_world *world, stn_context *context, stn_soft_shape shape, double young, stn_vec3 at,
                     const char *held) {
    stn_model_builder *builder = stn_world_builder(world);
    const stn_setting settings[] = {
        {.name = "young", .form = STN_SETTING_NUMBER, .number = young, .where = "bench"},
        {.name = "rayleigh_stiffness", .form = STN_SETTING_NUMBER, .number = 2e-3, .where = "bench"}};
    stn_soft_mesh *mesh = NULL;
    stn_instance *fem = NULL;
    stn_error err = {STN_OK, ""};
    int32_t body = 0, part = 0, geometry = 0, count = 0;
    need(stn_soft_mesh_generate(context, &shape, &mesh, &err), &err);
    for (int32_t i = 0; i < 3 * mesh->node_count; i++) {
        mesh->nodes[i] += (const double[]){at.x, at.y, at.z}[i % 3];
    }
    const stn_nodes_spec nodes = {
        .name = "soft", .node_count = mesh->node_count, .position = mesh->nodes, .material = stn_material_unset()};
    need(stn_builder_add_nodes(builder, &nodes, &body, &err), &err);
    need(stn_instance_create(context, STN_KIND_ELEMENT, "fem", settings, STN_COUNT(settings), &fem, &err), &err);
    const stn_elements_spec elements = {
        .nodes = body, .element_count = mesh->tetrahedron_count, .index = mesh->tetrahedra};
    need(stn_builder_add_elements(builder, fem, &elements, &part, &err), &err);
    stn_surface_spec skin = stn_surface_spec_default();
    skin.triangle_count = mesh->triangle_count;
    skin.triangles = mesh->triangles;
    skin.solid = true;
    need(stn_builder_add_surface(builder, body, &skin, &geometry, &err), &err);
    if (held != NULL) {
        const stn_soft_selector region = {.where = STN_SOFT_IN_REGION, .region = held};
        int32_t *listed = calloc((size_t)mesh->node_count, sizeof *listed);
        need(stn_soft_mesh_select(mesh, 1, &region, listed, &count, &err), &err);
        need(stn_builder_attach_nodes(builder, body, count, listed, STN_WORLD, &err), &err);
        free(listed);
    }
    stn_soft_mesh_destroy(mesh);
}

static void add_box(stn_world *world, double mass, stn_vec3 size, stn_vec3 at) {
    stn_model_builder *builder = stn_world_builder(world);
    const stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_box(stn_vec3_scale(0.5, size)));
    stn_link_spec link = {.name = "box"};
    const stn_pose pose = {stn_mat3_identity(), at};
    int32_t group = 0, id = 0;
    stn_error err = {STN_OK, ""};
    need(stn_shape_mass(&shape.shape, mass, &link.mass, &err), &err);
    need(stn_builder_begin_group(builder, "box", &group, &err), &err);
    need(stn_builder_add_link(builder, &link, &id, &err), &err);
    need(stn_builder_add_geometry(builder, id, &shape, &id, &err), &err);
    need(stn_builder_set_base(builder, group, &pose, false, &err), &err);
}

static void build(stn_world *world, stn_context *context, int32_t which) {
    const stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    stn_error err = {STN_OK, ""};
    int32_t id = 0;
    need(stn_builder_add_geometry(stn_world_builder(world), STN_WORLD, &ground, &id, &err), &err);
    if (which == 0) {
        const stn_soft_shape mat = {.type = STN_SOFT_BOX, .size = {0.26, 0.26, 0.01}, .cells = {26, 26, 1}};
        add_soft(world, context, mat, 1e5, stn_vec3_make(0.0, 0.0, 0.005), NULL);
        add_box(world, 0.5, stn_vec3_make(0.06, 0.06, 0.06), stn_vec3_make(0.02, 0.01, 0.0405));
    } else if (which == 1) {
        const stn_soft_shape ball = {.type = STN_SOFT_BALL, .size = {0.1, 0.1, 0.1}, .cells = {10, 10, 11}};
        add_soft(world, context, ball, 5e4, stn_vec3_make(0.0, 0.0, 0.05), NULL);
        add_box(world, 0.3, stn_vec3_make(0.06, 0.06, 0.02), stn_vec3_make(0.0, 0.0, 0.1095));
    } else {
        const stn_soft_shape finger = {.type = STN_SOFT_BOX, .size = {0.02, 0.05, 0.16}, .cells = {2, 15, 50}};
        add_soft(world, context, finger, 3e5, stn_vec3_make(-0.0398, 0.0, 0.2), "z_max");
        add_soft(world, context, finger, 3e5, stn_vec3_make(0.0398, 0.0, 0.2), "z_max");
        add_box(world, 0.1, stn_vec3_make(0.06, 0.06, 0.06), stn_vec3_make(0.0, 0.0, 0.135));
    }
}

static void time_world(stn_context *context, int32_t which, const char *id) {
    enum { SETTLE = 10 };
    stn_world_options options = stn_world_options_default();
    stn_world *world = NULL;
    stn_error err = {STN_OK, ""};
    options.factor.id = id;
    options.profile = true;
    const double before = heap_MB();
    need(stn_world_create(context, &options, &world, &err), &err);
    build(world, context, which);
    need(stn_world_compile(world, &err), &err);
    double total[STEPS], stage[STN_STAGE_COUNT][STEPS], analysis[STEPS], factor[STEPS];
    int32_t iterations = 0, contacts = 0;
    for (int32_t k = 0; k < SETTLE + STEPS; k++) {
        const double clock = thread_us(), wall = now_us();
        need(stn_world_step(world, &err), &err);
        const double us = thread_us() - clock, own = us / (now_us() - wall); // stages are by the wall clock
        const stn_step_report *report = stn_world_observation(world)->report;
        if (k >= SETTLE) {
            total[k - SETTLE] = us;
            analysis[k - SETTLE] = own * report->phase_us[STN_PHASE_HESSIAN];
            factor[k - SETTLE] = own * report->phase_us[STN_PHASE_FACTOR];
            for (int32_t i = 0; i < STN_STAGE_COUNT; i++) {
                stage[i][k - SETTLE] = own * report->stage_us[i];
            }
            iterations += report->iterations;
            contacts += report->contact_count;
        }
    }
    printf("  world %-8s %4d dofs, %4d contacts, %4.1f iterations: a step %8.0f us: elements %6.0f, A %7.0f, collision "
           "%6.0f, rows and w %6.0f, solve %8.0f (pattern and sum %6.0f, factor %7.0f), certificate %6.0f, advance "
           "%6.0f; %.1f MB\n",
           id, stn_world_model(world)->nv, contacts / STEPS, (double)iterations / STEPS, least(total),
           least(stage[STN_STAGE_INPUTS]), least(stage[STN_STAGE_FORM]), least(stage[STN_STAGE_COLLISION]),
           least(stage[STN_STAGE_ASSEMBLY]), least(stage[STN_STAGE_SOLVE]), least(analysis), least(factor),
           least(stage[STN_STAGE_CERTIFICATE]), least(stage[STN_STAGE_ADVANCE]), heap_MB() - before);
    stn_world_destroy(world);
}

int main(int argc, char **argv) {
    static const char *const factors[] = {"block", "cholmod"};
    stn_context *context = NULL;
    stn_error err = {STN_OK, ""};
    need(stn_context_create(NULL, &context, &err), &err);
    print_processor();
    for (int32_t i = 0; i < STN_COUNT(scene_names); i++) {
        if (argc > 1 && strcmp(argv[1], scene_names[i]) != 0) {
            continue;
        }
        scene s;
        make(&s, context, i, 7);
        const stn_block_matrix A = cloud_lower(&s, 0);
        printf("%s: %d dofs, a cloud of %d nodes with %d blocks in the lower triangle\n", scene_names[i], s.problem.nv,
               A.pattern.block_count, A.pattern.column_start[A.pattern.block_count]);
        print_orders(context, &A);
        for (int32_t part = 0; part < 3; part++) {
            for (int32_t k = 0; k < STN_COUNT(factors); k++) {
                stn_instance *factor = NULL;
                if ((argc > 2 && strcmp(argv[2], factors[k]) != 0) ||
                    stn_instance_create(context, STN_KIND_FACTOR, factors[k], NULL, 0, &factor, &err) != STN_OK) {
                    continue;
                }
                if (part == 0) {
                    time_factor(context, scene_names[i], factors[k], factor, &A);
                } else if (part == 1) {
                    time_steps(context, i, factors[k], factor);
                } else {
                    time_world(context, i, factors[k]);
                }
                stn_instance_destroy(factor);
            }
        }
        scene_end(&s);
    }
    stn_context_destroy(context);
    return 0;
}
