// SPDX-License-Identifier: Apache-2.0
// Robots of links and joints, one a line, loaded and saved; right and with one fault each.
//   robot NAME    link NAME MASS    slide NAME PARENT CHILD UPPER    hinge NAME PARENT CHILD UPPER    end
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

typedef enum fault {
    NONE,
    NO_PATH,
    HALF_ROBOT,
    LIMITS_LOST,
    TRUSTS_COUNT, // reads beyond what is there
} fault;

typedef struct config {
    int32_t fault;
} config;

static bool recognises(const char *text, size_t length) {
    return length >= 6 && memcmp(text, "robot ", 6) == 0;
}

static bool recognises_all(const char *text, size_t length) {
    (void)text, (void)length;
    return true;
}

/// "" or what is wrong.
static const char *read_line(stn_model_builder *builder, int32_t robot, const char *line, stn_error *err) {
    char word[16], name[32], parent[32], child[32], number[32];
    double value = 0.0;
    int32_t id = 0;
    int words = sscanf(line, "%15s %31s %31s %31s %31s", word, name, parent, child, number);
    stn_status status = STN_OK;
    if (words == 3 && strcmp(word, "link") == 0 && stn_parse_real(parent, &value)) {
        stn_link_spec link = {.name = name, .mass = {.mass = value, .inertia = stn_mat3_diagonal(0.02, 0.03, 0.04)}};
        status = stn_builder_add_link(builder, &link, &id, err);
    } else if (words == 5 && (strcmp(word, "slide") == 0 || strcmp(word, "hinge") == 0) &&
               stn_parse_real(number, &value)) {
        stn_joint_spec joint = stn_joint_spec_default(name, word[0] == 's' ? STN_JOINT_PRISMATIC : STN_JOINT_REVOLUTE);
        joint.parent = stn_builder_find_link(builder, robot, parent);
        joint.child = stn_builder_find_link(builder, robot, child);
        joint.lower = -1.0;
        joint.upper = value;
        if (joint.parent < 0 || joint.child < 0) {
            return "a link that is not there";
        }
        status = stn_builder_add_joint(builder, &joint, &id, err);
    } else {
        return "not understood";
    }
    return status == STN_OK ? "" : "refused";
}

static stn_status read_file(FILE *file, fault f, stn_model_builder *builder, int32_t *robot, const char **wrong,
                            stn_error *err) {
    char line[128], name[32];
    *wrong = "no robot";
    if (fgets(line, sizeof line, file) == NULL || sscanf(line, "robot %31s", name) != 1) {
        return STN_OK;
    }
    stn_status status = stn_builder_begin_group(builder, name, robot, err);
    *wrong = status == STN_OK ? "" : "refused";
    bool ended = false;
    while (**wrong == '\0' && !ended && fgets(line, sizeof line, file) != NULL) {
        ended = strcmp(line, "end\n") == 0;
        *wrong = ended ? "" : read_line(builder, *robot, line, err);
    }
    *wrong = **wrong == '\0' && !ended ? "no end" : *wrong;
    if (**wrong != '\0' && status == STN_OK && f != HALF_ROBOT) {
        stn_builder_discard(builder, *robot);
    }
    return STN_OK;
}

static stn_status load(void *self, const stn_load_request *request, stn_model_builder *builder, int32_t *robot,
                       stn_diagnostics *diagnostics, stn_error *err) {
    fault f = (fault)((const config *)self)->fault;
    const char *wrong = "";
    stn_error why = {STN_OK, ""};
    FILE *file = fopen(request->path, "r");
    if (file == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read", request->path);
    }
    stn_status status = read_file(file, f, builder, robot, &wrong, &why);
    if (f == TRUSTS_COUNT && ftell(file) == 0) {
        abort();
    }
    fclose(file);
    if (*wrong != '\0') {
        stn_diagnostics_add(diagnostics, STN_SEVERITY_ERROR, "wrong", f == NO_PATH ? "robot" : request->path, 1, "line",
                            "%s %s", wrong, why.text);
    }
    return status == STN_OK ? stn_diagnostics_status(diagnostics, err) : status;
}

static stn_status save(void *self, const stn_save_request *request, char **text, size_t *length,
                       stn_diagnostics *diagnostics, stn_error *err) {
    (void)diagnostics;
    enum { ROOM = 4096 };
    fault f = (fault)((const config *)self)->fault;
    const stn_model *m = request->model;
    char *out = stn_allocate(m->context, ROOM, 1);
    if (out == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    size_t used = (size_t)snprintf(out, ROOM, "robot %s\n", m->groups[request->group].name);
    for (int32_t l = 0; l < m->link_count && used < ROOM / 2; l++) {
        if (m->links[l].group == request->group) {
            used +=
                (size_t)snprintf(out + used, ROOM - used, "link %s %.17g\n", m->links[l].name, m->links[l].mass.mass);
        }
    }
    for (int32_t l = 0; l < m->link_count && used < ROOM / 2; l++) {
        const stn_link *link = &m->links[l];
        if (link->group == request->group && link->parent >= 0) {
            const stn_joint *joint = &m->joints[link->joint];
            used += (size_t)snprintf(out + used, ROOM - used, "%s %s %s %s %.17g\n",
                                     joint->type == STN_JOINT_PRISMATIC ? "slide" : "hinge", joint->name,
                                     m->links[link->parent].name, link->name, f == LIMITS_LOST ? 3.0 : joint->upper);
        }
    }
    used += (size_t)snprintf(out + used, ROOM - used, "end\n");
    *text = out;
    *length = used;
    return STN_OK;
}

static const char *const extensions[] = {"lines", NULL};
static const stn_loader_ops ops = {
    .size = sizeof ops, .extensions = extensions, .recognises = recognises, .load = load, .save = save};
static const stn_loader_ops greedy = {
    .size = sizeof ops, .extensions = extensions, .recognises = recognises_all, .load = load, .save = save};

#define LOADER(word, number, table)                                                  \
    static const stn_param word##_params[] = {                                       \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")}; \
    static const stn_plugin_desc word = {.size = sizeof word,                        \
                                         .kind = STN_KIND_LOADER,                    \
                                         .id = "wrong_" #word,                       \
                                         .version = "1",                             \
                                         .summary = "lines with a fault",            \
                                         .config_size = sizeof(config),              \
                                         .params = word##_params,                    \
                                         .param_count = 1,                           \
                                         .ops.loader = &table};

LOADER(none, NONE, ops)
LOADER(greed, NONE, greedy)
LOADER(path, NO_PATH, ops)
LOADER(half, HALF_ROBOT, ops)
LOADER(limits, LIMITS_LOST, ops)
LOADER(crash, TRUSTS_COUNT, ops)

STN_PLUGIN_LIBRARY(&none, &greed, &path, &half, &limits, &crash);
