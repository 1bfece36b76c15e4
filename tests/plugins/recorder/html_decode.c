// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "html_decode.h"

typedef struct reader {
    const uint8_t *at, *end;
} reader;

/// Everything that was read, given back at once.
typedef struct piece {
    struct piece *next;
    max_align_t memory[];
} piece;

static piece *pieces;
static decoded *recordings;

/// Zeroed, for one more than asked.
static void *make(int64_t count, size_t size) {
    piece *made = calloc(1, sizeof *made + ((size_t)count + 1) * size);
    assert_non_null(made);
    made->next = pieces;
    pieces = made;
    return made->memory;
}

static void *extended(const void *memory, int64_t old_count, int64_t more, size_t size) {
    void *made = make(old_count + more, size);
    if (old_count > 0) {
        memcpy(made, memory, (size_t)old_count * size);
    }
    return made;
}

void forget_recordings(void) {
    for (decoded *d = recordings; d != NULL; d = d->next) {
        cJSON_Delete(d->scene);
        cJSON_Delete(d->end);
    }
    while (pieces != NULL) {
        piece *next = pieces->next;
        free(pieces);
        pieces = next;
    }
    recordings = NULL;
}

// --------------------------------------------------------------------------------------------------------- numbers

static uint64_t read_u(reader *r) {
    uint64_t value = 0;
    for (int32_t shift = 0;; shift += 7) {
        assert_true(r->at < r->end && shift < 56);
        value |= (uint64_t)(*r->at & 0x7f) << shift;
        if ((*r->at++ & 0x80) == 0) {
            assert_true(value < UINT64_C(1) << 53);
            return value;
        }
    }
}

static int64_t read_s(reader *r) {
    uint64_t value = read_u(r);
    return value % 2 == 0 ? (int64_t)(value / 2) : -(int64_t)(value / 2) - 1;
}

static int32_t read_count(reader *r) {
    uint64_t value = read_u(r);
    assert_true(value < 1 << 24);
    return (int32_t)value;
}

static void read_raw(reader *r, void *to, size_t size) {
    assert_true((size_t)(r->end - r->at) >= size);
    memcpy(to, r->at, size);
    r->at += size;
}

static double read_f64(reader *r) {
    double value;
    read_raw(r, &value, sizeof value);
    return value;
}

static reader read_stream(reader *r) {
    uint64_t size = read_u(r);
    assert_true(size <= (uint64_t)(r->end - r->at));
    reader stream = {r->at, r->at + size};
    r->at += size;
    return stream;
}

static char *read_text(reader *r) {
    reader text = read_stream(r);
    char *copy = make(text.end - text.at, 1);
    memcpy(copy, text.at, (size_t)(text.end - text.at));
    return copy;
}

/// Numbers as byte planes.
static void read_planes(reader *r, void *to, int32_t count, size_t size) {
    for (size_t plane = 0; plane < size; plane++) {
        for (int32_t i = 0; i < count; i++) {
            read_raw(r, (uint8_t *)to + (size_t)i * size + plane, 1);
        }
    }
}

// ----------------------------------------------------------------------------------------------------------- scene

static double unit(const decoded *d, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(d->scene, "units"), name);
    assert_true(cJSON_IsNumber(item) && item->valuedouble > 0.0);
    return item->valuedouble;
}

/// Nodes that turn; clouds must follow each other.
static int32_t count_turning(const cJSON *scene, int32_t node_count) {
    int32_t turning = 0, next = 0;
    const cJSON *cloud;
    cJSON_ArrayForEach(cloud, cJSON_GetObjectItemCaseSensitive(scene, "clouds")) {
        assert_true(cJSON_IsString(cJSON_GetObjectItemCaseSensitive(cloud, "name")));
        assert_int_equal(cJSON_GetObjectItemCaseSensitive(cloud, "first_node")->valueint, next);
        const int32_t count = cJSON_GetObjectItemCaseSensitive(cloud, "node_count")->valueint;
        turning += cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(cloud, "turns")) ? count : 0;
        next += count;
    }
    assert_int_equal(next, node_count);
    return turning;
}

