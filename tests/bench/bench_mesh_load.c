// SPDX-License-Identifier: Apache-2.0
// What loading a mesh file costs: without a cache, from the cache folder, and from the context. Files are the
// arguments; without any, a sphere of 20 thousand triangles as STL, OBJ and DAE.
//     mesh_load [--hull] [FILE]...
#define _GNU_SOURCE // setenv, mkdtemp
#include <math.h>
#include <unistd.h>

#include <stiction/mesh.h>

#include "bench_time.h"

enum { ROUNDS = 9, RINGS = 100, SECTORS = 100 };

static void point(int ring, int sector, double p[3]) {
    double polar = M_PI * ring / RINGS, azimuth = 2.0 * M_PI * (sector % SECTORS) / SECTORS;
    p[0] = 0.1 * sin(polar) * cos(azimuth);
    p[1] = 0.1 * sin(polar) * sin(azimuth);
    p[2] = 0.1 * cos(polar);
}

/// Corners of both triangles of a cell, as ring and sector.
static const int cell[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};

static void write_stl(FILE *file) {
    char head[80] = "sphere";
    const uint32_t count = 2 * RINGS * SECTORS;
    fwrite(head, sizeof head, 1, file);
    fwrite(&count, sizeof count, 1, file);
    for (int c = 0; c < 2 * RINGS * SECTORS; c++) {
        float numbers[12] = {0};
        const uint16_t nothing = 0;
        for (int k = 0; k < 3; k++) {
            double p[3];
            const int *place = cell[3 * (c % 2) + k];
            point(c / 2 / SECTORS + place[0], c / 2 % SECTORS + place[1], p);
            for (int i = 0; i < 3; i++) {
                numbers[3 + 3 * k + i] = (float)p[i];
            }
        }
        fwrite(numbers, sizeof numbers, 1, file);
        fwrite(&nothing, sizeof nothing, 1, file);
    }
}

static void write_points(FILE *file, const char *before) {
    for (int v = 0; v < (RINGS + 1) * SECTORS; v++) {
        double p[3];
        point(v / SECTORS, v % SECTORS, p);
        fprintf(file, "%s%.7g %.7g %.7g\n", before, p[0], p[1], p[2]);
    }
}

static void write_corners(FILE *file, const char *before, int first) {
    for (int c = 0; c < 2 * RINGS * SECTORS; c++) {
        int id[3];
        for (int k = 0; k < 3; k++) {
            const int *place = cell[3 * (c % 2) + k];
            id[k] = first + (c / 2 / SECTORS + place[0]) * SECTORS + (c / 2 + place[1]) % SECTORS;
        }
        fprintf(file, "%s%d %d %d\n", before, id[0], id[1], id[2]);
    }
}

static void write_obj(FILE *file) {
    write_points(file, "v ");
    write_corners(file, "f ", 1);
}

static void write_dae(FILE *file) {
    const int points = (RINGS + 1) * SECTORS;
    fprintf(file,
            "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">"
            "<asset><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id=\"g\"><mesh><source id=\"p\">"
            "<float_array id=\"a\" count=\"%d\">",
            3 * points);
    write_points(file, "");
    fprintf(file,
            "</float_array><technique_common><accessor source=\"#a\" count=\"%d\" stride=\"3\"><param name=\"X\" "
            "type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor>"
            "</technique_common></source><vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>"
            "<triangles count=\"%d\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>",
            points, 2 * RINGS * SECTORS);
    write_corners(file, "", 0);
    fprintf(file,
            "</p></triangles></mesh></geometry></library_geometries><library_visual_scenes><visual_scene id=\"s\">"
            "<node><instance_geometry url=\"#g\"/></node></visual_scene></library_visual_scenes><scene>"
            "<instance_visual_scene url=\"#s\"/></scene></COLLADA>\n");
}

/// One load in `context`, or in a new one; < 0 when it fails.
static double time_load(stn_context *context, const stn_mesh_request *request) {
    stn_context *own = NULL;
    const stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    if (context == NULL && stn_context_create(NULL, &own, &err) != STN_OK) {
        return -1.0;
    }
    double start = now_us();
    stn_status status = stn_mesh_load(context != NULL ? context : own, request, &mesh, &err);
    double passed = 1e-3 * (now_us() - start);
    if (status != STN_OK) {
        fprintf(stderr, "%s\n", err.text);
    }
    stn_mesh_release(mesh);
    stn_context_destroy(own);
    return status == STN_OK ? passed : -1.0;
}

typedef struct costs {
    double cold[ROUNDS], folder[ROUNDS], context[ROUNDS];
} costs;

static bool measure(const stn_mesh_request *request, const char *cache, costs *c) {
    stn_context *context = NULL;
    bool done = stn_context_create(NULL, &context, NULL) == STN_OK;
    for (int k = 0; k < ROUNDS && done; k++) {
        setenv("STICTION_CACHE", "off", 1);
        c->cold[k] = time_load(NULL, request);
        setenv("STICTION_CACHE", cache, 1);
        done = c->cold[k] >= 0.0 && (k > 0 || time_load(context, request) >= 0.0);
        c->folder[k] = done ? time_load(NULL, request) : 0.0;
        c->context[k] = done ? time_load(context, request) : 0.0;
    }
    stn_context_destroy(context);
    return done;
}

static void report(const char *path, costs *c, double sums[3]) {
    const char *slash = strrchr(path, '/');
    double cold = median(c->cold, ROUNDS), folder = median(c->folder, ROUNDS), context = median(c->context, ROUNDS);
    printf("%-28s %9.2f %9.2f %9.2f %8.1f x\n", slash != NULL ? slash + 1 : path, cold, folder, context, cold / folder);
    sums[0] += cold;
    sums[1] += folder;
    sums[2] += context;
}

static int run(int count, char **paths, bool convex, const char *cache) {
    static costs c;
    double sums[3] = {0.0, 0.0, 0.0};
    printf("%-28s %9s %9s %9s   cold / folder   [ms], medians of %d\n", convex ? "hull of" : "", "cold", "folder",
           "context", ROUNDS);
    for (int i = 0; i < count; i++) {
        const stn_mesh_request request = {paths[i], {1.0, 1.0, 1.0}, convex, NULL};
        if (!measure(&request, cache, &c)) {
            return 1;
        }
        report(paths[i], &c, sums);
    }
    printf("%-28s %9.2f %9.2f %9.2f %8.1f x\n", "sum", sums[0], sums[1], sums[2], sums[0] / sums[1]);
    return 0;
}

int main(int argc, char **argv) {
    static const struct {
        const char *ending;
        void (*write)(FILE *file);
    } spheres[] = {{"stl", write_stl}, {"obj", write_obj}, {"dae", write_dae}};
    char folder[] = "/tmp/stiction_bench_XXXXXX", paths[3][64], *own[3], cache[64], remove[80];
    bool convex = argc > 1 && strcmp(argv[1], "--hull") == 0;
    argc -= 1 + convex;
    argv += 1 + convex;
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/sphere.%s", folder, spheres[i].ending);
        own[i] = paths[i];
        FILE *file = fopen(paths[i], "wb");
        if (file != NULL) {
            spheres[i].write(file);
            fclose(file);
        }
    }
    snprintf(cache, sizeof cache, "%s/cache", folder);
    int failed = run(argc > 0 ? argc : 3, argc > 0 ? argv : own, convex, cache);
    snprintf(remove, sizeof remove, "rm -rf %s", folder);
    return system(remove) != 0 || failed;
}
