// SPDX-License-Identifier: Apache-2.0
// What every format of mesh files must do: whatever the bytes are, it gives numbers that hold together or one line, the
// same ones every time, and keeps nothing. Of the format the battery knows the example, if there is one.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_subject.h"

typedef struct subject {
    validate_trial *trial;
    random_stream random;
    stn_instance *instance;
    const stn_mesh_ops *ops;
    file_heap heap;
    stn_context *context; // on that heap
    char path[128];
} subject;

static void end(subject *s) {
    stn_context_destroy(s->context);
    stn_instance_destroy(s->instance);
}

static bool begin(subject *s, validate_trial *trial) {
    *s = (subject){.trial = trial};
    s->random.state = stn_hash(trial->request->seed, trial->check, strlen(trial->check));
    s->instance = trial_instance(trial, STN_KIND_MESH);
    if (s->instance == NULL) {
        return false;
    }
    s->ops = s->instance->desc->ops.mesh;
    s->context = file_context(&s->heap);
    if (s->context == NULL) {
        trial_fail(trial, "out of memory");
        end(s);
        return false;
    }
    snprintf(s->path, sizeof s->path, "%s/part.%.40s", trial->folder, s->ops->extensions[0]);
    return true;
}

static bool has_example(const subject *s) {
    return STN_PLUGIN_HAS(s->ops, example_size) && s->ops->example != NULL;
}

/// What is wrong with indices, NULL: nothing.
static const char *check_indices(const int32_t *index, int64_t count, int32_t vertices) {
    for (int64_t i = 0; i < count; i++) {
        if (index[i] < 0 || index[i] >= vertices) {
            return "an index beyond the vertices";
        }
    }
    return NULL;
}

/// What is wrong with a mesh, NULL: nothing.
static const char *check_raw(const stn_raw_mesh *raw) {
    if (raw->vertex_count < 1 || raw->triangle_count < 0 || raw->tetrahedron_count < 0 ||
        raw->vertex_count > STN_MESH_COUNT_MAX || raw->triangle_count > STN_MESH_COUNT_MAX ||
        raw->tetrahedron_count > STN_MESH_COUNT_MAX || (raw->triangle_count == 0 && raw->tetrahedron_count == 0)) {
        return "counts that are no mesh";
    }
    if (raw->vertices == NULL || (raw->triangle_count > 0 && raw->triangles == NULL) ||
        (raw->tetrahedron_count > 0 && raw->tetrahedra == NULL)) {
        return "a count without its array";
    }
    for (int64_t i = 0; i < 3 * (int64_t)raw->vertex_count; i++) {
        if (!isfinite(raw->vertices[i])) {
            return "a position that is no number";
        }
    }
    if (raw->curved_count < 0 || raw->instance_count < 0 || raw->further_count < 0 ||
        raw->further_count > STN_MESH_FURTHER_MAX || (raw->further_count > 0 && raw->further == NULL)) {
        return "counts out of range";
    }
    if (!(raw->unit >= 0.0) || isinf(raw->unit) || (raw->up_axis != 0 && (raw->up_axis < 'x' || raw->up_axis > 'z'))) {
        return "a unit or an axis that is none";
    }
    if (raw->extents != NULL && raw->tetrahedron_count == 0) {
        return "a field of a surface";
    }
    const char *wrong = check_indices(raw->triangles, 3 * (int64_t)raw->triangle_count, raw->vertex_count);
    return wrong != NULL ? wrong
                         : check_indices(raw->tetrahedra, 4 * (int64_t)raw->tetrahedron_count, raw->vertex_count);
}

static void release_raw(subject *s, stn_raw_mesh *raw) {
    if (STN_PLUGIN_HAS(s->ops, release)) {
        s->ops->release(s->instance->self, s->context, raw);
        return;
    }
    stn_release(s->context, raw->vertices);
    stn_release(s->context, raw->triangles);
    stn_release(s->context, raw->tetrahedra);
    stn_release(s->context, raw->extents);
    for (int32_t i = 0; i < raw->further_count; i++) {
        stn_release(s->context, raw->further[i].name);
    }
    stn_release(s->context, raw->further);
}

