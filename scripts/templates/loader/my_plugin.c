// my_plugin.c: a robot of boxes and hinges, one object a line, # begins a comment:
//   box NAME MASS X Y Z                a link: a solid box that hangs from the link's origin; mass [kg], sides [m]
//   hinge NAME PARENT CHILD X Y Z      turns CHILD about y; X Y Z: from the origin of PARENT to that of CHILD [m]
// Everything that is wrong is told with its line, and a robot that is not whole is discarded.
// What to change first: read_line, an object for each word of your format.
#define _POSIX_C_SOURCE 200809L // strtok_r
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <stiction/plugin.h>

enum { MOST_WORDS = 8, MOST_LETTERS = 1000 };

/// Where the reader stands.
typedef struct reader {
    const stn_load_request *request;
    stn_model_builder *builder;
    stn_diagnostics *diagnostics;
    int32_t robot, line, links;
} reader;

static void wrong(const reader *r, const char *code, const char *element, const char *text) {
    stn_diagnostics_add(r->diagnostics, STN_SEVERITY_ERROR, code, r->request->path, r->line, element, "%s", text);
}

/// What the builder refuses is a finding with a line like any other.
static void judge(const reader *r, stn_status status, const char *element, const stn_error *why) {
    if (status != STN_OK) {
        wrong(r, "value", element, why->text);
    }
}

static bool read_numbers(const reader *r, const char *element, char **words, int32_t count, double *values) {
    for (int32_t i = 0; i < count; i++) {
        if (!stn_parse_real(words[i], &values[i])) { // strict, whatever the locale
            char text[96];
            snprintf(text, sizeof text, "\"%.40s\" is not a finite number", words[i]);
            wrong(r, "number", element, text);
            return false;
        }
    }
    return true;
}

static void read_box(reader *r, char **words) {
    double number[4];
    if (!read_numbers(r, words[1], words + 2, 4, number)) {
        return;
    }
    double m = number[0], x = number[1], y = number[2], z = number[3];
    if (!(m > 0.0 && x > 0.0 && y > 0.0 && z > 0.0)) {
        wrong(r, "value", words[1], "mass and sides must be > 0");
        return;
    }
    stn_error err = {STN_OK, ""};
    stn_link_spec link = {.name = words[1], .mass = {.mass = m}};
    link.mass.com = stn_vec3_make(0.0, 0.0, -0.5 * z);
    link.mass.inertia = stn_mat3_diagonal(m / 12.0 * (y * y + z * z), m / 12.0 * (x * x + z * z),
                                          m / 12.0 * (x * x + y * y)); // about the centre
    stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.5 * x, 0.5 * y, 0.5 * z)));
    shape.pose.position = link.mass.com;
    int32_t id = 0, geometry = 0;
    stn_status status = stn_builder_add_link(r->builder, &link, &id, &err);
    status = status == STN_OK ? stn_builder_add_geometry(r->builder, id, &shape, &geometry, &err) : status;
    judge(r, status, words[1], &err);
    r->links++;
}

static void read_hinge(const reader *r, char **words) {
    stn_error err = {STN_OK, ""};
    stn_joint_spec joint = stn_joint_spec_default(words[1], STN_JOINT_REVOLUTE);
    double at[3];
    int32_t id = 0;
    joint.parent = stn_builder_find_link(r->builder, r->robot, words[2]);
    joint.child = stn_builder_find_link(r->builder, r->robot, words[3]);
    if (joint.parent < 0 || joint.child < 0) {
        wrong(r, "unknown_link", words[1], "parent or child is no box of the lines above");
    } else if (read_numbers(r, words[1], words + 4, 3, at)) {
        joint.axis = stn_vec3_make(0.0, 1.0, 0.0);
        joint.origin.position = stn_vec3_make(at[0], at[1], at[2]);
        judge(r, stn_builder_add_joint(r->builder, &joint, &id, &err), words[1], &err);
    }
}

static void read_line(reader *r, char *line) {
    char *words[MOST_WORDS + 1], *rest = NULL;
    int32_t count = 0;
    line[strcspn(line, "#")] = '\0';
    for (char *w = strtok_r(line, " \t\r\n", &rest); w != NULL && count <= MOST_WORDS;
         w = strtok_r(NULL, " \t\r\n", &rest)) {
        words[count++] = w;
    }
    if (count == 0) {
        return;
    }
    if (strcmp(words[0], "box") == 0 && count == 6) {
        read_box(r, words);
    } else if (strcmp(words[0], "hinge") == 0 && count == 7) {
        read_hinge(r, words);
    } else {
        wrong(r, "syntax", "", "expected: box NAME MASS X Y Z, or hinge NAME PARENT CHILD X Y Z");
    }
}

static void read_file(reader *r, FILE *file) {
    char line[MOST_LETTERS + 2];
    while (fgets(line, sizeof line, file) != NULL && r->diagnostics->error_count < 100) {
        r->line++;
        if (strchr(line, '\n') == NULL && !feof(file)) { // too long, or a zero byte cut it
            wrong(r, "syntax", "", "a line is longer than 1000 letters, or the file is no text");
            return;
        }
        read_line(r, line);
    }
    r->line = 0;
    if (ferror(file)) {
        wrong(r, "file", "", strerror(errno));
    } else if (r->links == 0 && r->diagnostics->error_count == 0) {
        wrong(r, "no_links", "", "holds no box");
    }
}

/// "dir/arm.my_plugin" -> "arm", with a number behind it when that is taken.
static stn_status begin_robot(reader *r, stn_error *err) {
    char stem[64], name[80];
    const char *slash = strrchr(r->request->path, '/'), *file = slash != NULL ? slash + 1 : r->request->path;
    snprintf(stem, sizeof stem, "%.*s", (int)strcspn(file, "."), file);
    snprintf(name, sizeof name, "%s", stem);
    for (int32_t number = 2; r->request->robot_name == NULL; number++) {
        bool taken = false;
        for (int32_t i = 0; i < stn_builder_group_count(r->builder); i++) {
            taken = taken || strcmp(stn_builder_group_name(r->builder, i), name) == 0;
        }
        if (!taken) {
            break;
        }
        snprintf(name, sizeof name, "%s_%d", stem, number);
    }
    const char *asked = r->request->robot_name;
    return stn_builder_begin_group(r->builder, asked != NULL ? asked : name, &r->robot, err);
}

static stn_status load(void *self, const stn_load_request *request, stn_model_builder *builder, int32_t *group,
                       stn_diagnostics *diagnostics, stn_error *err) {
    (void)self;
    reader r = {.request = request, .builder = builder, .diagnostics = diagnostics};
    FILE *file = fopen(request->path, "r");
    if (file == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s: %s", request->path, strerror(errno));
    }
    stn_status status = begin_robot(&r, err);
    if (status == STN_OK) {
        read_file(&r, file);
        status = stn_diagnostics_status(diagnostics, err); // the first error, and how many more
        if (status != STN_OK) {
            stn_builder_discard(builder, r.robot); // the builder is as it was
        }
    }
    fclose(file);
    if (status == STN_OK) {
        *group = r.robot;
    }
    return status;
}

/// Are these first bytes ours? Asked when several loaders share an extension.
static bool recognises(const char *text, size_t length) {
    return length >= 4 && memcmp(text, "box ", 4) == 0;
}

static const char *const extensions[] = {"my_plugin", NULL};

static const stn_loader_ops ops = {
    .size = sizeof ops, .extensions = extensions, .recognises = recognises, .load = load};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_LOADER,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "Robots of boxes and hinges, one a line",
    .ops.loader = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor); // the one exported symbol
