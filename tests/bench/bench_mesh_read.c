// SPDX-License-Identifier: Apache-2.0
// Reading mesh files of 20 MB out of memory: a wavy sheet of triangles in every format, with coordinates of 7 digits
// and of 17.
#include <stdarg.h>

#include <stiction/plugin.h>

#include "bench_time.h"

enum { TARGET = 20000000, LONGEST = 400, ROUNDS = 5 };

typedef struct file {
    char *bytes;
    size_t size;
} file;

static void add(file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(file *f, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    f->size += (size_t)vsnprintf(f->bytes + f->size, LONGEST, format, arguments);
    va_end(arguments);
}

static void add_bytes(file *f, const void *bytes, size_t size) {
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

/// Node (i, j) of a sheet of n x n nodes.
static void node(int32_t n, int32_t i, int32_t j, double p[3]) {
    p[0] = (double)i / n;
    p[1] = (double)j / n;
    p[2] = 0.1 * sin(7.0 * p[0]) * cos(9.0 * p[1]);
}

/// Corners of triangle k of the sheet.
static void corners(int32_t n, int32_t k, int32_t c[3]) {
    int32_t cell = k / 2, i = cell / (n - 1), j = cell % (n - 1), first = i * n + j;
    c[0] = first;
    c[1] = k % 2 == 0 ? first + n : first + n + 1;
    c[2] = k % 2 == 0 ? first + n + 1 : first + 1;
}

static void write_stl(file *f, int32_t digits, bool binary) {
    int32_t n = (int32_t)sqrt(TARGET / (binary ? 100.0 : 2.0 * (120.0 + 9.0 * digits))), count = 2 * (n - 1) * (n - 1);
    char header[80] = "sheet";
    if (binary) {
        add_bytes(f, header, sizeof header);
        add_bytes(f, &count, 4);
    } else {
        add(f, "solid sheet\n");
    }
    for (int32_t k = 0; k < count; k++) {
        int32_t c[3];
        float single[12] = {0};
        corners(n, k, c);
        if (!binary) {
            add(f, "facet normal 0 0 1\n  outer loop\n");
        }
        for (int32_t i = 0; i < 3; i++) {
            double p[3];
            node(n, c[i] / n, c[i] % n, p);
            for (int32_t x = 0; x < 3; x++) {
                single[3 + 3 * i + x] = (float)p[x];
            }
            if (!binary) {
                add(f, "    vertex %.*e %.*e %.*e\n", digits - 1, p[0], digits - 1, p[1], digits - 1, p[2]);
            }
        }
        if (binary) {
            add_bytes(f, single, sizeof single);
            add_bytes(f, "\0\0", 2);
        } else {
            add(f, "  endloop\nendfacet\n");
        }
    }
    if (!binary) {
        add(f, "endsolid sheet\n");
    }
}

static void write_nodes(file *f, int32_t n, int32_t digits, const char *before, bool tagged) {
    for (int32_t k = 0; k < n * n; k++) {
        double p[3];
        node(n, k / n, k % n, p);
        if (tagged) {
            add(f, "%d", k + 1);
        }
        add(f, "%s%.*g %.*g %.*g\n", before, digits, p[0], digits, p[1], digits, p[2]);
    }
}

static int32_t sheet_size(int32_t digits) {
    return (int32_t)sqrt(TARGET / (3.0 * digits + 60.0));
}

static void write_obj(file *f, int32_t digits) {
    int32_t n = sheet_size(digits), c[3];
    write_nodes(f, n, digits, "v ", false);
    for (int32_t k = 0; k < 2 * (n - 1) * (n - 1); k++) {
        corners(n, k, c);
        add(f, "f %d//%d %d//%d %d//%d\n", c[0] + 1, k % 97 + 1, c[1] + 1, k % 97 + 1, c[2] + 1, k % 97 + 1);
    }
}

static void write_vtk(file *f, int32_t digits) {
    int32_t n = sheet_size(digits), c[3], count = 2 * (n - 1) * (n - 1);
    add(f, "# vtk DataFile Version 3.0\nsheet\nASCII\nDATASET POLYDATA\nPOINTS %d double\n", n * n);
    write_nodes(f, n, digits, "", false);
    add(f, "POLYGONS %d %d\n", count, 4 * count);
    for (int32_t k = 0; k < count; k++) {
        corners(n, k, c);
        add(f, "3 %d %d %d\n", c[0], c[1], c[2]);
    }
}

static void write_msh(file *f, int32_t digits) {
    int32_t n = sheet_size(digits), c[3], count = 2 * (n - 1) * (n - 1);
    add(f, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", n * n);
    write_nodes(f, n, digits, " ", true);
    add(f, "$EndNodes\n$Elements\n%d\n", count);
    for (int32_t k = 0; k < count; k++) {
        corners(n, k, c);
        add(f, "%d 2 2 0 1 %d %d %d\n", k + 1, c[0] + 1, c[1] + 1, c[2] + 1);
    }
    add(f, "$EndElements\n");
}

static void measure(stn_context *context, const char *name, const file *f, const char *format) {
    const stn_plugin_info *plugin = NULL;
    stn_error err = {STN_OK, ""};
    double best = INFINITY;
    int32_t triangles = 0;
    if (stn_plugin_find(context, STN_KIND_MESH, format, &plugin, &err) != STN_OK) {
        printf("%s\n", err.text);
        return;
    }
    f->bytes[f->size] = '\0';
    const stn_mesh_source source = {
        .context = context, .path = name, .bytes = f->bytes, .size = f->size, .folder = "/", .root = "/"};
    for (int32_t i = 0; i < ROUNDS; i++) {
        stn_raw_mesh raw = {0};
        double start = now_us();
        stn_status status = plugin->desc->ops.mesh->read(NULL, &source, &raw, &err);
        best = fmin(best, 1e-3 * (now_us() - start));
        triangles = raw.triangle_count;
        stn_release(context, raw.vertices);
        stn_release(context, raw.triangles);
        stn_release(context, raw.tetrahedra);
        stn_release(context, raw.extents);
        if (status != STN_OK) {
            printf("%s\n", err.text);
            return;
        }
    }
    printf("%-28s %6.1f MB %8d triangles %7.1f ms\n", name, 1e-6 * (double)f->size, triangles, best);
}

int main(void) {
    stn_context *context = NULL;
    file f = {.bytes = malloc(3 * (size_t)TARGET)};
    if (f.bytes == NULL || stn_context_create(NULL, &context, NULL) != STN_OK) {
        return 1;
    }
    write_stl(&f, 7, true);
    measure(context, "stl, binary", &f, "stl");
    for (int32_t digits = 7; digits <= 17; digits += 10) {
        char name[40];
        snprintf(name, sizeof name, "stl, text, %d digits", digits);
        f.size = 0;
        write_stl(&f, digits, false);
        measure(context, name, &f, "stl");
        snprintf(name, sizeof name, "obj, %d digits", digits);
        f.size = 0;
        write_obj(&f, digits);
        measure(context, name, &f, "obj");
        snprintf(name, sizeof name, "vtk, text, %d digits", digits);
        f.size = 0;
        write_vtk(&f, digits);
        measure(context, name, &f, "vtk");
        snprintf(name, sizeof name, "msh, text, %d digits", digits);
        f.size = 0;
        write_msh(&f, digits);
        measure(context, name, &f, "msh");
    }
    stn_context_destroy(context);
    free(f.bytes);
    return 0;
}