/// Reads `size` bytes; what is read goes to `out`, to be let go with release_raw, when the answer is STN_OK.
static stn_status read(subject *s, const char *bytes, size_t size, const char *what, stn_raw_mesh *out) {
    static const stn_raw_mesh empty;
    stn_error err = {STN_OK, ""};
    char *copy = file_copy(bytes, size);
    if (copy == NULL) {
        trial_fail(s->trial, "out of memory");
        return STN_ERR_MEMORY;
    }
    const stn_mesh_source source = {.context = s->context,
                                    .path = s->path,
                                    .bytes = copy,
                                    .size = size,
                                    .folder = s->trial->folder,
                                    .root = s->trial->folder};
    *out = empty;
    stn_status status = s->ops->read(s->instance->self, &source, out, &err);
    const char *wrong = NULL;
    if (size > 0 && memcmp(copy, bytes, size) != 0) {
        wrong = "the bytes of the file were changed";
    } else if (status > STN_OK) {
        wrong = "a status that reading does not have";
    } else if (status == STN_OK) {
        wrong = check_raw(out);
    } else {
        file_check_refusal(s->trial, what, s->path, status, &err);
        wrong = memcmp(out, &empty, sizeof empty) != 0 ? "refused, and yet something is in it" : NULL;
    }
    free(copy);
    if (wrong != NULL) {
        trial_fail(s->trial, "%.60s: %s", what, wrong);
    }
    return status;
}

/// The same, and lets it go; nothing may be left. Was there a mesh?
static bool try_bytes(subject *s, const char *bytes, size_t size, const char *what) {
    stn_raw_mesh raw;
    int64_t before = s->heap.live;
    bool good = read(s, bytes, size, what, &raw) == STN_OK;
    if (good && !s->trial->decided) {
        release_raw(s, &raw);
    }
    if (s->heap.live != before && !s->trial->decided) {
        trial_fail(s->trial, "%.60s: %lld pieces of memory are left", what, (long long)(s->heap.live - before));
    }
    return good;
}

// ------------------------------------------------------------------------------------------------------------- checks

static void check_declares(validate_trial *trial) {
    const stn_mesh_ops *ops = trial->request->plugin->desc->ops.mesh;
    if (ops == NULL || ops->read == NULL) {
        trial_fail(trial, "read is missing");
        return;
    }
    file_check_extensions(trial, ops->extensions);
    bool looks = STN_PLUGIN_HAS(ops, recognises);
    if (!trial->decided && looks && (ops->recognises("", 0) || ops->recognises("PK\x03\x04", 4))) {
        trial_fail(trial, "recognises an empty file, or an archive, as its own");
    }
    if (!trial->decided) {
        stn_instance_destroy(trial_instance(trial, STN_KIND_MESH));
        trial_ok(trial, "files end with .%s, %s", ops->extensions[0], looks ? "told by content too" : "told by name");
    }
}

static void check_example(validate_trial *trial) {
    subject s;
    stn_raw_mesh raw[2];
    if (!begin(&s, trial)) {
        return;
    }
    if (!has_example(&s)) {
        trial_skip(trial, "there is no example of the format: set ops.example");
        end(&s);
        return;
    }
    for (int32_t i = 0; i < 2 && !trial->decided; i++) {
        if (read(&s, s.ops->example, s.ops->example_size, "the example", &raw[i]) != STN_OK) {
            trial_fail(trial, "its own example is refused");
        }
    }
    if (!trial->decided) {
        const stn_raw_mesh *a = &raw[0], *b = &raw[1];
        bool same = a->vertex_count == b->vertex_count && a->triangle_count == b->triangle_count &&
                    a->tetrahedron_count == b->tetrahedron_count && a->unit == b->unit && a->up_axis == b->up_axis &&
                    memcmp(a->vertices, b->vertices, (size_t)a->vertex_count * 3 * sizeof *a->vertices) == 0;
        same = same && (a->triangle_count == 0 ||
                        memcmp(a->triangles, b->triangles, (size_t)a->triangle_count * 3 * sizeof *a->triangles) == 0);
        if (!same) {
            trial_fail(trial, "the same bytes, read twice, give two meshes");
        }
    }
    trial_ok(trial, "%d vertices, %d triangles, %d tetrahedra, twice the same", raw[0].vertex_count,
             raw[0].triangle_count, raw[0].tetrahedron_count);
    if (trial->result.verdict == VALIDATE_OK) {
        release_raw(&s, &raw[0]);
        release_raw(&s, &raw[1]);
    }
    end(&s);
}

