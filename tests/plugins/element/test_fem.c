// SPDX-License-Identifier: Apache-2.0
// Solids of tetrahedra through the real step, against closed forms of Euler and Bernoulli, Timoshenko, Saint-Venant and
// of the materials.
#include "soft_world.h"

#include "stn_random.h"

static const stn_vec3 down = {0.0, 0.0, -9.81};
static const double long_step = 1e6; // A = M + dt^2 K is K then

static int32_t add_solid(stn_world *world, const soft_cloud *cloud, const stn_soft_mesh *mesh,
                         const stn_setting *settings, int32_t count) {
    int32_t nodes = soft_add_nodes(world, cloud);
    return soft_add_elements(world, nodes, "fem", settings, count, mesh->tetrahedron_count, mesh->tetrahedra);
}

/// The largest part of free nodes' speeds that is left is below `speed` [m/s].
static void assert_still(const stn_world *world, double speed) {
    const stn_model *model = stn_world_model(world);
    for (int32_t i = 0; i < model->nv; i++) {
        assert_near(stn_world_state(world)->v[i], 0.0, speed);
    }
}

// ------------------------------------------------------------------------------------------------------- patch tests

/// A box whose boundary nodes are where an affine map F puts them: the inner ones, in irregular elements, follow it.
static void patch(stn_context *context, const char *model, const stn_mat3 *F, double tolerance, double stress[3]) {
    stn_soft_mesh *mesh = soft_box(context, stn_vec3_make(0.3, 0.2, 0.4), 3, 3, 4);
    soft_cloud cloud = soft_cloud_make(mesh->node_count, mesh->nodes);
    stn_random random = {5};
    for (int32_t i = 0; i < cloud.count; i++) {
        stn_vec3 x = stn_vec3_at(cloud.rest, i);
        bool inside = fabs(x.x) < 0.149 && fabs(x.y) < 0.099 && fabs(x.z) < 0.199;
        cloud.held[i] = !inside;
        for (int32_t k = 0; k < 3 && inside; k++) {
            cloud.rest[3 * i + k] += 0.012 * random_real(&random);
        }
        x = stn_mat3_apply(F, stn_vec3_at(cloud.rest, i));
        double start[3] = {x.x, x.y, x.z};
        for (int32_t k = 0; k < 3; k++) {
            cloud.start[3 * i + k] = start[k] + (inside ? 0.003 * random_real(&random) : 0.0);
        }
    }
    stn_world *world = soft_world(context, long_step, NULL, stn_vec3_zero());
    const stn_setting settings[] = {SOFT_WORD("model", model), SOFT_NUMBER("young", 2e5), SOFT_NUMBER("poisson", 0.4)};
    int32_t group = add_solid(world, &cloud, mesh, settings, 3);
    soft_compile(world);
    scene_steps(world, 12);
    const double *x = soft_positions(world);
    for (int32_t i = 0; i < cloud.count; i++) {
        stn_vec3 expected = stn_mat3_apply(F, stn_vec3_at(cloud.rest, i)), at = stn_vec3_at(x, i);
        assert_near(stn_vec3_norm(stn_vec3_sub(at, expected)), 0.0, tolerance);
    }
    double *values = calloc(3 * (size_t)mesh->tetrahedron_count, sizeof *values);
    stn_error err;
    assert_non_null(values);
    assert_ok(stn_world_element_outputs(world, group, values, &err), err);
    for (int32_t e = 0; e < mesh->tetrahedron_count; e++) {
        for (int32_t k = 0; k < 3; k++) {
            assert_near(values[3 * e + k], values[k], 1e-7 * (1.0 + fabs(values[k])));
        }
    }
    memcpy(stress, values, 3 * sizeof *stress);
    free(values);
    soft_cloud_free(&cloud);
    stn_soft_mesh_destroy(mesh);
    stn_world_destroy(world);
}

