// SPDX-License-Identifier: Apache-2.0
// Meshes as numbers in a text, right and with one fault each:
//   mesh VERTICES TRIANGLES   then 3 numbers for each vertex and 3 vertices for each triangle
#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

typedef enum fault {
    NONE,
    NO_NAME,      // messages do not name the file
    ANY_INDEX,    // corners are not checked
    KEEPS,        // what was allocated when the file turns out to be bad
    TRUSTS_COUNT, // reads beyond what is there
    CLOCK,        // another mesh every time
    NO_MEMORY,    // takes it for a bad file
} fault;

typedef struct config {
    int32_t fault;
} config;

typedef struct cursor {
    const stn_mesh_source *source;
    fault f;
    const char *at, *end;
    stn_error *err;
} cursor;

static stn_status wrong(const cursor *c, const char *what) {
    return stn_fail(c->err, STN_ERR_ARGUMENT, "%s: %s", c->f == NO_NAME ? "mesh" : c->source->path, what);
}

static bool next(cursor *c, double *value) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n')) {
        c->at++;
    }
    size_t length = stn_scan_real(c->at, (size_t)(c->end - c->at), value);
    c->at += length;
    if (length == 0 && c->f == TRUSTS_COUNT) {
        abort();
    }
    return length > 0;
}

static stn_status read_numbers(cursor *c, stn_raw_mesh *m) {
    double number = 0.0;
    for (int32_t i = 0; i < 3 * m->vertex_count; i++) {
        if (!next(c, &m->vertices[i])) {
            return wrong(c, "a vertex is missing");
        }
    }
    for (int32_t i = 0; i < 3 * m->triangle_count; i++) {
        if (!next(c, &number) || !(number >= 0.0 && number < (c->f == ANY_INDEX ? 1e9 : m->vertex_count))) {
            return wrong(c, "a corner is missing, or no vertex");
        }
        m->triangles[i] = (int32_t)number;
    }
    if (c->f == CLOCK) {
        m->vertices[0] = stn_clock_us();
    }
    return STN_OK;
}

static stn_status read(void *self, const stn_mesh_source *source, stn_raw_mesh *out, stn_error *err) {
    fault f = (fault)((const config *)self)->fault;
    cursor c = {.source = source, .f = f, .at = source->bytes + 5, .end = source->bytes + source->size, .err = err};
    double count[2] = {0.0, 0.0};
    if (source->size < 6 || memcmp(source->bytes, "mesh ", 5) != 0 || !next(&c, &count[0]) || !next(&c, &count[1]) ||
        !(count[0] >= 1.0 && count[0] < (double)source->size && count[1] >= 1.0 && count[1] < (double)source->size)) {
        return wrong(&c, "it does not begin with mesh and two counts that fit into the file");
    }
    stn_raw_mesh m = {.vertex_count = (int32_t)count[0], .triangle_count = (int32_t)count[1]};
    m.vertices = stn_allocate(source->context, 3 * (size_t)m.vertex_count, sizeof *m.vertices);
    m.triangles = stn_allocate(source->context, 3 * (size_t)m.triangle_count, sizeof *m.triangles);
    stn_status status = m.vertices != NULL && m.triangles != NULL ? read_numbers(&c, &m)
                        : f == NO_MEMORY                          ? wrong(&c, "bad")
                                         : stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", source->path);
    if (status == STN_OK) {
        *out = m;
    } else if (f != KEEPS) {
        stn_release(source->context, m.vertices);
        stn_release(source->context, m.triangles);
    }
    return status;
}

static bool recognises(const char *bytes, size_t size) {
    return size >= 5 && memcmp(bytes, "mesh ", 5) == 0;
}

static bool recognises_all(const char *bytes, size_t size) {
    (void)bytes, (void)size;
    return true;
}

static const char example[] = "mesh 4 4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n0 2 1\n0 1 3\n0 3 2\n1 2 3\n";
static const char *const extensions[] = {"numbers", NULL};
static const stn_mesh_ops ops = {.size = sizeof ops,
                                 .extensions = extensions,
                                 .recognises = recognises,
                                 .read = read,
                                 .example = example,
                                 .example_size = sizeof example - 1};
static const stn_mesh_ops greedy = {.size = sizeof ops,
                                    .extensions = extensions,
                                    .recognises = recognises_all,
                                    .read = read,
                                    .example = example,
                                    .example_size = sizeof example - 1};

#define MESH(word, number, table)                                                    \
    static const stn_param word##_params[] = {                                       \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")}; \
    static const stn_plugin_desc word = {.size = sizeof word,                        \
                                         .kind = STN_KIND_MESH,                      \
                                         .id = "wrong_" #word,                       \
                                         .version = "1",                             \
                                         .summary = "numbers with a fault",          \
                                         .config_size = sizeof(config),              \
                                         .params = word##_params,                    \
                                         .param_count = 1,                           \
                                         .ops.mesh = &table};

MESH(none, NONE, ops)
MESH(greed, NONE, greedy)
MESH(name, NO_NAME, ops)
MESH(corner, ANY_INDEX, ops)
MESH(leak, KEEPS, ops)
MESH(crash, TRUSTS_COUNT, ops)
MESH(clock, CLOCK, ops)
MESH(memory, NO_MEMORY, ops)

STN_PLUGIN_LIBRARY(&none, &greed, &name, &corner, &leak, &crash, &clock, &memory);
