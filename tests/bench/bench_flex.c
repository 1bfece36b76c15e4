// SPDX-License-Identifier: Apache-2.0
// A soft cube that falls on the ground, beside MuJoCo's flex (from MuJoCo 3.0 on): edges of 0.2 m, n nodes along each,
// Young's modulus 5e4 Pa, Poisson ratio 0.3, 8 kg, Rayleigh damping 5e-4 s, friction 1, 0.06 m
// above the ground.
//
// Time: of a step of the fall and the bounce, 0.6 s. Error: after 4 s, how much the height of the cube through its
// middle differs from that of a cube of 17 nodes along each edge, over what that one lost by its weight; beside it how
// far the middle of the lower face is in the ground. Contact has a part in that error, so the same is told of a cube
// that hangs in its weight for 20 s with the upper face held, beside one of 17 nodes that does. Arguments: numbers of
// nodes; none: 4 6 8.
#include <stiction/soft.h>
#include <stiction/stiction.h>

#include "bench_row.h"
#include "bench_time.h"

#ifdef HAVE_FLEX
#include <mujoco/mujoco.h>
#endif

enum { FINE = 17, MOST_STEPS = 700 };

static const double edge = 0.2, gap = 0.06, mass = 8.0, fall = 0.6, rest = 4.0, hanging = 20.0;
static const char *const young = "5e4", *const poisson = "0.3", *const damping = "5e-4";