static void uniform_strain_is_exact_in_irregular_elements(void **state) {
    const double young = 2e5, poisson = 0.4, mu = young / 2.8, lambda = young * 0.4 / (1.4 * 0.2);
    double stress[3];
    // stretched along x as if free at the sides: von Mises stress is young times strain
    const double e = 0.01;
    stn_mat3 uniaxial = stn_mat3_diagonal(1.0 + e, 1.0 - poisson * e, 1.0 - poisson * e);
    stn_mat3 turn = stn_quat_matrix(stn_quat_exp(stn_vec3_make(0.3, -2.0, 1.0)));
    uniaxial = stn_mat3_mul(&turn, &uniaxial);
    patch(*state, "corotational", &uniaxial, 1e-10, stress);
    assert_near(stress[0], young * e, 1e-6);
    assert_near(stress[1], -young * e / 3.0, 1e-6);
    assert_near(stress[2], (1.0 + e) * (1.0 - poisson * e) * (1.0 - poisson * e), 1e-9);
    // simple shear by a small angle: tau = mu gamma, von Mises sqrt(3) tau
    const double gamma = 1e-5;
    stn_mat3 shear = stn_mat3_identity();
    shear.m[0][1] = gamma;
    patch(*state, "corotational", &shear, 1e-10, stress);
    assert_near(stress[0], sqrt(3.0) * mu * gamma, 1e-4 * mu * gamma);
    patch(*state, "neo_hookean", &shear, 1e-10, stress);
    assert_near(stress[0], sqrt(3.0) * mu * gamma, 1e-4 * mu * gamma);
    // and any large one
    stn_mat3 large = {{{1.3, 0.2, 0.0}, {-0.3, 0.8, 0.1}, {0.1, -0.2, 1.1}}};
    patch(*state, "corotational", &large, 1e-10, stress);
    patch(*state, "neo_hookean", &large, 1e-10, stress);
    // equal stretch on all sides: pressure - (2 mu + 3 lambda) e
    stn_mat3 swell = stn_mat3_diagonal(1.0 + e, 1.0 + e, 1.0 + e);
    patch(*state, "corotational", &swell, 1e-10, stress);
    assert_near(stress[1], -(2.0 * mu + 3.0 * lambda) * e, 1e-6);
}

// ------------------------------------------------------------------------------------------------------------- beams

typedef struct beam {
    int32_t cells; // through the thickness of 0.04 m, and as fine along the length of 0.24 m; one across
    double poisson;
    double tip_mass; // over the far end [kg]
    double density;
    double rayleigh_mass, rayleigh_stiffness;
    bool consistent; // mass
} beam;
static const double beam_length = 0.24, beam_height = 0.04, beam_young = 1e6;

static double beam_width(const beam *b) {
    return beam_height / b->cells;
}

/// Held at x = -length/2.
static stn_world *beam_world(stn_context *context, const beam *b, double dt, const char *integrator, stn_vec3 gravity,
                             const double *start, int32_t *tip) {
    const double width = beam_width(b), half = 0.5 * beam_length;
    stn_soft_mesh *mesh = soft_box(context, stn_vec3_make(beam_length, width, beam_height), 6 * b->cells, 1, b->cells);
    soft_cloud cloud = soft_cloud_make(mesh->node_count, mesh->nodes);
    double share = 0.0;
    *tip = -1;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < cloud.count; i++) {
            stn_vec3 x = stn_vec3_at(cloud.rest, i);
            cloud.held[i] = x.x < -half + 1e-9;
            if (x.x > half - 1e-9) { // as the weight of a uniform load, half of it in the outermost nodes
                double weight = fabs(x.z) > 0.5 * beam_height - 1e-9 ? 0.5 : 1.0;
                share += pass == 0 ? weight : 0.0;
                cloud.mass[i] = pass == 1 ? b->tip_mass * weight / share : 0.0;
                *tip = fabs(x.z) < 1e-9 ? i : *tip;
            }
        }
    }
    if (start != NULL) {
        memcpy(cloud.start, start, 3 * (size_t)cloud.count * sizeof *start);
    }
    stn_world *world = soft_world(context, dt, integrator, gravity);
    const stn_setting settings[] = {SOFT_NUMBER("young", beam_young),
                                    SOFT_NUMBER("poisson", b->poisson),
                                    SOFT_NUMBER("density", b->density),
                                    SOFT_NUMBER("rayleigh_mass", b->rayleigh_mass),
                                    SOFT_NUMBER("rayleigh_stiffness", b->rayleigh_stiffness),
                                    SOFT_WORD("mass", b->consistent ? "consistent" : "lumped")};
    add_solid(world, &cloud, mesh, settings, 6);
    soft_compile(world);
    soft_cloud_free(&cloud);
    stn_soft_mesh_destroy(mesh);
    return world;
}