static void read_scene(decoded *d, reader r) {
    assert_null(d->scene);
    d->scene = cJSON_ParseWithLength((const char *)r.at, (size_t)(r.end - r.at));
    assert_non_null(d->scene);
    const char *format = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(d->scene, "format"));
    assert_string_equal(format, "stiction-recording-1");
    d->length = unit(d, "length");
    d->rotation = unit(d, "rotation");
    d->velocity = unit(d, "velocity");
    d->angular_velocity = unit(d, "angular_velocity");
    d->force = unit(d, "force");
    d->normal = unit(d, "normal");
    d->body_count = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(d->scene, "bodies"));
    d->constraint_count = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(d->scene, "constraints"));
    d->node_count = cJSON_GetObjectItemCaseSensitive(d->scene, "node_count")->valueint;
    d->turning_count = count_turning(d->scene, d->node_count);
    const cJSON *colors = cJSON_GetObjectItemCaseSensitive(d->scene, "colors");
    d->colored_count = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(colors, "nodes"));
}

static void read_mesh(decoded *d, reader r) {
    assert_true(d->mesh_count < 16);
    decoded_mesh *m = &d->meshes[d->mesh_count++];
    m->vertex_count = read_count(&r);
    m->triangle_count = read_count(&r);
    m->vertices = make(3 * m->vertex_count, sizeof *m->vertices);
    m->triangles = make(3 * m->triangle_count, sizeof *m->triangles);
    double lower[3], size[3];
    read_raw(&r, lower, sizeof lower);
    read_raw(&r, size, sizeof size);
    for (int32_t axis = 0; axis < 3; axis++) {
        int64_t last = 0;
        for (int32_t i = 0; i < m->vertex_count; i++) {
            last += read_s(&r);
            m->vertices[3 * i + axis] = lower[axis] + size[axis] * (double)last / 65535.0;
        }
    }
    int64_t last = 0;
    for (int32_t i = 0; i < 3 * m->triangle_count; i++) {
        last += read_s(&r);
        assert_in_range(last, 0, m->vertex_count - 1);
        m->triangles[i] = (int32_t)last;
    }
    assert_ptr_equal(r.at, r.end);
}

// ---------------------------------------------------------------------------------------------------------- frames

typedef enum part { BODIES, NODES, TURNS, VALUES } part;

static double *numbers_of(decoded_frame *frame, part of) {
    double *numbers[] = {[BODIES] = frame->body, [NODES] = frame->node, [TURNS] = frame->turn, [VALUES] = frame->value};
    return numbers[of];
}

static void read_column(reader *r, decoded_frame *frames, int32_t count, part of, int32_t place, double step) {
    int64_t value = 0;
    for (int32_t f = 0; f < count; f++) {
        value += read_s(r);
        numbers_of(&frames[f], of)[place] = (double)value * step;
    }
}

static void read_poses(const decoded *d, reader *r, decoded_frame *frames, int32_t count) {
    const double steps[13] = {d->length,           d->length,           d->length,          d->rotation, d->rotation,
                              d->rotation,         d->rotation,         d->velocity,        d->velocity, d->velocity,
                              d->angular_velocity, d->angular_velocity, d->angular_velocity};
    for (int32_t f = 0; f < count; f++) {
        frames[f].body = make(13 * d->body_count, sizeof(double));
        frames[f].node = make(3 * d->node_count, sizeof(double));
        frames[f].turn = make(4 * d->turning_count, sizeof(double));
        frames[f].value = make(d->colored_count, sizeof(double));
    }
    for (int32_t i = 0; i < 13 * (d->body_count - 1); i++) {
        read_column(r, frames, count, BODIES, i, steps[i % 13]);
    }
    for (int32_t i = 0; i < 3 * d->node_count; i++) {
        read_column(r, frames, count, NODES, i, d->length);
    }
    for (int32_t i = 0; i < 4 * d->turning_count; i++) {
        read_column(r, frames, count, TURNS, i, d->rotation);
    }
}

static void read_colors(decoded *d, reader *r, decoded_frame *frames, int32_t count) {
    reader stream = read_stream(r);
    d->value_unit = read_f64(&stream);
    assert_true(d->value_unit > 0.0);
    for (int32_t i = 0; i < d->colored_count; i++) {
        read_column(&stream, frames, count, VALUES, i, d->value_unit);
    }
    assert_ptr_equal(stream.at, stream.end);
}

