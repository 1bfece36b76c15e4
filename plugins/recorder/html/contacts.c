// SPDX-License-Identifier: Apache-2.0
// Contacts and patches of frames. A contact that was in the frame before, by its id, is written as a difference to it.
#include <stdlib.h>
#include <string.h>

#include "html.h"

enum { POINT = 0, NORMAL = 3, FORCE = 6, GAP = 9, SLIP_SPEED = 10, GLIDE_GAP = 11 };

/// What is put: a stream each.
enum { LINKS, POINTS, NORMALS, FORCES, GAPS, STATES, GLIDES };
enum { PATCHES, CORNERS, PRESSURES };

void contacts_open(contact_writer *w, stn_context *context, const scene_units *per_unit) {
    *w = (contact_writer){.context = context, .per_unit = *per_unit};
    for (int32_t i = 0; i < CONTACT_STREAMS; i++) {
        w->contact[i].context = context;
    }
    for (int32_t i = 0; i < PATCH_STREAMS; i++) {
        w->patch[i].context = context;
    }
}

void contacts_close(contact_writer *w) {
    for (int32_t i = 0; i < CONTACT_STREAMS; i++) {
        bytes_release(&w->contact[i]);
    }
    for (int32_t i = 0; i < PATCH_STREAMS; i++) {
        bytes_release(&w->patch[i]);
    }
    stn_release(w->context, w->before);
    stn_release(w->context, w->now);
    stn_release(w->context, w->corners_before);
    stn_release(w->context, w->corners_now);
    stn_release(w->context, w->slots);
}

static bool make_room(contact_writer *w, int32_t count) {
    if (count <= w->capacity) {
        return true;
    }
    size_t old = (size_t)w->capacity, capacity = (size_t)count + (size_t)count / 2;
    kept_contact *before = stn_reallocate(w->context, w->before, old, capacity, sizeof *before);
    w->before = before != NULL ? before : w->before;
    kept_contact *now = stn_reallocate(w->context, w->now, old, capacity, sizeof *now);
    w->now = now != NULL ? now : w->now;
    size_t slot_count = 4;
    while (slot_count < 2 * capacity) {
        slot_count *= 2;
    }
    int32_t *slots = stn_reallocate(w->context, w->slots, (size_t)w->slot_count, slot_count, sizeof *slots);
    w->slots = slots != NULL ? slots : w->slots;
    if (before == NULL || now == NULL || slots == NULL) {
        return false;
    }
    w->capacity = (int32_t)capacity;
    w->slot_count = (int32_t)slot_count;
    return true;
}

static bool make_room_for_corners(contact_writer *w, int32_t count) {
    if (count <= w->corner_capacity) {
        return true;
    }
    size_t old = (size_t)w->corner_capacity, capacity = (size_t)count + (size_t)count / 2;
    kept_corner *before = stn_reallocate(w->context, w->corners_before, old, capacity, sizeof *before);
    w->corners_before = before != NULL ? before : w->corners_before;
    kept_corner *now = stn_reallocate(w->context, w->corners_now, old, capacity, sizeof *now);
    w->corners_now = now != NULL ? now : w->corners_now;
    if (before == NULL || now == NULL) {
        return false;
    }
    w->corner_capacity = (int32_t)capacity;
    return true;
}

// ------------------------------------------------------------------------------------------------------------ links

/// Ids are hashes already.
static int32_t first_slot(const contact_writer *w, uint64_t id) {
    return (int32_t)((id ^ id >> 32) & (uint64_t)(w->slot_count - 1));
}

/// Index in the frame before, -1: it was not there. Mostly it is the one that is expected.
static int32_t find(contact_writer *w, uint64_t id, int32_t expected) {
    if (expected < w->before_count && w->before[expected].id == id) {
        return expected;
    }
    if (!w->hashed) {
        w->hashed = true;
        memset(w->slots, 0, (size_t)w->slot_count * sizeof *w->slots);
        for (int32_t i = 0; i < w->before_count; i++) {
            int32_t slot = first_slot(w, w->before[i].id);
            while (w->slots[slot] != 0) {
                slot = (slot + 1) & (w->slot_count - 1);
            }
            w->slots[slot] = i + 1;
        }
    }
    for (int32_t slot = first_slot(w, id); w->slots[slot] != 0; slot = (slot + 1) & (w->slot_count - 1)) {
        if (w->before[w->slots[slot] - 1].id == id) {
            return w->slots[slot] - 1;
        }
    }
    return -1;
}