/// How far the far end sinks, over what Timoshenko says of own weight and tip load: F L^3/(3 E I) + F L/(k G A),
/// q L^4/(8 E I) + q L^2/(2 k G A).
static double sag(stn_context *context, const beam *b) {
    int32_t tip = 0;
    const double g = 1e-4; // so little that nothing turns
    stn_world *world = beam_world(context, b, long_step, NULL, stn_vec3_make(0.0, 0.0, -g), NULL, &tip);
    scene_steps(world, 3);
    double w = -stn_vec3_at(soft_positions(world), tip).z, L = beam_length, h = beam_height;
    double A = h * beam_width(b), I = A * h * h / 12.0, G = beam_young / (2.0 * (1.0 + b->poisson));
    double k = 10.0 * (1.0 + b->poisson) / (12.0 + 11.0 * b->poisson), F = b->tip_mass * g, q = b->density * A * g;
    stn_world_destroy(world);
    return w / (F * L * L * L / (3.0 * beam_young * I) + F * L / (k * G * A) +
                q * L * L * L * L / (8.0 * beam_young * I) + q * L * L / (2.0 * k * G * A));
}

static void a_cantilever_sags_as_timoshenko_says(void **state) {
    // the error falls with the square of the cells
    const double tip_mass[] = {1e-3, 0.0}, density[] = {1e-9, 1000.0};
    for (int32_t load = 0; load < 2; load++) {
        double error[2];
        for (int32_t k = 0; k < 2; k++) {
            const beam b = {.cells = 8 << k, .tip_mass = tip_mass[load], .density = density[load]};
            error[k] = 1.0 - sag(*state, &b);
        }
        print_message("load %d: too stiff by %.4f with 8 cells, %.4f with 16\n", load, error[0], error[1]);
        assert_true(error[0] > 0.0 && error[0] < 0.05);
        assert_true(log2(error[0] / error[1]) >= 1.8);
    }
    const beam rubber = {.cells = 8, .poisson = 0.3, .tip_mass = 1e-3, .density = 1e-9};
    assert_near(sag(*state, &rubber), 1.0, 0.05);
}

/// Bent by its weight, then without weight: the period of the tip against the first mode of Euler and Bernoulli,
/// w = 1.8751^2 sqrt(E I / (rho A L^4)), and the decay of its amplitude.
static void swing(stn_context *context, const beam *b, double *frequency, double *ratio) {
    int32_t tip = 0;
    stn_world *bent = beam_world(context, b, long_step, NULL, stn_vec3_make(0.0, 0.0, -0.01), NULL, &tip);
    scene_steps(bent, 3);
    stn_world *world = beam_world(context, b, 2e-3, "midpoint", stn_vec3_zero(), soft_positions(bent), &tip);
    stn_world_destroy(bent);
    double before = stn_vec3_at(soft_positions(world), tip).z, crossing[4], extreme[4] = {0.0};
    int32_t crossings = 0;
    for (int32_t i = 0; i < 2000 && crossings < 4; i++) {
        scene_steps(world, 1);
        double now = stn_vec3_at(soft_positions(world), tip).z;
        if ((before < 0.0) != (now < 0.0)) {
            crossing[crossings++] = 2e-3 * (i + before / (before - now));
        }
        if (crossings < 4) {
            extreme[crossings] = worse(extreme[crossings], fabs(now));
        }
        before = now;
    }
    assert_int_equal(crossings, 4);
    *frequency = 2.0 * STN_PI / (crossing[2] - crossing[0]);
    *ratio = extreme[3] / extreme[1]; // after one period
    stn_world_destroy(world);
}