static void read_vector(reader *r, const double *from, double step, double *to) {
    for (int32_t k = 0; k < 3; k++) {
        to[k] = (from != NULL ? from[k] : 0.0) + (double)read_s(r) * step;
    }
}

static void read_contacts_of(const decoded *d, reader stream[7], const decoded_frame *before, decoded_frame *frame) {
    frame->contact_count = read_count(&stream[0]);
    frame->contacts = make(frame->contact_count, sizeof *frame->contacts);
    int64_t expected = 0;
    for (int32_t i = 0; i < frame->contact_count; i++) {
        decoded_contact *c = &frame->contacts[i];
        const decoded_contact *from = NULL;
        uint64_t link = read_u(&stream[0]);
        c->linked = -1;
        if (link == 0) {
            c->geometry_a = read_count(&stream[0]);
            c->geometry_b = read_count(&stream[0]);
        } else {
            int64_t shift = (link - 1) % 2 == 0 ? (int64_t)(link - 1) / 2 : -(int64_t)(link - 1) / 2 - 1;
            assert_non_null(before); // never in the first frame of a block
            assert_in_range(expected + shift, 0, before->contact_count - 1);
            c->linked = (int32_t)(expected + shift);
            from = &before->contacts[c->linked];
            c->geometry_a = from->geometry_a;
            c->geometry_b = from->geometry_b;
            expected = c->linked + 1;
        }
        read_vector(&stream[1], from != NULL ? from->point : NULL, d->length, c->point);
        read_vector(&stream[2], from != NULL ? from->normal : NULL, d->normal, c->normal);
        read_vector(&stream[3], from != NULL ? from->force : NULL, d->force, c->force);
        c->gap = (from != NULL ? from->gap : 0.0) + (double)read_s(&stream[4]) * d->length;
        c->slip_speed = (from != NULL ? from->slip_speed : 0.0) + (double)read_s(&stream[4]) * d->velocity;
        c->state = read_count(&stream[5]);
        c->glide_gap = 0.0;
        if (c->state % 4 == 2) {
            c->glide_gap = (from != NULL ? from->glide_gap : 0.0) + (double)read_s(&stream[6]) * d->length;
        }
    }
}

static void read_face(const decoded *d, reader stream[3], const decoded_contact *contact, const decoded_face *before,
                      decoded_face *face) {
    face->corner_count = read_count(&stream[0]);
    face->corner = make(face->corner_count, sizeof *face->corner);
    face->pressure = make(face->corner_count, sizeof *face->pressure);
    face->pressure_number = make(face->corner_count, sizeof *face->pressure_number);
    before = before != NULL && before->corner_count == face->corner_count ? before : NULL;
    const double *from = contact->point;
    for (int32_t i = 0; i < face->corner_count; i++) {
        double rest[3] = {0.0, 0.0, 0.0};
        if (before != NULL) {
            const double *last = i > 0 ? before->corner[i - 1] : before->of->point;
            for (int32_t k = 0; k < 3; k++) {
                rest[k] = before->corner[i][k] - last[k];
            }
        }
        read_vector(&stream[1], rest, d->length, face->corner[i]);
        for (int32_t k = 0; k < 3; k++) {
            face->corner[i][k] += from[k];
        }
        from = face->corner[i];
        int64_t base = before != NULL ? before->pressure_number[i] : i > 0 ? face->pressure_number[i - 1] : 0;
        face->pressure_number[i] = (int32_t)(base + read_s(&stream[2]));
        uint32_t bits = (uint32_t)face->pressure_number[i] << 11;
        memcpy(&face->pressure[i], &bits, sizeof bits);
    }
}

static void read_patches_of(const decoded *d, reader stream[3], const decoded_frame *before, decoded_frame *frame) {
    frame->patch_count = read_count(&stream[0]);
    frame->patches = make(frame->patch_count, sizeof *frame->patches);
    for (int32_t p = 0; p < frame->patch_count; p++) {
        decoded_patch *patch = &frame->patches[p];
        patch->geometry_a = read_count(&stream[0]);
        patch->geometry_b = read_count(&stream[0]);
        patch->first_contact = read_count(&stream[0]);
        patch->face_count = read_count(&stream[0]);
        patch->faces = make(patch->face_count, sizeof *patch->faces);
        assert_true(patch->first_contact + patch->face_count <= frame->contact_count);
        for (int32_t i = 0; i < patch->face_count; i++) {
            decoded_contact *contact = &frame->contacts[patch->first_contact + i];
            contact->face = &patch->faces[i];
            patch->faces[i].of = contact;
            read_face(d, stream, contact, contact->linked >= 0 ? before->contacts[contact->linked].face : NULL,
                      &patch->faces[i]);
        }
    }
}