// ---------------------------------------------------------------------------------------------------------- numbers

static void quantise_vector(stn_vec3 value, double per_unit, const int64_t *otherwise, int64_t *number) {
    number[0] = quantise(value.x, per_unit, otherwise[0]);
    number[1] = quantise(value.y, per_unit, otherwise[1]);
    number[2] = quantise(value.z, per_unit, otherwise[2]);
}

static uint8_t *write_numbers(uint8_t *at, const int64_t *number, const int64_t *from, int32_t start, int32_t count) {
    for (int32_t k = start; k < start + count; k++) {
        at = write_s(at, number[k] - from[k]);
    }
    return at;
}

/// All contacts of a frame, with one look for room; false: out of memory, and nothing is put.
static bool add_touches(contact_writer *w, const moment *m) {
    static const int64_t nothing[CONTACT_NUMBERS] = {0};
    static const size_t numbers[CONTACT_STREAMS] = {
        [LINKS] = 3, [POINTS] = 3, [NORMALS] = 3, [FORCES] = 3, [GAPS] = 2, [STATES] = 1, [GLIDES] = 1};
    uint8_t *at[CONTACT_STREAMS]; // where each stream goes on
    bool room = true;
    for (int32_t i = 0; i < CONTACT_STREAMS; i++) {
        at[i] = bytes_reserve(&w->contact[i], ((size_t)m->touch_count * numbers[i] + 1) * NUMBER_MAX);
        room = room && at[i] != NULL;
    }
    if (!room) {
        return false;
    }
    int32_t expected = 0;
    at[LINKS] = write_u(at[LINKS], (uint64_t)m->touch_count);
    for (int32_t i = 0; i < m->touch_count; i++) {
        const touch *t = &m->touches[i];
        kept_contact *kept = &w->now[i];
        int32_t linked = find(w, t->id, expected);
        const int64_t *from = linked >= 0 ? w->before[linked].number : nothing;
        if (linked >= 0) {
            at[LINKS] = write_u(at[LINKS], 1 + zigzag((int64_t)linked - expected));
            expected = linked + 1;
        } else {
            at[LINKS] = write_u(at[LINKS], 0);
            at[LINKS] = write_u(at[LINKS], (uint64_t)t->geometry_a);
            at[LINKS] = write_u(at[LINKS], (uint64_t)t->geometry_b);
        }
        kept->id = t->id;
        kept->linked = linked;
        kept->corner_start = kept->corner_count = 0;
        int64_t *number = kept->number;
        quantise_vector(t->point, w->per_unit.length, from + POINT, number + POINT);
        quantise_vector(t->normal, w->per_unit.normal, from + NORMAL, number + NORMAL);
        quantise_vector(t->force, w->per_unit.force, from + FORCE, number + FORCE);
        number[GAP] = quantise(t->gap, w->per_unit.length, from[GAP]);
        number[SLIP_SPEED] = quantise(t->slip_speed, w->per_unit.velocity, from[SLIP_SPEED]);
        number[GLIDE_GAP] = quantise(t->glide_gap, w->per_unit.length, from[GLIDE_GAP]);
        at[POINTS] = write_numbers(at[POINTS], number, from, POINT, 3);
        at[NORMALS] = write_numbers(at[NORMALS], number, from, NORMAL, 3);
        at[FORCES] = write_numbers(at[FORCES], number, from, FORCE, 3);
        at[GAPS] = write_numbers(at[GAPS], number, from, GAP, 2);
        at[STATES] = write_u(at[STATES], (uint64_t)t->state);
        if ((t->state & ~TOUCH_IN_PATCH) == STN_CONTACT_SLIP) {
            at[GLIDES] = write_numbers(at[GLIDES], number, from, GLIDE_GAP, 1);
        }
    }
    for (int32_t i = 0; i < CONTACT_STREAMS; i++) {
        w->contact[i].count = (size_t)(at[i] - w->contact[i].data);
    }
    return true;
}