static void a_cantilever_swings_in_its_first_mode_and_damping_is_that_of_rayleigh(void **state) {
    const beam free = {.cells = 8, .density = 1000.0};
    double frequency, ratio, undamped;
    swing(*state, &free, &frequency, &ratio);
    double w = 1.875104 * 1.875104 / (beam_length * beam_length) * beam_height * sqrt(beam_young / 12.0 / 1000.0);
    print_message("frequency %.4f of Euler and Bernoulli's, ratio %.4f\n", frequency / w, ratio);
    assert_near(frequency / w, 1.0, 0.05);
    // mass at the nodes lies further out than in the elements, which lowers frequencies
    const beam consistent = {.cells = 8, .density = 1000.0, .consistent = true};
    double higher, other;
    swing(*state, &consistent, &higher, &other);
    print_message("with consistent mass %.4f\n", higher / w);
    assert_near(higher / w, 1.0, 0.05);
    assert_true(higher > frequency);
    // without damping what is left of the extremes is the share of the first mode in the shape at the start
    swing(*state, &(beam){.cells = 4, .density = 1000.0}, &frequency, &undamped);
    assert_near(undamped, 1.0, 0.05);
    // damping ratio a/(2 w) + b w/2: amplitudes fall by exp(-2 pi zeta) a period
    const beam damped[2] = {{.cells = 4, .density = 1000.0, .rayleigh_mass = 2.0},
                            {.cells = 4, .density = 1000.0, .rayleigh_stiffness = 2e-3}};
    for (int32_t i = 0; i < 2; i++) {
        swing(*state, &damped[i], &frequency, &ratio);
        double zeta = damped[i].rayleigh_mass / (2.0 * frequency) + 0.5 * damped[i].rayleigh_stiffness * frequency;
        print_message("damped: zeta %.4f, ratio %.4f, expected %.4f\n", zeta, ratio / undamped,
                      exp(-2.0 * STN_PI * zeta));
        assert_near(ratio / undamped, exp(-2.0 * STN_PI * zeta), 0.02);
    }
}

/// A round bar, one end held, the other one turned: torque G J theta / L. A circle does not warp, so the ends do not
/// matter.
static void a_round_bar_twists_as_saint_venant_says(void **state) {
    const double radius = 0.02, length = 0.02, young = 1e6, poisson = 0.3, theta = 1e-3;
    const stn_soft_shape shape = {
        .type = STN_SOFT_CYLINDER, .size = {2.0 * radius, 2.0 * radius, length}, .cells = {12, 12, 6}};
    stn_soft_mesh *mesh = NULL;
    stn_error err;
    assert_ok(stn_soft_mesh_generate(*state, &shape, &mesh, &err), err);
    soft_cloud cloud = soft_cloud_make(mesh->node_count, mesh->nodes);
    int32_t attachments = 0;
    double J = 0.5 * STN_PI * radius * radius * radius * radius, torque = 0.0;
    for (int32_t i = 0; i < cloud.count; i++) {
        stn_vec3 x = stn_vec3_at(cloud.rest, i);
        cloud.held[i] = fabs(x.z) > 0.5 * length - 1e-9;
        double turn = theta * (x.z / length + 0.5);
        cloud.start[3 * i] = cos(turn) * x.x - sin(turn) * x.y;
        cloud.start[3 * i + 1] = sin(turn) * x.x + cos(turn) * x.y;
    }
    stn_world *world = soft_world(*state, long_step, NULL, stn_vec3_zero());
    const stn_setting settings[] = {SOFT_NUMBER("young", young), SOFT_NUMBER("poisson", poisson)};
    add_solid(world, &cloud, mesh, settings, 2);
    soft_compile(world);
    scene_steps(world, 3);
    for (int32_t i = 0; i < cloud.count; i++) {
        double force[6];
        if (cloud.held[i] && stn_world_attachment_force(world, attachments++, force) == 3 &&
            cloud.rest[3 * i + 2] > 0.0) {
            stn_vec3 x = stn_vec3_at(soft_positions(world), i);
            torque += x.x * force[1] - x.y * force[0];
        }
    }
    double G = young / (2.0 * (1.0 + poisson));
    print_message("twist: torque %.4f of G J theta / L\n", torque / (G * J * theta / length));
    assert_near(torque / (G * J * theta / length), 1.0, 0.05);
    soft_cloud_free(&cloud);
    stn_soft_mesh_destroy(mesh);
    stn_world_destroy(world);
}

