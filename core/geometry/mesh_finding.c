// SPDX-License-Identifier: Apache-2.0
// What was found in tetrahedra, in words.
#include <stdarg.h>
#include <stdio.h>

#include "geometry/mesh.h"

/// Below it a tetrahedron is so flat that pressures in it are rough.
static const double poor_quality = 1e-3;

typedef struct asked {
    int32_t left; // findings before the one that is wanted
    stn_mesh_finding *out;
    bool found;
} asked;

static void tell(asked *a, bool holds, bool warning, const char *code, const char *format, ...) STN_PRINTF(5, 6);

static void tell(asked *a, bool holds, bool warning, const char *code, const char *format, ...) {
    if (!holds || a->found || a->left-- > 0) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(a->out->text, sizeof a->out->text, format, arguments);
    va_end(arguments);
    a->out->warning = warning;
    a->out->code = code;
    a->found = true;
}

bool stn_mesh_finding_of(const stn_mesh *mesh, int32_t index, stn_mesh_finding *out) {
    const stn_solid_facts *f = &mesh->facts.solid;
    asked a = {index, out, false};
    int32_t count = mesh->facts.tetrahedron_count;
    bool all = f->inverted_count == count - f->flat_count - f->duplicate_count;
    if (index < 0) {
        return false;
    }
    tell(&a, f->inverted_count > 0, !all, "inverted_tetrahedra", "%d of %d tetrahedra are inverted: turned round",
         f->inverted_count, count);
    tell(&a, f->flat_count > 0, true, "flat_tetrahedra", "%d of %d tetrahedra have no volume: dropped", f->flat_count,
         count);
    tell(&a, f->duplicate_count > 0, true, "repeated_tetrahedra",
         "%d of %d tetrahedra repeat the corners of others: dropped", f->duplicate_count, count);
    tell(&a, f->raised_count > 0, true, "raised_field",
         "its field extent is not 0 at %d vertices of the surface: it is taken as 0 there", f->raised_count);
    tell(&a, count > 0 && f->least_quality < poor_quality, true, "poor_tetrahedra",
         "its worst tetrahedron has a quality of %.1g (1: regular, 0: flat): pressures in such are rough, mesh it anew",
         f->least_quality);
    tell(&a, f->touching_count > 0, false, "touching_surface",
         "the solid touches itself at %d vertices of its surface, where its pressure is 0", f->touching_count);
    tell(&a, f->part_count > 1, false, "parts", "its tetrahedra are %d parts that share no face", f->part_count);
    tell(&a, f->curved_count > 0, false, "curved_elements",
         "%d elements of higher order are read by their corners: edges are straight", f->curved_count);
    tell(&a, f->unused_count > 0 && f->curved_count == 0, false, "unused_vertices",
         "%d vertices that no tetrahedron has are dropped", f->unused_count);
    return a.found;
}
