// SPDX-License-Identifier: Apache-2.0
// Clearances that flat pieces eat. Where a contact model acts on flat pieces in place of round shapes, their corners
// stand out (stn_contact_ops.surface_error): a peg may be held in a hole that is wide enough for it. So patches under
// pressure between such shapes are held against the distance of the shapes themselves:
//   in the first step, where what was placed apart presses;
//   later after 32, 64, 128, ... steps of contact, where it is still apart at the third look (what lands, or is closed
//   slowly, is so for some steps on its way) and is held by such patches from opposite sides: what merely rests on a
//   corner is out of place by what that stands out, and loses no clearance.
// One warning for each two kinds of shapes.
#include "world/clearance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world/gap.h"

enum { WATCHED = 256, KINDS = 16, FIRST_LOOK = 32, LOOKS = 3 };

/// Distances below this share of what stands out are none; shapes whose pieces press are not further apart than a few
/// times that.
static const double least_share = 0.01, most_share = 16.0;

typedef struct watched_pair {
    uint64_t pair;        // a << 32 | b
    int64_t last;         // step of the world in which it pressed
    int32_t steps, apart; // without a break; looks that found it apart
} watched_pair;

struct clearance_watch {
    watched_pair pair[WATCHED]; // by hash: of two at one place the newer one counts
    uint64_t told[KINDS];
    int32_t told_count;
    stn_surface_error error[]; // by geometry
};

stn_status stn_clearance_prepare(stn_world *world, stn_error *err) {
    const stn_contact_ops *ops = world->setup->plugin[STN_KIND_CONTACT]->desc->ops.contact;
    const size_t count = (size_t)world->setup->model->geometry_count, size = sizeof(stn_surface_error);
    if (!STN_PLUGIN_HAS(ops, surface_error)) {
        return STN_OK;
    }
    struct clearance_watch *w = stn_allocate(world->services.context, 1, sizeof *w + count * size);
    if (w == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d shapes", (int)world->setup->model->geometry_count);
    }
    bool any = false;
    for (size_t g = 0; g < count; g++) {
        ops->surface_error(world->services.contact_prepared, (int32_t)g, &w->error[g]);
        any = any || w->error[g].outward > 0.0;
    }
    if (!any) {
        stn_release(world->services.context, w);
        return STN_OK;
    }
    world->services.clearances = w;
    return STN_OK;
}

void stn_clearance_inherit(const step_services *from, step_services *to) {
    if (from->clearances != NULL && to->clearances != NULL) {
        memcpy(to->clearances->told, from->clearances->told, sizeof to->clearances->told);
        to->clearances->told_count = from->clearances->told_count;
    }
}

static bool presses(const stn_contact_set *set, const stn_patch *patch) {
    bool any = false;
    for (int32_t i = 0; i < patch->contact_count && !any; i++) {
        any = set->contacts[patch->contact_start + i].pressure > 0.0;
    }
    return any;
}

static uint64_t pair_of(const stn_patch *patch) {
    return (uint64_t)patch->geometry_a << 32 | (uint64_t)patch->geometry_b;
}

/// Where it is noted, or is to be in place of another one.
static watched_pair *place_of(struct clearance_watch *w, const stn_patch *patch) {
    const uint64_t pair = pair_of(patch);
    return &w->pair[stn_hash(0, &pair, sizeof pair) % WATCHED];
}

/// Do forces of patches of shapes that are apart cancel each other on the geometry, by half at least?
static bool is_held(const step_frame *frame, struct clearance_watch *w, int32_t geometry) {
    const stn_contact_set *set = &frame->contacts;
    stn_vec3 sum = stn_vec3_zero();
    double all = 0.0;
    for (int32_t i = 0; i < set->patch_count; i++) {
        const stn_patch *patch = &set->patches[i];
        const watched_pair *p = place_of(w, patch);
        if ((patch->geometry_a != geometry && patch->geometry_b != geometry) || p->pair != pair_of(patch) ||
            p->apart == 0) {
            continue;
        }
        for (int32_t k = 0; k < patch->contact_count; k++) {
            const stn_contact *c = &set->contacts[patch->contact_start + k];
            double force = c->area * fmax(0.0, c->pressure);
            sum = stn_vec3_mul_add(sum, patch->geometry_b == geometry ? force : -force, c->normal);
            all += force;
        }
    }
    return stn_vec3_norm(sum) < 0.5 * all;
}

