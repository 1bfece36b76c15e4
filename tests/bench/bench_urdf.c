// SPDX-License-Identifier: Apache-2.0
// What loading and compiling a robot file costs, medians of processor time:
//     a chain of 400 links (bound 50 ms); a humanoid of 29 links with 20 MB of collision STL, 700 kB each, in a new
//     context without a cache folder (bound 1 s), and again in the same context. urdf [FILE]...   the same of robot
//     files
#define _GNU_SOURCE // setenv, mkdtemp
#include <sys/resource.h>
#include <unistd.h>

#include <stiction/plugin.h>

#include "bench_row.h"
#include "bench_time.h"

enum { ROUNDS = 5, LINKS = 29, RINGS = 70, SECTORS = 100 };

#define INERTIAL "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"

static char folder[] = "/tmp/stn_bench_urdf_XXXXXX";

static void must(bool condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "bench urdf: %s\n", what);
        exit(1);
    }
}

static const char *in_folder(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static FILE *create(const char *name) {
    FILE *file = fopen(in_folder(name), "wb");
    must(file != NULL, "cannot write to /tmp");
    return file;
}

// A sphere, whose every vertex is one of its hull, or one with dents, different for each `seed`, as parts of a robot
// are.
static void point(int seed, bool dented, int ring, int sector, float p[3]) {
    double polar = M_PI * ring / RINGS, azimuth = 2.0 * M_PI * (sector % SECTORS) / SECTORS;
    double waves = sin(polar) * sin((5 + seed % 5) * polar) * cos((4 + seed % 7) * azimuth);
    double r = dented ? 0.1 + 0.01 * waves : 0.1 + 1e-3 * seed;
    p[0] = (float)(r * sin(polar) * cos(azimuth));
    p[1] = (float)(r * sin(polar) * sin(azimuth));
    p[2] = (float)(r * cos(polar));
}

static void write_part(int seed, bool dented) {
    static const int cell[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
    char name[32];
    const char head[80] = "part";
    const uint32_t count = 2 * (RINGS - 1) * SECTORS;
    snprintf(name, sizeof name, "%d.stl", seed);
    FILE *file = create(name);
    fwrite(head, sizeof head, 1, file);
    fwrite(&count, sizeof count, 1, file);
    for (int c = 0; c < 2 * RINGS * SECTORS; c++) {
        float numbers[12] = {0};
        const uint16_t nothing = 0;
        int ring = c / 2 / SECTORS, sector = c / 2 % SECTORS;
        if ((ring == 0 && c % 2 == 1) || (ring == RINGS - 1 && c % 2 == 0)) {
            continue; // no area at the poles
        }
        for (int k = 0; k < 3; k++) {
            const int *place = cell[3 * (c % 2) + k];
            point(seed, dented, ring + place[0], sector + place[1], numbers + 3 + 3 * k);
        }
        fwrite(numbers, sizeof numbers, 1, file);
        fwrite(&nothing, sizeof nothing, 1, file);
    }
    fclose(file);
}

static void write_chain(const char *name, int links, bool parts) {
    FILE *file = create(name);
    fprintf(file, "<robot name='r'>");
    for (int i = 0; i < links; i++) {
        fprintf(file, "<link name='l%d'>" INERTIAL, i);
        if (parts) {
            fprintf(file, "<collision><geometry><mesh filename='%d.stl'/></geometry></collision>", i);
        }
        fprintf(file, "</link>");
        if (i > 0) {
            fprintf(file,
                    "<joint name='j%d' type='continuous'><parent link='l%d'/><child link='l%d'/>"
                    "<origin xyz='0 0 1'/><axis xyz='0 1 0'/></joint>",
                    i, i - 1, i);
        }
    }
    fprintf(file, "</robot>");
    fclose(file);
}

static double load(stn_context *context, const char *path) {
    const stn_load_request request = {.path = path};
    stn_model_builder *builder = NULL;
    stn_model *model = NULL;
    stn_diagnostics list;
    stn_error err = {STN_OK, ""};
    int32_t robot = 0;
    clock_t start = clock();
    stn_diagnostics_init(&list, context);
    must(stn_builder_create(context, &builder, &err) == STN_OK, err.text);
    must(stn_load_robot(context, &request, builder, &robot, &list, &err) == STN_OK, err.text);
    must(stn_model_compile(builder, &model, &err) == STN_OK, err.text);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    stn_model_destroy(model);
    stn_diagnostics_clear(&list);
    stn_builder_destroy(builder);
    return 1e3 * seconds;
}

static void drop_log(void *user, stn_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

static void measure(const char *path, const char *name) {
    double cold[ROUNDS], warm[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const stn_context_options options = {.log = drop_log};
        const stn_plugin_info *plugins = NULL;
        stn_context *context = NULL;
        int32_t count = 0;
        must(stn_context_create(&options, &context, NULL) == STN_OK, "no context");
        must(stn_plugins(context, &plugins, &count, NULL, NULL, NULL) == STN_OK,
             "no plugins"); // found before the clock
        cold[i] = load(context, path);
        warm[i] = load(context, path);
        stn_context_destroy(context);
    }
    double first = median(cold, ROUNDS), again = median(warm, ROUNDS);
    printf("%-28s cold %8.1f ms, again %8.1f ms\n", name, first, again);
    bench_row("load", name, "Stiction", "", "ms", first);
    bench_row("load", name, "Stiction", "again", "ms", again);
}

int main(int argc, char **argv) {
    struct rusage usage;
    setenv("STICTION_CACHE", "off", 1);
    for (int i = 1; i < argc; i++) {
        measure(argv[i], argv[i]);
    }
    if (argc > 1) {
        return 0;
    }
    must(mkdtemp(folder) != NULL, "cannot write to /tmp");
    write_chain("chain.urdf", 400, false);
    measure(in_folder("chain.urdf"), "chain of 400 links");
    write_chain("humanoid.urdf", LINKS, true);
    for (int dented = 1; dented >= 0; dented--) {
        for (int i = 0; i < LINKS; i++) {
            write_part(i, dented == 1);
        }
        measure(in_folder("humanoid.urdf"), dented == 1 ? "20 MB of STL, dented parts" : "20 MB of STL, spheres");
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory %ld MiB\n", usage.ru_maxrss / 1024);
    for (int i = 0; i < LINKS; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.stl", i);
        remove(in_folder(name));
    }
    remove(in_folder("chain.urdf"));
    remove(in_folder("humanoid.urdf"));
    rmdir(folder);
    return 0;
}
