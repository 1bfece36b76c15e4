// SPDX-License-Identifier: Apache-2.0
// Files of the mesh cache, sealed so that the checksum does not keep all of them out. Whatever is taken must be a mesh
// of sound indices and finite numbers, and written and read again it must give the same bytes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_maker/cache.h"
#include "must.h"

static void check_ids(const int32_t *ids, int32_t count, size_t width, int32_t vertex_count) {
    for (size_t i = 0; i < (size_t)count * width; i++) {
        must(ids[i] >= 0 && ids[i] < vertex_count);
    }
}

static void check_mesh(const stn_mesh *m) {
    for (size_t i = 0; i < 3 * (size_t)m->vertex_count; i++) {
        must(isfinite(m->vertices[i]));
    }
    check_ids(m->triangles, m->triangle_count, 3, m->vertex_count);
    check_ids(m->tetrahedra, m->tetrahedron_count, 4, m->vertex_count);
    for (int32_t i = 0; m->extents != NULL && i < m->vertex_count; i++) {
        must(m->tetrahedra != NULL);
    }
    must((m->tetrahedra == NULL) == (m->tetrahedron_count == 0));
    must(isfinite(m->solid.mass) && isfinite(m->facts.area) && isfinite(m->facts.volume) && m->facts.unit > 0.0);
}

static void write_again(stn_context *context, const mesh_key *key, const stn_mesh *mesh,
                        const mesh_further_list *further) {
    char *first, *second;
    size_t first_size, second_size;
    stn_mesh *again = NULL;
    mesh_further_list further_again;
    mesh_entry_encode(context, key, mesh, further, &first, &first_size);
    must(mesh_entry_decode(context, key, first, first_size, &again, &further_again, NULL) == STN_OK);
    mesh_entry_encode(context, key, again, &further_again, &second, &second_size);
    must(first_size == second_size && memcmp(first, second, first_size) == 0);
    stn_release(context, first);
    stn_release(context, second);
    mesh_further_clear(&further_again);
    stn_mesh_release(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const mesh_key key = {{1, 2}, 3, {1.0, 1.0, 1.0}, 4, 0, 0};
    stn_context *context = NULL;
    stn_mesh *mesh = NULL;
    mesh_further_list further;
    stn_error err = {STN_OK, ""};
    must(stn_context_create(NULL, &context, NULL) == STN_OK);
    char *bytes = stn_allocate(context, size, 1);
    must(bytes != NULL);
    if (size > 0) {
        memcpy(bytes, data, size);
    }
    if (size > 0 && bytes[0] != '?') { // past the first checks, mostly
        mesh_entry_seal(&key, bytes, size);
    }
    stn_status status = mesh_entry_decode(context, &key, bytes, size, &mesh, &further, &err);
    must((status == STN_OK) == (mesh != NULL) && (status == STN_OK || err.text[0] != '\0'));
    stn_release(context, bytes);
    if (mesh != NULL) {
        reached("accepted");
        check_mesh(mesh);
        write_again(context, &key, mesh, &further);
    }
    stn_mesh_release(mesh);
    mesh_further_clear(&further);
    stn_context_destroy(context);
    return 0;
}