// -------------------------------------------------------------------------------------------------------- large strain

/// Nominal stress of a bar of stable Neo-Hookean material that is free at its sides, stretched to `a`.
static double nominal_stress(double young, double poisson, double a) {
    double mu = young / (2.0 * (1.0 + poisson)), lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    double m = 4.0 / 3.0 * mu, l = lambda + 5.0 / 6.0 * mu, alpha = 1.0 + 0.75 * m / l, low = 0.05, high = 3.0;
    double stress = 0.0;
    for (int32_t i = 0; i < 200; i++) { // the stretch s across at which nothing pulls there, by bisection
        double s = 0.5 * (low + high), I = a * a + 2.0 * s * s + 1.0, J = a * s * s;
        double across = m * (1.0 - 1.0 / I) * s + l * (J - alpha) * a * s;
        stress = m * (1.0 - 1.0 / I) * a + l * (J - alpha) * s * s;
        *(across > 0.0 ? &high : &low) = s;
    }
    return stress;
}

/// A bar that hangs from one end with a weight at the other: the stretch of its middle.
static void a_bar_of_rubber_stretches_as_the_neo_hookean_law_says(void **state) {
    const double young = 1e5, poisson = 0.45, area = 0.02 * 0.02;
    for (int32_t k = 0; k < 3; k++) {
        const double wanted[] = {1.1, 1.6, 2.5};
        double F = area * nominal_stress(young, poisson, wanted[k]);
        stn_soft_mesh *mesh = soft_box(*state, stn_vec3_make(0.02, 0.02, 0.16), 2, 2, 16);
        soft_cloud cloud = soft_cloud_make(mesh->node_count, mesh->nodes);
        int32_t low = -1, high = -1;
        for (int32_t i = 0; i < cloud.count; i++) {
            stn_vec3 x = stn_vec3_at(cloud.rest, i);
            cloud.held[i] = x.z > 0.08 - 1e-9;
            bool end = x.z < -0.08 + 1e-9;
            double weight = (fabs(x.x) < 1e-9 ? 0.5 : 0.25) * (fabs(x.y) < 1e-9 ? 0.5 : 0.25);
            cloud.mass[i] = end ? F / 9.81 * weight : 0.0;
            low = fabs(x.x) + fabs(x.y) < 1e-9 && fabs(x.z + 0.02) < 1e-9 ? i : low;
            high = fabs(x.x) + fabs(x.y) < 1e-9 && fabs(x.z - 0.02) < 1e-9 ? i : high;
        }
        stn_world *world = soft_world(*state, 0.05, "implicit_euler", down);
        const stn_setting settings[] = {SOFT_WORD("model", "neo_hookean"), SOFT_NUMBER("young", young),
                                        SOFT_NUMBER("poisson", poisson), SOFT_NUMBER("density", 1e-3),
                                        SOFT_NUMBER("rayleigh_mass", 5.0)};
        add_solid(world, &cloud, mesh, settings, 5);
        soft_compile(world);
        scene_steps(world, 400);
        assert_still(world, 1e-6);
        const double *x = soft_positions(world);
        double stretch = (stn_vec3_at(x, high).z - stn_vec3_at(x, low).z) / 0.04;
        print_message("stretch %.4f, expected %.4f\n", stretch, wanted[k]);
        assert_near(stretch, wanted[k], 0.01 * (wanted[k] - 1.0));
        soft_cloud_free(&cloud);
        stn_soft_mesh_destroy(mesh);
        stn_world_destroy(world);
    }
}