static void need(stn_status status, const stn_error *err) {
    if (status < STN_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

/// What one engine did.
typedef struct outcome {
    double us;     // median of the steps while it falls
    double height; // through its middle at rest [m]
    double depth;  // of the middle of the lower face in the ground [m]
} outcome;

// ---------------------------------------------------------------------------------------------------------------- ours

static stn_world *make_world(stn_context *context, int32_t n, double dt, bool hangs) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = NULL;
    stn_error err = {STN_OK, ""};
    int32_t id = 0;
    options.dt = dt;
    need(stn_world_create(context, &options, &world, &err), &err);
    stn_model_builder *builder = stn_world_builder(world);
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    ground.material.mu = 1.0;
    need(stn_builder_add_geometry(builder, STN_WORLD, &ground, &id, &err), &err);
    const stn_soft_shape shape = {.type = STN_SOFT_BOX, .size = {edge, edge, edge}, .cells = {n - 1, n - 1, n - 1}};
    const stn_setting settings[] = {
        {.name = "young", .form = STN_SETTING_NUMBER, .number = strtod(young, NULL), .where = "bench"},
        {.name = "poisson", .form = STN_SETTING_NUMBER, .number = strtod(poisson, NULL), .where = "bench"},
        {.name = "density", .form = STN_SETTING_NUMBER, .number = mass / (edge * edge * edge), .where = "bench"},
        {.name = "rayleigh_stiffness", .form = STN_SETTING_NUMBER, .number = strtod(damping, NULL), .where = "bench"}};
    stn_soft_mesh *mesh = NULL;
    need(stn_soft_mesh_generate(context, &shape, &mesh, &err), &err);
    stn_soft_spec spec = {.name = "cube",
                          .mesh = mesh,
                          .pose = {stn_mat3_identity(), stn_vec3_make(0.0, 0.0, gap + 0.5 * edge)},
                          .element = {.id = "fem", .settings = settings, .setting_count = STN_COUNT(settings)},
                          .surface = stn_surface_spec_default()};
    spec.surface.material.mu = 1.0;
    const stn_soft_selector upper = {.where = STN_SOFT_IN_REGION, .region = "z_max"};
    const stn_soft_attachment held = {.link = STN_WORLD, .selector_count = 1, .selectors = &upper};
    spec.attachment_count = hangs ? 1 : 0;
    spec.attachments = &held;
    stn_soft_body body;
    need(stn_soft_add(builder, context, &spec, &body, &err), &err);
    stn_soft_mesh_destroy(mesh);
    need(stn_world_compile(world, &err), &err);
    return world;
}

/// Height of the middle of a layer of nodes, which is one node, or the mean of those around it where n is even; strides
/// of the nodes' numbers along x and y.
static double middle(const double *layer, int32_t n, int32_t along_x, int32_t along_y) {
    double sum = 0.0;
    for (int32_t k = 0; k < 4; k++) {
        const int32_t i = (n - 1 + (k & 1)) / 2, j = (n - 1 + (k >> 1)) / 2;
        sum += 0.25 * layer[3 * (i * along_x + j * along_y) + 2];
    }
    return sum;
}

static outcome run_ours(stn_context *context, int32_t n, double dt, bool timed, bool hangs) {
    stn_world *world = make_world(context, n, dt, hangs);
    stn_error err = {STN_OK, ""};
    double us[MOST_STEPS];
    int32_t count = 0;
    while (stn_world_observation(world)->time < (hangs ? hanging : rest)) {
        const double clock = thread_us();
        need(stn_world_step(world, &err), &err);
        if (timed && stn_world_observation(world)->time <= fall && count < MOST_STEPS) {
            us[count++] = thread_us() - clock;
        }
    }
    const double *x = stn_world_observation(world)->q, lower = middle(x, n, 1, n);
    const outcome o = {median(us, count), middle(x + 3 * n * n * (n - 1), n, 1, n) - lower, -lower};
    stn_world_destroy(world);
    return o;
}

// ------------------------------------------------------------------------------------------------------------- MuJoCo

#ifdef HAVE_FLEX
static void be_quiet(const char *text) {
    (void)text;
}

static outcome run_mujoco(int32_t n, double dt, bool hangs) {
    char text[2000], pin[100] = "", error[500] = "";
    const double spacing = edge / (n - 1);
    if (hangs) {
        snprintf(pin, sizeof pin, "<pin gridrange='0 0 %d %d %d %d'/>", n - 1, n - 1, n - 1, n - 1);
    }
    snprintf(text, sizeof text,
             "<mujoco><option timestep='%g' cone='elliptic' solver='%s' integrator='implicitfast'/>"
             "<size memory='600M'/><worldbody><geom type='plane' size='2 2 1'/>"
             "<flexcomp name='cube' type='grid' dim='3' count='%d %d %d' spacing='%.17g %.17g %.17g' pos='0 0 %g' "
             "radius='0.002' mass='%g'><elasticity young='%s' poisson='%s' damping='%s'/>"
             "<contact selfcollide='none' internal='false'/>%s</flexcomp></worldbody></mujoco>",
             dt, n > 6 ? "CG" : "Newton", n, n, n, spacing, spacing, spacing, gap + 0.5 * edge, mass, young, poisson,
             damping, pin);
    mju_user_warning = be_quiet;
    mjVFS files;
    mj_defaultVFS(&files);
    mj_addBufferVFS(&files, "cube.xml", text, (int)strlen(text));
    mjModel *model = mj_loadXML("cube.xml", &files, error, sizeof error);
    if (model == NULL) {
        fprintf(stderr, "MuJoCo: %s\n", error);
        exit(1);
    }
    mjData *data = mj_makeData(model);
    double us[MOST_STEPS];
    int32_t count = 0;
    while (data->time < (hangs ? hanging : rest) && data->warning[mjWARN_BADQACC].number == 0) { // it begins anew then
        const double clock = thread_us();
        mj_step(model, data);
        if (data->time <= fall && count < MOST_STEPS) {
            us[count++] = thread_us() - clock;
        }
    }
    const bool broke = data->warning[mjWARN_BADQACC].number > 0;
    const double *x = data->flexvert_xpos; // its nodes run fastest along z
    const double lower = middle(x, n, n * n, n), upper = middle(x + 3 * (n - 1), n, n * n, n);
    // its ground touches spheres of 2 mm
    const outcome o = {median(us, count), broke ? (double)NAN : upper - lower, 0.002 - lower};
    mj_deleteData(data);
    mj_deleteModel(model);
    mj_deleteVFS(&files);
    return o;
}
#endif

// ---------------------------------------------------------------------------------------------------------------- all

static void print(const char *engine, int32_t n, double dt, outcome o, double fine) {
    if (isnan(o.height)) {
        printf("  %-10s step %4g ms: unstable\n", engine, 1e3 * dt);
        return;
    }
    const double error = 1e2 * (o.height - fine) / (edge - fine);
    printf("  %-10s step %4g ms: %8.0f us, %6.1f ms for a second; height %.6f m, off by %+.2f %% of the sag; %.2f mm "
           "in the "
           "ground\n",
           engine, 1e3 * dt, o.us, 1e-3 * o.us / dt, o.height, error, 1e3 * o.depth);
    char what[64];
    snprintf(what, sizeof what, "soft cube of %d^3 nodes, %g ms", (int)n, 1e3 * dt);
    bench_row("soft", what, engine, "", "us", o.us);
    bench_row("soft", what, engine, "error of the sag", "%", error);
    bench_row("soft", what, engine, "depth in the ground", "m", o.depth);
}

static void print_hanging(const char *engine, int32_t n, double height, double fine) {
    const double error = 1e2 * (height - fine) / (fine - edge);
    printf("  %-10s hanging: height %.6f m, off by %+.2f %% of the stretch\n", engine, height, error);
    char what[64];
    snprintf(what, sizeof what, "soft cube of %d^3 nodes, hanging", (int)n);
    bench_row("soft", what, engine, "error of the stretch", "%", error);
}

int main(int argc, char **argv) {
    static const char *const usual[] = {"", "4", "6", "8"};
    stn_context *context = NULL;
    stn_error err = {STN_OK, ""};
    need(stn_context_create(NULL, &context, &err), &err);
    print_processor();
    const double fine = run_ours(context, FINE, 0.1, false, false).height;
    const double fine_hangs = run_ours(context, FINE, 0.1, false, true).height;
    printf("%d^3 nodes: height %.6f m at rest, a sag of %.6f m; hanging %.6f m\n", FINE, fine, edge - fine, fine_hangs);
    const int32_t count = argc > 1 ? argc : STN_COUNT(usual);
    for (int32_t k = 1; k < count; k++) {
        const int32_t n = (int32_t)strtol(argc > 1 ? argv[k] : usual[k], NULL, 10);
        if (n < 2 || n > FINE) {
            fprintf(stderr, "%d nodes along an edge: must be 2 to %d\n", n, FINE);
            return 2;
        }
        printf("%d^3 nodes, %d dofs\n", n, 3 * n * n * n);
        print_hanging("Stiction", n, run_ours(context, n, 1e-2, false, true).height, fine_hangs);
#ifdef HAVE_FLEX
        print_hanging("MuJoCo", n, run_mujoco(n, 1e-3, true).height, fine_hangs);
#endif
        for (int32_t i = 0; i < 3; i++) {
            const double dt[] = {1e-3, 5e-3, 1e-2};
            print("Stiction", n, dt[i], run_ours(context, n, dt[i], true, false), fine);
#ifdef HAVE_FLEX
            print("MuJoCo", n, dt[i], run_mujoco(n, dt[i], false), fine);
#endif
        }
    }
    stn_context_destroy(context);
    return 0;
}
