// SPDX-License-Identifier: Apache-2.0
// Mesh files for tests, written into a folder of their own: cubes with corners at +-1 as COLLADA, glTF, GLB and OBJ.
#ifndef MESH_FILES_H
#define MESH_FILES_H

#define _GNU_SOURCE // nftw, setenv
#include "stn_heap.h"
#include "stn_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include <stiction/mesh.h>

/// The folder of the running test; made by enter_folder, removed by leave_folder.
static char folder[64];

static inline int enter_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/stiction_mesh_XXXXXX");
    setenv("STICTION_CACHE", "off", 1);
    unsetenv("STICTION_MESH_WORKER");
    unsetenv("STICTION_MESH_SECONDS");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static inline int remove_entry(const char *path, const struct stat *what, int type, struct FTW *walk) {
    (void)what, (void)type, (void)walk;
    return remove(path);
}

static inline int leave_folder(void **state) {
    (void)state;
    return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/// A path in the folder, in one of many places that are used in turn.
static inline const char *in_folder(const char *name) {
    static char paths[128][256];
    static int next;
    char *path = paths[next++ % 128];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline const char *write_bytes(const char *name, const void *bytes, size_t size) {
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *write_text(const char *name, const char *text) {
    return write_bytes(name, text, strlen(text));
}

static inline char *read_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

#define CUBE_CORNERS   "-1 -1 -1 -1 -1 1 -1 1 -1 -1 1 1 1 -1 -1 1 -1 1 1 1 -1 1 1 1"
#define CUBE_TRIANGLES "0 1 3 0 3 2 4 6 7 4 7 5 0 4 5 0 5 1 2 3 7 2 7 6 0 2 6 0 6 4 1 5 7 1 7 3"

/// COLLADA with one geometry "#cube", whose primitives are `primitives`, and the scene's `nodes`.
static inline const char *write_dae_of(const char *name, const char *asset, const char *primitives, const char *nodes) {
    static char text[1 << 16];
    int length = snprintf(
        text, sizeof text,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
        "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\"><asset>%s</asset>\n"
        "<library_geometries><geometry id=\"cube\" name=\"cube\"><mesh><source id=\"p\">"
        "<float_array id=\"a\" count=\"24\">" CUBE_CORNERS "</float_array><technique_common>"
        "<accessor source=\"#a\" count=\"8\" stride=\"3\"><param name=\"X\" type=\"float\"/>"
        "<param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor></technique_common></source>"
        "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>%s</mesh></geometry>"
        "</library_geometries><library_visual_scenes><visual_scene id=\"s\">%s</visual_scene></library_visual_scenes>"
        "<scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>\n",
        asset, primitives, nodes);
    assert_true(length > 0 && (size_t)length < sizeof text);
    return write_text(name, text);
}

#define DAE_INPUT     "<input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>"
#define DAE_TRIANGLES "<triangles count=\"12\">" DAE_INPUT "<p>" CUBE_TRIANGLES "</p></triangles>"
#define DAE_CUBE      "<instance_geometry url=\"#cube\"/>"

static inline const char *write_dae(const char *name, const char *asset, const char *nodes) {
    return write_dae_of(name, asset, DAE_TRIANGLES, nodes);
}

/// The vertices and triangles of the cube as a glTF buffer: 8 x 3 floats, 36 indices of 16 bits.
enum { GLTF_BYTES = 96 + 72 };
static inline void fill_gltf_buffer(unsigned char bytes[GLTF_BYTES]) {
    static const uint16_t corners[36] = {0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1,
                                         2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3};
    for (int v = 0; v < 8; v++) {
        const float p[3] = {v & 4 ? 1.0f : -1.0f, v & 2 ? 1.0f : -1.0f, v & 1 ? 1.0f : -1.0f};
        memcpy(bytes + 12 * v, p, sizeof p);
    }
    memcpy(bytes + 96, corners, sizeof corners);
}

/// glTF 2.0 of the cube. `uri` is the member of the buffer that says where it is, `nodes` the nodes; the scene has the
/// first.
static inline int print_gltf(char *text, size_t size, const char *uri, const char *nodes) {
    return snprintf(text, size,
                    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[%s],"
                    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"mode\":4}]}],"
                    "\"buffers\":[{%s\"byteLength\":168}],\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,"
                    "\"byteLength\":96},{\"buffer\":0,\"byteOffset\":96,\"byteLength\":72}],\"accessors\":["
                    "{\"bufferView\":0,\"componentType\":5126,\"count\":8,\"type\":\"VEC3\",\"min\":[-1,-1,-1],"
                    "\"max\":[1,1,1]},{\"bufferView\":1,\"componentType\":5123,\"count\":36,\"type\":\"SCALAR\"}]}",
                    nodes, uri);
}

static inline const char *write_gltf(const char *name, const char *uri, const char *nodes) {
    char text[4096], member[1024];
    snprintf(member, sizeof member, "\"uri\":\"%.1000s\",", uri);
    int length = print_gltf(text, sizeof text, member, nodes);
    assert_true(length > 0 && (size_t)length < sizeof text);
    return write_text(name, text);
}

static inline const char *write_gltf_buffer(const char *name) {
    unsigned char bytes[GLTF_BYTES];
    fill_gltf_buffer(bytes);
    return write_bytes(name, bytes, sizeof bytes);
}

static inline const char *write_glb(const char *name, const char *nodes) {
    static unsigned char bytes[8192];
    char text[4096];
    int length = print_gltf(text, sizeof text, "", nodes);
    assert_true(length > 0 && (size_t)length + 4 < sizeof text);
    uint32_t json = ((uint32_t)length + 3) / 4 * 4, total = 12 + 8 + json + 8 + GLTF_BYTES;
    const uint32_t head[5] = {0x46546C67, 2, total, json, 0x4E4F534A}, chunk[2] = {GLTF_BYTES, 0x004E4942};
    memcpy(bytes, head, sizeof head);
    memset(bytes + 20, ' ', json);
    memcpy(bytes + 20, text, (size_t)length);
    memcpy(bytes + 20 + json, chunk, sizeof chunk);
    fill_gltf_buffer(bytes + 28 + json);
    return write_bytes(name, bytes, total);
}

static inline const char *write_obj(const char *name) {
    return write_text(name, "v -1 -1 -1\nv -1 -1 1\nv -1 1 -1\nv -1 1 1\nv 1 -1 -1\nv 1 -1 1\nv 1 1 -1\nv 1 1 1\n"
                            "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n");
}

static inline stn_mesh_request request_of(const char *path) {
    return (stn_mesh_request){path, {1.0, 1.0, 1.0}, false, NULL};
}

/// Loads in a context of its own and keeps what the tests look at.
typedef struct loaded {
    stn_status status;
    stn_error err;
    stn_mesh_facts facts;
    stn_aabb bounds;
    int32_t vertex_count, triangle_count;
    double mass;
} loaded;

static inline loaded load_request(const stn_mesh_request *request) {
    loaded l = {.err = {STN_OK, ""}};
    stn_context *context = NULL;
    const stn_mesh *mesh = NULL;
    assert_ok(stn_context_create(NULL, &context, &l.err), l.err);
    l.status = stn_mesh_load(context, request, &mesh, &l.err);
    assert_int_equal(l.status == STN_OK, mesh != NULL);
    assert_int_equal(l.status, l.err.status);
    assert_null(strchr(l.err.text, '\n'));
    if (mesh != NULL) {
        l.facts = mesh->facts;
        l.bounds = mesh->bounds;
        l.vertex_count = mesh->vertex_count;
        l.triangle_count = mesh->triangle_count;
        l.mass = mesh->solid.mass;
    }
    stn_mesh_release(mesh);
    stn_context_destroy(context);
    return l;
}

static inline loaded load(const char *path) {
    const stn_mesh_request request = request_of(path);
    return load_request(&request);
}

/// The load must give a mesh.
static inline loaded must_load(const char *path) {
    loaded l = load(path);
    if (l.status != STN_OK) {
        fail_msg("%s", l.err.text);
    }
    return l;
}

/// The load must fail with `part` in its text, which names the file.
static inline void must_refuse(const char *path, stn_status status, const char *part) {
    loaded l = load(path);
    if (l.status != status || strstr(l.err.text, part) == NULL || strstr(l.err.text, path) == NULL) {
        fail_msg("status %d, \"%s\"; expected %d, \"%s\" and the path", l.status, l.err.text, status, part);
    }
}

/// Loads with the first, second, ... request for memory failing, until none does: nothing may be left.
static inline void load_without_memory(const stn_mesh_request *request) {
    long long requests = 1;
    for (long long n = 1; n <= requests; n++) {
        stn_heap heap = {0};
        stn_context *context = stn_heap_context(&heap);
        const stn_mesh *mesh = NULL;
        stn_error err = {STN_OK, ""};
        stn_heap_arm(&heap, n);
        stn_status status = stn_mesh_load(context, request, &mesh, &err);
        requests = status == STN_OK && heap.requests < n ? 0 : n + 1; // enough when no request failed
        assert_true(status == STN_OK || (status == STN_ERR_MEMORY && mesh == NULL && err.text[0] != '\0'));
        stn_mesh_release(mesh);
        stn_context_destroy(context);
        assert_int_equal(heap.live, 0);
    }
}

static inline void assert_bounds(const loaded *l, stn_vec3 lower, stn_vec3 upper, double tolerance) {
    assert_near(l->bounds.lower.x, lower.x, tolerance);
    assert_near(l->bounds.lower.y, lower.y, tolerance);
    assert_near(l->bounds.lower.z, lower.z, tolerance);
    assert_near(l->bounds.upper.x, upper.x, tolerance);
    assert_near(l->bounds.upper.y, upper.y, tolerance);
    assert_near(l->bounds.upper.z, upper.z, tolerance);
}

static inline int count_open_files(void) {
    int count = 0;
    DIR *open_files = opendir("/proc/self/fd");
    assert_non_null(open_files);
    while (readdir(open_files) != NULL) {
        count++;
    }
    closedir(open_files);
    return count;
}

/// No process is left, neither running nor waiting to be collected.
static inline void assert_no_children(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

#endif