static void read_lines_of(const decoded *d, reader stream[2], decoded_frame *frame) {
    frame->lines = make(d->constraint_count, sizeof *frame->lines);
    for (int32_t i = 0; i < d->constraint_count; i++) {
        decoded_line *line = &frame->lines[i];
        uint64_t slack = read_u(&stream[0]);
        assert_in_range(slack, 0, 1);
        line->slack = slack == 1;
        line->force = (double)read_s(&stream[0]) * d->force;
        line->point_count = read_count(&stream[0]);
        line->point = make(line->point_count, sizeof *line->point);
        for (int32_t k = 0; k < line->point_count; k++) {
            read_vector(&stream[1], k > 0 ? line->point[k - 1] : NULL, d->length, line->point[k]);
        }
    }
}

static void read_streams(reader *r, int32_t count, reader *streams) {
    reader all = read_stream(r);
    for (int32_t i = 0; i < count; i++) {
        streams[i] = read_stream(&all);
    }
    assert_ptr_equal(all.at, all.end);
}

static void read_frames(decoded *d, reader r) {
    int32_t count = read_count(&r);
    assert_true(count > 0);
    d->frames = extended(d->frames, d->frame_count, count, sizeof *d->frames);
    decoded_frame *frames = d->frames + d->frame_count;
    int64_t step = 0;
    for (int32_t f = 0; f < count; f++) {
        step += (int64_t)read_u(&r);
        frames[f].step = step;
    }
    for (int32_t f = 0; f < count; f++) {
        frames[f].time = read_f64(&r);
    }
    read_poses(d, &r, frames, count);
    reader contacts[7], patches[3], lines[2] = {0};
    read_streams(&r, 7, contacts);
    read_streams(&r, 3, patches);
    if (d->constraint_count > 0) {
        read_streams(&r, 2, lines);
    }
    if (d->colored_count > 0) {
        read_colors(d, &r, frames, count);
    }
    assert_ptr_equal(r.at, r.end);
    for (int32_t f = 0; f < count; f++) {
        read_contacts_of(d, contacts, f > 0 ? &frames[f - 1] : NULL, &frames[f]);
        read_patches_of(d, patches, f > 0 ? &frames[f - 1] : NULL, &frames[f]);
        read_lines_of(d, lines, &frames[f]);
    }
    for (int32_t i = 0; i < 7; i++) {
        assert_ptr_equal(contacts[i].at, contacts[i].end);
        assert_true(i >= 3 || patches[i].at == patches[i].end);
        assert_true(i >= 2 || lines[i].at == lines[i].end);
    }
    d->frame_count += count;
    d->frame_blocks++;
}

// ---------------------------------------------------------------------------------------------------------- series

static decoded_series *series_named(decoded *d, char *name, char *series_unit) {
    for (int32_t i = 0; i < d->series_count; i++) {
        if (strcmp(d->series[i].name, name) == 0) {
            assert_string_equal(d->series[i].unit, series_unit);
            return &d->series[i];
        }
    }
    d->series = extended(d->series, d->series_count, 1, sizeof *d->series);
    d->series[d->series_count] = (decoded_series){.name = name, .unit = series_unit};
    return &d->series[d->series_count++];
}

static void extend(decoded *d, int32_t count) {
    d->step = extended(d->step, d->point_count, count, sizeof *d->step);
    d->time = extended(d->time, d->point_count, count, sizeof *d->time);
    for (int32_t s = 0; s < d->series_count; s++) {
        d->series[s].values = extended(d->series[s].values, d->point_count, count, sizeof(float));
        for (int32_t i = 0; i < count; i++) {
            d->series[s].values[d->point_count + i] = NAN;
        }
    }
}

