// SPDX-License-Identifier: Apache-2.0
// Figures of public mesh files, found by an independent program: the lines of expected_meshes.csv, in the file's unit.
#ifndef EXPECTED_MESH_H
#define EXPECTED_MESH_H

#include <stdlib.h>
#include <string.h>

#include "stn_test.h"

#define EXPECTED_MESHES STN_SHARED_DIR "/models/expected_meshes.csv"

typedef struct expected_mesh {
    char path[1024];
    char format[32]; // stl-binary, stl-ascii, obj, vtk-tets, dae, gltf
    int32_t vertices, triangles;
    double bounds[6], area, volume; // bounds: lower x y z, upper x y z
    int32_t degenerate, open_edges;
    double unit;      // dae only, like the next two
    char up_axis[16]; // "Z_UP"
    int32_t instances;
    int32_t tetrahedra; // vtk-tets only, like the next
    double tetrahedra_volume;
} expected_mesh;

static inline double expected_real(const char *text) {
    double value = 0.0;
    assert_true(text[0] == '\0' || stn_parse_real(text, &value));
    return value;
}

/// The next line; false at the end of the file.
static inline bool expected_mesh_next(FILE *file, expected_mesh *e) {
    enum { COLUMNS = 20 };
    char line[2048], *column[COLUMNS], *rest = line;
    if (fgets(line, sizeof line, file) == NULL) {
        return false;
    }
    for (int32_t i = 0; i < COLUMNS; i++) {
        column[i] = strsep(&rest, ",\r\n");
        assert_non_null(column[i]);
    }
    *e = (expected_mesh){.vertices = atoi(column[3]),
                         .triangles = atoi(column[4]),
                         .area = expected_real(column[11]),
                         .volume = expected_real(column[12]),
                         .degenerate = atoi(column[13]),
                         .open_edges = atoi(column[14]),
                         .unit = expected_real(column[15]),
                         .instances = atoi(column[17]),
                         .tetrahedra = atoi(column[18]),
                         .tetrahedra_volume = expected_real(column[19])};
    for (int32_t i = 0; i < 6; i++) {
        e->bounds[i] = expected_real(column[5 + i]);
    }
    snprintf(e->path, sizeof e->path, STN_SHARED_DIR "/models/%s", column[0]);
    snprintf(e->format, sizeof e->format, "%s", column[1]);
    snprintf(e->up_axis, sizeof e->up_axis, "%s", column[16]);
    return true;
}

/// Opens the list and steps over the names of its columns.
static inline FILE *expected_meshes_open(void) {
    char names[2048];
    FILE *file = fopen(EXPECTED_MESHES, "r");
    assert_non_null(file);
    assert_non_null(fgets(names, sizeof names, file));
    return file;
}

#endif
