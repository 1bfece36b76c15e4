// SPDX-License-Identifier: Apache-2.0
// A finished mesh as the bytes of a file, in the machine's byte order:
//     entry_header, vertices, extents when there are any, triangles, tetrahedra, then for each further file a
//     entry_file and its name
// The checksum, over all bytes with itself as 0, finds damage. A stranger who can write into the folder could forge it,
// so all numbers are checked once more.
#include <stddef.h>
#include <string.h>

#include <xxhash.h>

#include "geometry/mesh_cache.h"

#define ENTRY_MAGIC "stnmesh\n"

/// Made by the build: changes with every source that has a part in a finished mesh.
extern const char mesh_sources[33];

typedef struct entry_file {
    uint64_t hash[2], size;
    uint32_t name_length, reserved;
} entry_file;

typedef struct entry_header {
    char magic[8];
    char sources[32]; // mesh_sources: another version of the library writes other entries
    uint64_t size, checksum;
    mesh_key key;
    int32_t vertex_count, triangle_count, tetrahedron_count, further_count;
    uint32_t convex, up_axis;
    int32_t given_vertex_count, given_triangle_count, given_tetrahedron_count;
    int32_t degenerate_count, open_edge_count, instance_count;
    int32_t solid_counts[8]; // of stn_solid_facts, in its order
    int32_t has_extents, unused;
    double area, volume, unit, least_quality;
    double mass[13]; // mass, centre, inertia by rows
} entry_header;

_Static_assert(sizeof(entry_header) == 8 + 32 + 16 + 64 + 16 + 8 + 24 + 40 + 32 + 104, "no padding");
_Static_assert(offsetof(stn_solid_facts, least_quality) == 8 * sizeof(int32_t), "the counts, then the quality");
_Static_assert(sizeof(stn_mass) == 13 * sizeof(double), "no padding");

static uint64_t checksum(const char *bytes, size_t size) {
    const size_t place = offsetof(entry_header, checksum), next = place + sizeof(uint64_t);
    return XXH3_64bits(bytes, place) ^ (XXH3_64bits(bytes + next, size - next) * 3);
}

void mesh_entry_seal(const mesh_key *key, char *bytes, size_t size) {
    entry_header h;
    if (size < sizeof h) {
        return;
    }
    memcpy(&h, bytes, sizeof h);
    memcpy(h.magic, ENTRY_MAGIC, sizeof h.magic);
    memcpy(h.sources, mesh_sources, sizeof h.sources);
    h.size = size;
    h.key = *key;
    memcpy(bytes, &h, sizeof h);
    h.checksum = checksum(bytes, size);
    memcpy(bytes, &h, sizeof h);
}

static entry_header describe(const stn_mesh *mesh, const mesh_further_list *further) {
    const stn_mesh_facts *f = &mesh->facts;
    entry_header h = {.magic = {0}};
    h.vertex_count = mesh->vertex_count;
    h.triangle_count = mesh->triangle_count;
    h.tetrahedron_count = mesh->tetrahedron_count;
    h.further_count = further->count;
    h.convex = mesh->convex;
    h.up_axis = (unsigned char)f->up_axis;
    h.given_vertex_count = f->vertex_count;
    h.given_triangle_count = f->triangle_count;
    h.given_tetrahedron_count = f->tetrahedron_count;
    h.degenerate_count = f->degenerate_count;
    h.open_edge_count = f->open_edge_count;
    h.instance_count = f->instance_count;
    memcpy(h.solid_counts, &f->solid, sizeof h.solid_counts);
    h.has_extents = mesh->extents != NULL;
    h.least_quality = f->solid.least_quality;
    h.area = f->area;
    h.volume = f->volume;
    h.unit = f->unit;
    memcpy(h.mass, &mesh->solid, sizeof h.mass);
    return h;
}

static char *put(char *at, const void *bytes, size_t size) {
    if (size > 0) {
        memcpy(at, bytes, size);
    }
    return at + size;
}

static size_t vertex_bytes(int32_t count) {
    return (size_t)count * 3 * sizeof(double);
}

static size_t extent_bytes(int32_t count, bool has_extents) {
    return has_extents ? (size_t)count * sizeof(double) : 0;
}

static size_t corner_bytes(int32_t count, size_t corners) {
    return (size_t)count * corners * sizeof(int32_t);
}

void mesh_entry_encode(stn_context *context, const mesh_key *key, const stn_mesh *mesh,
                       const mesh_further_list *further, char **bytes, size_t *size) {
    *size = sizeof(entry_header) + vertex_bytes(mesh->vertex_count) +
            extent_bytes(mesh->vertex_count, mesh->extents != NULL) + corner_bytes(mesh->triangle_count, 3) +
            corner_bytes(mesh->tetrahedron_count, 4);
    for (int32_t i = 0; i < further->count; i++) {
        *size += sizeof(entry_file) + strlen(further->files[i].name);
    }
    *bytes = stn_allocate(context, *size, 1);
    if (*bytes == NULL) {
        return;
    }
    entry_header h = describe(mesh, further);
    char *at = put(*bytes, &h, sizeof h);
    at = put(at, mesh->vertices, vertex_bytes(mesh->vertex_count));
    at = put(at, mesh->extents, extent_bytes(mesh->vertex_count, mesh->extents != NULL));
    at = put(at, mesh->triangles, corner_bytes(mesh->triangle_count, 3));
    at = put(at, mesh->tetrahedra, corner_bytes(mesh->tetrahedron_count, 4));
    for (int32_t i = 0; i < further->count; i++) {
        const stn_mesh_further *f = &further->files[i];
        entry_file file = {{f->hash[0], f->hash[1]}, f->size, (uint32_t)strlen(f->name), 0};
        at = put(at, &file, sizeof file);
        at = put(at, f->name, file.name_length);
    }
    mesh_entry_seal(key, *bytes, *size);
}