static void read_series(decoded *d, reader r) {
    int32_t count = read_count(&r), series_count = read_count(&r), place[64];
    assert_true(count > 0 && series_count >= 9 && series_count <= 64);
    for (int32_t s = 0; s < series_count; s++) {
        char *name = read_text(&r), *series_unit = read_text(&r);
        place[s] = (int32_t)(series_named(d, name, series_unit) - d->series);
        if (d->series[place[s]].values == NULL) {
            d->series[place[s]].values = make(d->point_count, sizeof(float));
            for (int32_t i = 0; i < d->point_count; i++) {
                d->series[place[s]].values[i] = NAN;
            }
        }
    }
    extend(d, count);
    int64_t step = 0;
    for (int32_t i = 0; i < count; i++) {
        step += (int64_t)read_u(&r);
        d->step[d->point_count + i] = step;
    }
    read_planes(&r, d->time + d->point_count, count, sizeof *d->time);
    for (int32_t s = 0; s < series_count; s++) {
        read_planes(&r, d->series[place[s]].values + d->point_count, count, sizeof(float));
    }
    assert_ptr_equal(r.at, r.end);
    d->point_count += count;
}

const decoded_series *find_series(const decoded *d, const char *name) {
    for (int32_t i = 0; i < d->series_count; i++) {
        if (strcmp(d->series[i].name, name) == 0) {
            return &d->series[i];
        }
    }
    fail_msg("no series %s", name);
    return NULL;
}

// ------------------------------------------------------------------------------------------------------------ page

static reader unpack(const char *base64, size_t length) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *packed = make((int64_t)length, 1);
    size_t count = 0;
    assert_int_equal(length % 4, 0);
    for (size_t i = 0; i < length; i += 4) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 4; k++) {
            const char *digit = strchr(digits, base64[i + k]);
            assert_true(digit != NULL || (base64[i + k] == '=' && i + 4 == length && k >= 2));
            bits = bits << 6 | (digit != NULL ? (uint32_t)(digit - digits) : 0);
        }
        for (size_t k = 0; k < 3; k++) {
            packed[count++] = (uint8_t)(bits >> (16 - 8 * k));
        }
    }
    uLongf size = 1 << 24;
    uint8_t *payload = make((int64_t)size, 1);
    assert_int_equal(uncompress(payload, &size, packed, count), Z_OK);
    return (reader){payload, payload + size};
}

static void read_block(decoded *d, const char *kind, reader r) {
    if (strcmp(kind, "scene") == 0) {
        read_scene(d, r);
        return;
    }
    assert_non_null(d->scene);
    assert_null(d->end);
    if (strcmp(kind, "mesh") == 0) {
        assert_int_equal(d->frame_count, 0);
        read_mesh(d, r);
    } else if (strcmp(kind, "frames") == 0) {
        read_frames(d, r);
    } else if (strcmp(kind, "series") == 0) {
        read_series(d, r);
    } else if (strcmp(kind, "end") == 0) {
        d->end = cJSON_ParseWithLength((const char *)r.at, (size_t)(r.end - r.at));
        assert_non_null(d->end);
    }
}

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = make((int64_t)*size, 1);
    assert_int_equal(fread(text, 1, *size, file), *size);
    fclose(file);
    return text;
}

decoded *decode_recording(const char *path) {
    static const char opening[] = "\n<script type=\"application/x-stiction\" data-kind=\"";
    decoded *d = make(1, sizeof *d);
    d->next = recordings;
    recordings = d;
    char *text = read_file(path, &d->size), *at = text;
    assert_memory_equal(text, "<!doctype html>", 15);
    while ((at = strstr(at, opening)) != NULL) {
        d->viewer_size = d->viewer_size == 0 ? (size_t)(at - text) : d->viewer_size;
        char kind[16] = "";
        size_t length = 0;
        int skip_to = 0;
        if (sscanf(at + strlen(opening), "%15[a-z_]\" data-length=\"%zu\">%n", kind, &length, &skip_to) < 2 ||
            skip_to == 0) {
            d->cut = true;
            break;
        }
        at += strlen(opening) + (size_t)skip_to;
        if (strnlen(at, length) < length || strncmp(at + length, "</script>\n", 10) != 0) {
            d->cut = true;
            break;
        }
        reader payload = unpack(at, length);
        read_block(d, kind, payload);
        at += length + strlen("</script>");
    }
    return d;
}