static void inverted_and_flat_elements_come_back_and_are_told(void **state) {
    const char *const models[] = {"corotational", "neo_hookean"};
    for (int32_t k = 0; k < 8; k++) {
        stn_soft_mesh *mesh = soft_box(*state, stn_vec3_make(0.1, 0.1, 0.1), 2, 2, 2);
        soft_cloud cloud = soft_cloud_make(mesh->node_count, mesh->nodes);
        stn_random random = {(uint64_t)k};
        for (int32_t i = 0; i < 3 * cloud.count; i++) {
            // turned inside out, flattened, to a point, and each node moved by up to 0.7 of an edge
            const double scale[4] = {i % 3 == 2 ? -0.5 : 1.0, i % 3 == 2 ? 0.0 : 1.0, 0.0, 1.0};
            cloud.start[i] = scale[k / 2] * cloud.rest[i] + (k / 2 == 3 ? 0.035 : 1e-3) * random_real(&random);
        }
        stn_world *world = soft_world(*state, 5e-3, "implicit_euler", stn_vec3_zero());
        const stn_setting settings[] = {SOFT_WORD("model", models[k % 2]), SOFT_NUMBER("young", 1e5),
                                        SOFT_NUMBER("poisson", 0.4), SOFT_NUMBER("rayleigh_stiffness", 5e-3)};
        int32_t group = add_solid(world, &cloud, mesh, settings, 4);
        soft_compile(world);
        double *values = calloc(3 * (size_t)mesh->tetrahedron_count, sizeof *values);
        stn_error err;
        int32_t before = 0, after = 0;
        assert_non_null(values);
        assert_ok(stn_world_element_outputs(world, group, values, &err), err);
        for (int32_t e = 0; e < mesh->tetrahedron_count; e++) {
            before += values[3 * e + 2] <= 1e-3;
        }
        scene_steps(world, 2000);
        assert_ok(stn_world_element_outputs(world, group, values, &err), err);
        for (int32_t e = 0; e < mesh->tetrahedron_count; e++) {
            after += fabs(values[3 * e + 2] - 1.0) > 1e-2;
        }
        print_message("%s, case %d: %d of %d inverted or flat, then %d away from rest\n", models[k % 2], k / 2, before,
                      mesh->tetrahedron_count, after);
        assert_true(before > 0);
        assert_int_equal(after, 0);
        free(values);
        soft_cloud_free(&cloud);
        stn_soft_mesh_destroy(mesh);
        stn_world_destroy(world);
    }
}

/// A block that spins at 20 rad/s for a second: what is left of its angular momentum.
static double spin_left(stn_context *context, bool geometric, const char *integrator, double dt) {
    stn_soft_mesh *mesh = soft_box(context, stn_vec3_make(0.1, 0.1, 0.1), 2, 2, 2);
    soft_cloud cloud = soft_cloud_make(mesh->node_count, mesh->nodes);
    stn_world *world = soft_world(context, dt, integrator, stn_vec3_zero());
    const stn_setting settings[] = {SOFT_NUMBER("young", 1e5),
                                    {.name = "geometric_stiffness", .form = STN_SETTING_BOOL, .number = geometric}};
    add_solid(world, &cloud, mesh, settings, 2);
    soft_compile(world);
    const stn_model *model = stn_world_model(world);
    double L[2] = {0.0}, *v = calloc((size_t)model->nv, sizeof *v);
    stn_error err;
    assert_non_null(v);
    for (int32_t i = 0; i < cloud.count; i++) {
        v[3 * i] = -20.0 * cloud.rest[3 * i + 1];
        v[3 * i + 1] = 20.0 * cloud.rest[3 * i];
    }
    assert_ok(stn_world_set_v(world, v, &err), err);
    for (int32_t k = 0; k < 2; k++) {
        const double *x = soft_positions(world), *now = stn_world_state(world)->v;
        for (int32_t i = 0; i < cloud.count; i++) {
            L[k] += model->node_mass[i] * (x[3 * i] * now[3 * i + 1] - x[3 * i + 1] * now[3 * i]);
        }
        scene_steps(world, k == 0 ? (int32_t)(1.0 / dt) : 0);
    }
    free(v);
    soft_cloud_free(&cloud);
    stn_soft_mesh_destroy(mesh);
    stn_world_destroy(world);
    return L[1] / L[0];
}

static void spin_lasts_without_geometric_stiffness_and_dies_out_with_it(void **state) {
    double with[] = {spin_left(*state, true, "symplectic_euler", 4e-3),
                     spin_left(*state, true, "symplectic_euler", 1e-3), spin_left(*state, true, "midpoint", 4e-3),
                     spin_left(*state, true, "midpoint", 1e-3)},
           without = spin_left(*state, false, "symplectic_euler", 4e-3);
    print_message("spin left: %.3f %.3f, midpoint %.3f %.3f; without geometric stiffness %.5f\n", with[0], with[1],
                  with[2], with[3], without);
    assert_near(without, 1.0, 2e-3);
    for (int32_t i = 0; i < 4; i++) { // never more than there was
        assert_true(with[i] > 0.3 && with[i] < 1.0);
    }
}