/// Is it the first of two such shapes? Then they are noted.
static bool is_new(const step_setup *setup, struct clearance_watch *w, const stn_patch *patch) {
    const int32_t sides[] = {patch->geometry_a, patch->geometry_b};
    uint64_t kind = 0; // of the round shapes among the two, and of the type of the others
    for (int32_t i = 0; i < 2; i++) {
        const stn_shape *s = &setup->model->geometries[sides[i]].shape;
        const stn_surface_error *e = &w->error[sides[i]];
        const double sizes[] = {(double)s->type,   s->radius,         s->half_length, s->half_extents.x,
                                s->half_extents.y, s->half_extents.z, e->resolution};
        kind += stn_hash(0, sizes, e->outward > 0.0 ? sizeof sizes : sizeof sizes[0]); // in either order
    }
    for (int32_t i = 0; i < w->told_count; i++) {
        if (w->told[i] == kind) {
            return false;
        }
    }
    if (w->told_count == KINDS) {
        return false;
    }
    w->told[w->told_count++] = kind;
    return true;
}

static void tell(const step_setup *setup, const state_view *state, const struct clearance_watch *w,
                 const stn_patch *patch, double gap) {
    const int32_t geometry[] = {patch->geometry_a, patch->geometry_b};
    char name[2][160], sides[640] = ""; // " 0.1 m out of NAME (its resolution is 5 m; 2 m leaves half of the gap)"
    size_t length = 0;
    double share = fmin(1.0, 0.5 * gap / (w->error[geometry[0]].outward + w->error[geometry[1]].outward));
    for (int32_t i = 0; i < 2; i++) {
        const stn_surface_error *e = &w->error[geometry[i]];
        stn_describe_geometry(setup->model, geometry[i], name[i], sizeof name[i]);
        if (e->outward > 0.0) {
            length += (size_t)snprintf(sides + length, sizeof sides - length,
                                       "%s %.3g m out of %s (its resolution is %.3g m; %.2g m leaves half of the gap)",
                                       length > 0 ? " and" : "", e->outward, name[i], e->resolution,
                                       e->resolution * sqrt(share));
        }
    }
    stn_log(setup->context, STN_LOG_WARNING,
            "%s and %s press on each other at t = %.4g s, though they are %.3g m apart: patches act on flat pieces, "
            "whose corners stand%s",
            name[0], name[1], state->time, gap, sides);
}

void stn_clearance_look(const step_setup *setup, const state_view *state, step_frame *frame, step_services *services) {
    struct clearance_watch *w = services->clearances;
    const stn_contact_set *set = &frame->contacts;
    for (int32_t i = 0; w != NULL && i < set->patch_count; i++) {
        const stn_patch *patch = &set->patches[i];
        const int32_t a = patch->geometry_a, b = patch->geometry_b;
        double outward = w->error[a].outward + w->error[b].outward;
        if (!(outward > 0.0) || !presses(set, patch)) {
            continue;
        }
        watched_pair *p = place_of(w, patch);
        if (p->pair != pair_of(patch) || p->last != state->step - 1) {
            *p = (watched_pair){.pair = pair_of(patch)};
        }
        p->last = state->step;
        p->steps += p->steps < INT32_MAX;
        bool power = (p->steps & (p->steps - 1)) == 0, first = !services->start_checked;
        if (!first && !(p->steps >= FIRST_LOOK && power)) {
            continue;
        }
        double gap = stn_step_gap(setup, state, frame, services, a, b, most_share * outward);
        p->apart = gap > least_share * outward ? p->apart + 1 : 0;
        bool eaten = first ? p->apart > 0
                           : p->apart >= LOOKS && ((w->error[a].outward > 0.0 && is_held(frame, w, a)) ||
                                                   (w->error[b].outward > 0.0 && is_held(frame, w, b)));
        if (eaten && is_new(setup, w, patch)) {
            tell(setup, state, w, patch, gap);
        }
    }
}
