// my_plugin.c: a mesh as text, one thing a line, # begins a comment:
//   vertex X Y Z        in metres
//   triangle A B C      vertices, counted from 0, counter-clockwise seen from outside
// Everything that is wrong is told with its line, and nothing in the file is trusted: indices are checked, and memory
// grows with what was read, not with what a file promises. See stiction/mesh_file.h.
// What to change first: read_line, a case for each word of your format.
#include <string.h>

#include <stiction/plugin.h>

/// Where the reader stands, and what it has.
typedef struct reader {
    const stn_mesh_source *source;
    const char *at, *end;
    int32_t line; // of `at`, from 1
    stn_raw_mesh mesh;
    int32_t vertex_room, triangle_room;
    stn_error *err;
} reader;

static stn_status wrong(const reader *r, const char *what) {
    return stn_fail(r->err, STN_ERR_ARGUMENT, "%s:%d: %s", r->source->path, r->line, what);
}

/// Room for one more item of `size` bytes; NULL: out of memory, `items` is as it was.
static void *grow(const reader *r, void *items, int32_t count, int32_t *room, size_t size) {
    if (count < *room) {
        return items;
    }
    int32_t more = *room > 0 ? 2 * *room : 64;
    void *grown = stn_reallocate(r->source->context, items, (size_t)*room, (size_t)more, size);
    *room = grown != NULL ? more : *room;
    return grown;
}

/// Steps over blanks; does the line go on?
static bool goes_on(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) {
        r->at++;
    }
    return r->at < r->end && *r->at != '\n' && *r->at != '#';
}

/// Is this the next word? Then steps over it.
static bool is_next(reader *r, const char *word) {
    size_t length = strlen(word);
    bool there = goes_on(r) && (size_t)(r->end - r->at) > length && memcmp(r->at, word, length) == 0 &&
                 (r->at[length] == ' ' || r->at[length] == '\t');
    r->at += there ? length : 0;
    return there;
}

static stn_status read_numbers(reader *r, double number[3]) {
    for (int32_t i = 0; i < 3; i++) {
        size_t length = goes_on(r) ? stn_scan_real(r->at, (size_t)(r->end - r->at), &number[i]) : 0;
        if (length == 0) {
            return wrong(r, "expected three numbers");
        }
        r->at += length;
    }
    return STN_OK;
}

static stn_status add_vertex(reader *r, const double number[3]) {
    stn_raw_mesh *m = &r->mesh;
    if (m->vertex_count == STN_MESH_COUNT_MAX / 2) {
        return wrong(r, "too many vertices");
    }
    double *grown = grow(r, m->vertices, m->vertex_count, &r->vertex_room, 3 * sizeof *grown);
    if (grown == NULL) {
        return stn_fail(r->err, STN_ERR_MEMORY, "%s: out of memory", r->source->path);
    }
    m->vertices = grown;
    memcpy(m->vertices + 3 * (size_t)m->vertex_count++, number, 3 * sizeof *number);
    return STN_OK;
}

static stn_status add_triangle(reader *r, const double number[3]) {
    stn_raw_mesh *m = &r->mesh;
    if (m->triangle_count == STN_MESH_COUNT_MAX / 2) {
        return wrong(r, "too many triangles");
    }
    int32_t *grown = grow(r, m->triangles, m->triangle_count, &r->triangle_room, 3 * sizeof *grown);
    if (grown == NULL) {
        return stn_fail(r->err, STN_ERR_MEMORY, "%s: out of memory", r->source->path);
    }
    m->triangles = grown;
    for (int32_t i = 0; i < 3; i++) {
        if (!(number[i] >= 0.0 && number[i] < m->vertex_count) || number[i] != (double)(int32_t)number[i]) {
            return wrong(r, "a corner must be the number of a vertex above, from 0");
        }
        m->triangles[3 * (size_t)m->triangle_count + (size_t)i] = (int32_t)number[i];
    }
    m->triangle_count++;
    return STN_OK;
}

static stn_status read_line(reader *r) {
    double number[3];
    bool vertex = is_next(r, "vertex"), triangle = !vertex && is_next(r, "triangle");
    if (!vertex && !triangle) {
        return goes_on(r) ? wrong(r, "expected vertex X Y Z or triangle A B C") : STN_OK;
    }
    stn_status status = read_numbers(r, number);
    if (status == STN_OK) {
        status = vertex ? add_vertex(r, number) : add_triangle(r, number);
    }
    return status == STN_OK && goes_on(r) ? wrong(r, "more than three numbers") : status;
}

static stn_status read(void *self, const stn_mesh_source *source, stn_raw_mesh *out, stn_error *err) {
    (void)self;
    reader r = {.source = source, .at = source->bytes, .end = source->bytes + source->size, .err = err};
    stn_status status = STN_OK;
    while (status == STN_OK && r.at < r.end) {
        r.line++;
        status = read_line(&r);
        const char *newline = memchr(r.at, '\n', (size_t)(r.end - r.at)); // of a comment, too
        r.at = newline != NULL ? newline + 1 : r.end;
    }
    if (status == STN_OK && r.mesh.triangle_count == 0) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "%s: there are no triangles in it", source->path);
    }
    if (status == STN_OK) {
        *out = r.mesh; // who called checks it once more, and lets its arrays go
        return STN_OK;
    }
    stn_release(source->context, r.mesh.vertices);
    stn_release(source->context, r.mesh.triangles);
    return status;
}

/// `stiction validate` cuts it off anywhere and changes its bytes.
static const char example[] = "# a corner of a cube\n"
                              "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\n"
                              "triangle 0 2 1\ntriangle 0 1 3\ntriangle 0 3 2\ntriangle 1 2 3\n";

static const char *const extensions[] = {"my_plugin", NULL};

static const stn_mesh_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    // .recognises: where the first bytes leave no doubt, "solid" or a magic number
    .read = read,
    .example = example,
    .example_size = sizeof example - 1,
};

static const stn_plugin_desc my_plugin = {
    .size = sizeof my_plugin,
    .kind = STN_KIND_MESH,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "vertices and triangles, a line each",
    .ops.mesh = &ops,
};
STN_PLUGIN_LIBRARY(&my_plugin);