// ---------------------------------------------------------------------------------------------------- mass, bad input

static void the_mass_is_density_times_volume_and_falls_freely(void **state) {
    const char *const kinds[] = {"lumped", "consistent"};
    for (int32_t k = 0; k < 2; k++) {
        stn_soft_mesh *mesh = soft_box(*state, stn_vec3_make(0.1, 0.2, 0.3), 2, 2, 3);
        soft_cloud cloud = soft_cloud_make(mesh->node_count, mesh->nodes);
        stn_world *world = soft_world(*state, 1e-3, NULL, down);
        const stn_setting settings[] = {SOFT_WORD("mass", kinds[k]), SOFT_NUMBER("density", 1200.0)};
        add_solid(world, &cloud, mesh, settings, 2);
        soft_compile(world);
        const stn_model *model = stn_world_model(world);
        double sum = 0.0;
        for (int32_t i = 0; i < model->node_count; i++) {
            sum += model->node_mass[i];
        }
        assert_near(sum, 1200.0 * 0.1 * 0.2 * 0.3, 1e-12);
        scene_steps(world, 100);
        for (int32_t i = 0; i < model->nv; i++) {
            assert_near(stn_world_state(world)->v[i], i % 3 == 2 ? down.z * 0.1 : 0.0, 1e-9);
        }
        soft_cloud_free(&cloud);
        stn_soft_mesh_destroy(mesh);
        stn_world_destroy(world);
    }
}

/// A tetrahedron at these corners, with a number of its own; what compiling says of it.
static void assert_refused(stn_context *context, const double *corners, const double own[3], const char *expected) {
    stn_world *world = soft_world(context, 1e-3, NULL, stn_vec3_zero());
    const stn_nodes_spec nodes = {
        .name = "one", .node_count = 4, .position = corners, .material = stn_material_unset()};
    const int32_t index[] = {0, 1, 2, 3};
    const stn_elements_spec spec = {.name = "body", .element_count = 1, .index = index, .parameters = own};
    stn_instance *instance = NULL;
    stn_error err;
    int32_t group = 0;
    assert_ok(stn_builder_add_nodes(stn_world_builder(world), &nodes, &group, &err), err);
    assert_ok(stn_instance_create(context, STN_KIND_ELEMENT, "fem", NULL, 0, &instance, &err), err);
    assert_ok(stn_builder_add_elements(stn_world_builder(world), instance, &spec, &group, &err), err);
    assert_int_equal(stn_world_compile(world, &err), STN_ERR_ARGUMENT);
    if (strstr(err.text, expected) == NULL) {
        print_message("\"%s\" does not say \"%s\"\n", err.text, expected);
        fail();
    }
    stn_world_destroy(world);
}