// ------------------------------------------------------------------------------------------------------------ faces

/// A float's bits but for the last 11: a number whose differences are parts of 2^-12 of the pressure, and 0 where it
/// stays.
static int64_t pressure_number(double pressure) {
    float value = fabs(pressure) < 1e38 ? (float)pressure : 0.0f;
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits + 0x400) >> 11;
}

/// Differences that the corners of a face have to those of the linked contact, when it had as many; else each to the
/// corner before.
static void add_face(contact_writer *w, const moment *m, int32_t contact) {
    const touch *t = &m->touches[contact];
    kept_contact *face = &w->now[contact];
    const kept_contact *linked = face->linked >= 0 ? &w->before[face->linked] : NULL;
    const kept_corner *old =
        linked != NULL && linked->corner_count == t->vertex_count ? w->corners_before + linked->corner_start : NULL;
    face->corner_start = t->vertex_start;
    face->corner_count = t->vertex_count;
    bytes_put_u(&w->patch[PATCHES], (uint64_t)t->vertex_count);
    int64_t last[3], last_pressure = 0;
    memcpy(last, face->number + POINT, sizeof last);
    for (int32_t i = 0; i < t->vertex_count; i++) {
        kept_corner *corner = &w->corners_now[t->vertex_start + i];
        int64_t at[3];
        quantise_vector(m->vertices[t->vertex_start + i], w->per_unit.length, last, at);
        for (int32_t c = 0; c < 3; c++) {
            int64_t from_last = at[c] - last[c];
            corner->from_last[c] = llabs(from_last) < ((int64_t)1 << 50) ? from_last : 0; // of 53 bits both ways
            last[c] += corner->from_last[c];
            bytes_put_s(&w->patch[CORNERS], corner->from_last[c] - (old != NULL ? old[i].from_last[c] : 0));
        }
        corner->pressure = pressure_number(m->pressure[t->vertex_start + i]);
        bytes_put_s(&w->patch[PRESSURES], corner->pressure - (old != NULL ? old[i].pressure : last_pressure));
        last_pressure = corner->pressure;
    }
}

// ----------------------------------------------------------------------------------------------------------- frames

stn_status contacts_add(contact_writer *w, const moment *m, stn_error *err) {
    w->hashed = false;
    if (!make_room(w, m->touch_count > 0 ? m->touch_count : 1) || !make_room_for_corners(w, m->vertex_count) ||
        !add_touches(w, m)) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d contacts", (int)m->touch_count);
    }
    bytes_put_u(&w->patch[PATCHES], (uint64_t)m->patch_count);
    for (int32_t p = 0; p < m->patch_count; p++) {
        const stn_patch *patch = &m->patches[p];
        bytes_put_u(&w->patch[PATCHES], (uint64_t)patch->geometry_a);
        bytes_put_u(&w->patch[PATCHES], (uint64_t)patch->geometry_b);
        bytes_put_u(&w->patch[PATCHES], (uint64_t)patch->contact_start);
        bytes_put_u(&w->patch[PATCHES], (uint64_t)patch->contact_count);
        for (int32_t i = patch->contact_start; i < patch->contact_start + patch->contact_count; i++) {
            add_face(w, m, i);
        }
    }
    kept_contact *last = w->before;
    w->before = w->now;
    w->now = last;
    kept_corner *last_corners = w->corners_before;
    w->corners_before = w->corners_now;
    w->corners_now = last_corners;
    w->before_count = m->touch_count;
    return STN_OK;
}

void streams_write(bytes *streams, int32_t count, bytes *out) {
    uint64_t size = 0;
    for (int32_t i = 0; i < count; i++) {
        size += streams[i].count + 1; // the length of a length grows with it:
        for (size_t rest = streams[i].count; rest >= 0x80; rest >>= 7) {
            size++;
        }
    }
    bytes_put_u(out, size);
    for (int32_t i = 0; i < count; i++) {
        bytes_put_stream(out, &streams[i]);
        bytes_clear(&streams[i]);
    }
}

void contacts_write(contact_writer *w, bytes *out) {
    streams_write(w->contact, CONTACT_STREAMS, out);
    streams_write(w->patch, PATCH_STREAMS, out);
    w->before_count = 0;
}