static void check_malformed(validate_trial *trial) {
    enum { LONG = 1 << 20 };
    subject s;
    int32_t count = 0;
    if (!begin(&s, trial)) {
        return;
    }
    for (; file_nonsense[count] != NULL && !trial->decided; count++) {
        const char *text = file_nonsense[count];
        if (try_bytes(&s, text, strlen(text), text[0] != '\0' ? text : "an empty file")) {
            trial_fail(trial, "\"%s\" was read as a mesh", text);
        }
    }
    char *bytes = malloc(LONG);
    for (int32_t kind = 0; kind < 3 && bytes != NULL && !trial->decided; kind++, count++) { // zeros, one word, random
        memset(bytes, kind == 0 ? '\0' : 'a', LONG);
        for (size_t k = 0; k < LONG && kind == 2; k++) {
            bytes[k] = (char)random_integer(&s.random, 0, 255);
        }
        if (try_bytes(&s, bytes, LONG, "a megabyte of anything")) {
            trial_fail(trial, "a megabyte of anything was read as a mesh");
        }
    }
    free(bytes);
    trial_ok(trial, "%d files: each one line, and nothing is left", count);
    end(&s);
}

static void check_damaged(validate_trial *trial) {
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    int32_t count = trial->request->full ? 4000 : 120, good = 0;
    char *bytes = has_example(&s) ? malloc(s.ops->example_size) : NULL;
    if (!has_example(&s)) {
        trial_skip(trial, "there is no example of the format: set ops.example");
    }
    for (int32_t i = 0; i < count && bytes != NULL && !trial->decided; i++) {
        memcpy(bytes, s.ops->example, s.ops->example_size);
        good += try_bytes(&s, bytes, file_damage(&s.random, i, bytes, s.ops->example_size), "a damaged file");
        trial_progress(trial, i, count);
    }
    free(bytes);
    trial_ok(trial, "%d damaged files: %d read, the others one line each", count, good);
    end(&s);
}

static void check_memory(validate_trial *trial) {
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    if (!has_example(&s)) {
        trial_skip(trial, "there is no example of the format: set ops.example");
    }
    int64_t n = 1;
    for (bool reached = true; reached && !trial->decided; n++) {
        stn_raw_mesh raw;
        int64_t before = s.heap.live;
        s.heap.requests = 0;
        s.heap.fail_at = n;
        stn_status status = read(&s, s.ops->example, s.ops->example_size, "the example without memory", &raw);
        reached = s.heap.requests >= n;
        s.heap.fail_at = 0;
        if (status == STN_OK && !trial->decided) {
            release_raw(&s, &raw);
        } else if (status != STN_ERR_MEMORY && !trial->decided) {
            trial_fail(trial, "request %lld for memory fails: %s, expected %s", (long long)n, stn_status_text(status),
                       stn_status_text(STN_ERR_MEMORY));
        }
        if (s.heap.live != before && !trial->decided) {
            trial_fail(trial, "request %lld for memory fails, and something is left", (long long)n);
        }
    }
    trial_ok(trial, "each of %lld requests for memory may fail", (long long)n - 2);
    end(&s);
}

static const validate_check checks[] = {
    {"declares what it is", "read and extensions, mesh_file.h; recognises must be sure", check_declares},
    {"reads its example", "ops.example must be a file of the format; nothing may depend on what was read before",
     check_example},
    {"malformed files", "STN_ERR_ARGUMENT \"path: what is wrong\", nothing in `out`", check_malformed},
    {"damaged files", "trust nothing in a file: hold every count against the bytes that are left", check_damaged},
    {"out of memory", "look at every stn_allocate, and release on the way out", check_memory},
};

const validate_battery validate_meshes = {STN_KIND_MESH, STN_COUNT(checks), checks};