static void numbers_of_one_element_count_in_place_of_the_instance(void **state) {
    // two tetrahedra apart, each of 1e-3/6 m^3, pressed to half their height: the second one is told to be other rubber
    double nodes[24] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}, start[24];
    for (int32_t i = 0; i < 24; i++) {
        nodes[i] = i < 12 ? nodes[i] : nodes[i - 12] + (i % 3 == 0 ? 1.0 : 0.0);
        start[i] = i % 3 == 2 ? 0.5 * nodes[i] : nodes[i];
    }
    const int32_t index[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const double own[] = {NAN, NAN, NAN, 3e5, 0.0, 500.0};
    stn_world *world = soft_world(*state, 1e-3, NULL, stn_vec3_zero());
    const stn_nodes_spec spec = {
        .name = "two", .node_count = 8, .position = start, .rest = nodes, .material = stn_material_unset()};
    const stn_elements_spec elements = {.name = "two", .element_count = 2, .index = index, .parameters = own};
    const stn_setting settings[] = {SOFT_NUMBER("young", 1e5), SOFT_NUMBER("poisson", 0.25),
                                    SOFT_NUMBER("density", 1000.0)};
    stn_instance *instance = NULL;
    stn_error err;
    int32_t group = 0;
    double values[6];
    assert_ok(stn_builder_add_nodes(stn_world_builder(world), &spec, &group, &err), err);
    assert_ok(stn_instance_create(*state, STN_KIND_ELEMENT, "fem", settings, 3, &instance, &err), err);
    assert_ok(stn_builder_add_elements(stn_world_builder(world), instance, &elements, &group, &err), err);
    soft_compile(world);
    assert_near(stn_world_model(world)->node_mass[0], 1000.0 * 1e-3 / 24.0, 1e-15);
    assert_near(stn_world_model(world)->node_mass[7], 500.0 * 1e-3 / 24.0, 1e-15);
    assert_ok(stn_world_element_outputs(world, group, values, &err), err);
    // stresses 2 mu e + lambda e along z, lambda e across: von Mises 2 mu |e|, pressure -(2 mu/3 + lambda) e, e = -1/2
    assert_near(values[0], 1e5 / 2.5, 1e-6);
    assert_near(values[1], 0.5 * (2.0 / 3.0 * 1e5 / 2.5 + 0.25e5 / (1.25 * 0.5)), 1e-6);
    assert_near(values[3], 3e5 / 2.0, 1e-6);
    assert_near(values[4], 0.5 * 2.0 / 3.0 * 3e5 / 2.0, 1e-6);
    stn_world_destroy(world);
}

static void bad_elements_and_materials_are_refused_with_what_to_do(void **state) {
    const double right[] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1},
                 left[] = {0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0, 0, 0.1},
                 flat[] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0.1, 0.1, 0}, point[12] = {0.0};
    const double none[3] = {NAN, NAN, NAN}, stiff[3] = {-1.0, NAN, NAN}, locked[3] = {NAN, 0.5, NAN},
                 light[3] = {NAN, NAN, -1.0}, odd[3] = {NAN, -1.0, NAN};
    assert_refused(*state, left, none, "volume = -0.000166667 m^3 must be > 0: exchange two of its nodes");
    assert_refused(*state, flat, none, "its nodes lie in a plane; leave it out or move a node");
    assert_refused(*state, point, none, "its nodes lie in a plane");
    assert_refused(*state, right, stiff, "young = -1 Pa must be > 0");
    assert_refused(*state, right, locked, "poisson = 0.5 must be in (-1, 0.5)");
    assert_refused(*state, right, odd, "poisson = -1 must be in (-1, 0.5)");
    assert_refused(*state, right, light, "density = -1 kg/m^3 must be >= 0");
    const struct {
        const char *name;
        double value;
    } wrong[] = {{"young", 0.0},   {"young", -1.0},   {"poisson", 0.5},
                 {"poisson", 0.7}, {"poisson", -1.0}, {"density", -1.0}};
    for (size_t i = 0; i < STN_COUNT(wrong); i++) {
        const stn_setting setting = SOFT_NUMBER(wrong[i].name, wrong[i].value);
        stn_instance *instance = NULL;
        stn_error err = {STN_OK, ""};
        assert_true(stn_instance_create(*state, STN_KIND_ELEMENT, "fem", &setting, 1, &instance, &err) < 0);
        assert_non_null(strstr(err.text, wrong[i].name));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_strain_is_exact_in_irregular_elements),
        cmocka_unit_test(a_cantilever_sags_as_timoshenko_says),
        cmocka_unit_test(a_cantilever_swings_in_its_first_mode_and_damping_is_that_of_rayleigh),
        cmocka_unit_test(a_round_bar_twists_as_saint_venant_says),
        cmocka_unit_test(a_bar_of_rubber_stretches_as_the_neo_hookean_law_says),
        cmocka_unit_test(inverted_and_flat_elements_come_back_and_are_told),
        cmocka_unit_test(spin_lasts_without_geometric_stiffness_and_dies_out_with_it),
        cmocka_unit_test(the_mass_is_density_times_volume_and_falls_freely),
        cmocka_unit_test(numbers_of_one_element_count_in_place_of_the_instance),
        cmocka_unit_test(bad_elements_and_materials_are_refused_with_what_to_do),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