static stn_status check_header(const entry_header *h, const mesh_key *key, const char *bytes, size_t size,
                               stn_error *err) {
    if (memcmp(h->magic, ENTRY_MAGIC, sizeof h->magic) != 0 || h->size != size) {
        return stn_fail(err, STN_ERR_ARGUMENT, "not an entry, or cut off");
    }
    if (memcmp(h->sources, mesh_sources, sizeof h->sources) != 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "written by another version");
    }
    if (h->checksum != checksum(bytes, size)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "damaged: its checksum differs");
    }
    if (memcmp(&h->key, key, sizeof *key) != 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "of another file");
    }
    bool counts = h->vertex_count > 0 && h->triangle_count >= 0 && h->tetrahedron_count >= 0 && h->further_count >= 0 &&
                  h->vertex_count <= STN_MESH_COUNT_MAX && h->triangle_count <= STN_MESH_COUNT_MAX &&
                  h->tetrahedron_count <= STN_MESH_COUNT_MAX && h->further_count <= STN_MESH_FURTHER_MAX;
    if (!counts || h->convex > 1 || h->has_extents < 0 || h->has_extents > 1 || h->up_axis < 'x' || h->up_axis > 'z') {
        return stn_fail(err, STN_ERR_ARGUMENT, "counts out of range");
    }
    return STN_OK;
}

/// The mesh as it lies in the bytes, which are aligned as from the allocator.
static stn_mesh point_at(const entry_header *h, const char *bytes) {
    const char *extents = bytes + vertex_bytes(h->vertex_count);
    const char *triangles = extents + extent_bytes(h->vertex_count, h->has_extents == 1);
    const char *tetrahedra = triangles + corner_bytes(h->triangle_count, 3);
    stn_mesh mesh = {.vertex_count = h->vertex_count,
                     .triangle_count = h->triangle_count,
                     .tetrahedron_count = h->tetrahedron_count,
                     .vertices = (const double *)(const void *)bytes,
                     .triangles = (const int32_t *)(const void *)triangles,
                     .tetrahedra = h->tetrahedron_count > 0 ? (const int32_t *)(const void *)tetrahedra : NULL,
                     .extents = h->has_extents == 1 ? (const double *)(const void *)extents : NULL,
                     .convex = h->convex != 0};
    mesh.facts = (stn_mesh_facts){.vertex_count = h->given_vertex_count,
                                  .triangle_count = h->given_triangle_count,
                                  .tetrahedron_count = h->given_tetrahedron_count,
                                  .degenerate_count = h->degenerate_count,
                                  .open_edge_count = h->open_edge_count,
                                  .area = h->area,
                                  .volume = h->volume,
                                  .unit = h->unit,
                                  .up_axis = (char)h->up_axis,
                                  .instance_count = h->instance_count};
    memcpy(&mesh.facts.solid, h->solid_counts, sizeof h->solid_counts);
    mesh.facts.solid.least_quality = h->least_quality;
    memcpy(&mesh.solid, h->mass, sizeof h->mass);
    return mesh;
}

static stn_status take_further(const char *at, size_t left, int32_t count, mesh_further_list *further, stn_error *err) {
    for (int32_t i = 0; i < count; i++) {
        entry_file file;
        if (left < sizeof file) {
            return stn_fail(err, STN_ERR_ARGUMENT, "further files are cut off");
        }
        memcpy(&file, at, sizeof file);
        at += sizeof file;
        left -= sizeof file;
        if (file.name_length > left) {
            return stn_fail(err, STN_ERR_ARGUMENT, "further files are cut off");
        }
        stn_status status = mesh_further_add(further, at, file.name_length, file.hash, file.size, err);
        if (status != STN_OK) {
            return status;
        }
        at += file.name_length;
        left -= file.name_length;
    }
    return left == 0 ? STN_OK : stn_fail(err, STN_ERR_ARGUMENT, "%zu bytes too many", left);
}

stn_status mesh_entry_decode(stn_context *context, const mesh_key *key, const char *bytes, size_t size, stn_mesh **mesh,
                             mesh_further_list *further, stn_error *err) {
    entry_header h;
    *mesh = NULL;
    *further = (mesh_further_list){.context = context};
    if (size < sizeof h) {
        return stn_fail(err, STN_ERR_ARGUMENT, "cut off");
    }
    memcpy(&h, bytes, sizeof h);
    stn_status status = check_header(&h, key, bytes, size, err);
    if (status != STN_OK) {
        return status;
    }
    size_t numbers = vertex_bytes(h.vertex_count) + extent_bytes(h.vertex_count, h.has_extents == 1) +
                     corner_bytes(h.triangle_count, 3) + corner_bytes(h.tetrahedron_count, 4);
    if (numbers > size - sizeof h) {
        return stn_fail(err, STN_ERR_ARGUMENT, "more numbers than bytes");
    }
    status = take_further(bytes + sizeof h + numbers, size - sizeof h - numbers, h.further_count, further, err);
    if (status == STN_OK) {
        stn_mesh parts = point_at(&h, bytes + sizeof h);
        status = mesh_from_parts(context, &parts, mesh, err);
    }
    if (status != STN_OK) {
        mesh_further_clear(further);
    }
    return status;
}
