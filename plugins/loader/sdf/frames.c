// SPDX-License-Identifier: Apache-2.0
// The graph of frames. Each one but the world has a pose X_RF in a frame R (relative_to) and moves with a frame A
// (attached_to). With every joint at zero
//   X_WF = X_WR X_RF,   and for a model M that its frame P is placed by,   X_WM = X_WR X_RP X_MP^-1,
// and the link that F moves with is that of A. Both relations must be free of circles.
#include <string.h>

#include "sdf.h"

enum { CANDIDATES = 500 };
static const double FARTHEST = 1e100; // [m] of a frame from the world: what lies between two of them is finite too

static const char *kind_name(sdf_frame_kind kind) {
    static const char *const names[] = {"world", "model", "link", "joint", "frame"};
    return names[kind];
}

/// false: the name cannot be used, said. Until 1.6 a link and a joint could share a name.
static bool may_have_name(robot_reader *reader, sdf_frame_kind kind, const sdf_model *model, const xml_element *xml,
                          const char *name) {
    const sdf_reader *sdf = sdf_of(reader);
    size_t length = strlen(name);
    bool underscored = length >= 4 && strncmp(name, "__", 2) == 0 && strcmp(name + length - 2, "__") == 0;
    if (underscored || strcmp(name, "world") == 0) {
        robot_error(reader, xml, "name", "the name '%.80s' is reserved: choose another", name);
        return false;
    }
    if (strlen(model->prefix) + length > SDF_LONGEST_NAME) {
        robot_error(reader, xml, "size", "a name with those of the models around it may have at most %d bytes",
                    (int)SDF_LONGEST_NAME);
        return false;
    }
    int32_t other = robot_names_find(&sdf->names, model->scope, name);
    if (other < 0) {
        return true;
    }
    const sdf_frame *taken = &sdf->frames[other];
    if (taken->kind == kind) {
        robot_error(reader, xml, robot_text(reader, "duplicate_%s", kind_name(kind)),
                    "line %d has a %s of the same name: rename one", (int)xml_line(taken->xml), kind_name(kind));
        return false;
    }
    if (model->version >= SDF_FRAMES) {
        robot_error(reader, xml, "duplicate_name", "the %s of line %d has this name: from 1.7 on they must differ",
                    kind_name(taken->kind), (int)xml_line(taken->xml));
        return false;
    }
    return true;
}

int32_t sdf_add_frame(robot_reader *reader, sdf_frame_kind kind, int32_t model, const xml_element *xml,
                      const char *name) {
    sdf_reader *sdf = sdf_of(reader);
    const sdf_model *owner = &sdf->models[model];
    if (name == NULL || !may_have_name(reader, kind, owner, xml, name)) {
        return -1;
    }
    sdf->frames = robot_reserve(reader, sdf->frames, sdf->frame_count, &sdf->frame_capacity, sizeof *sdf->frames);
    if (sdf->frame_count == sdf->frame_capacity) {
        return -1;
    }
    int32_t index = sdf->frame_count++;
    const char *full = robot_text(reader, "%s%s", owner->prefix, name);
    sdf->frames[index] = (sdf_frame){
        .kind = kind,
        .name = full,
        .label = robot_text(reader, "%s %s", kind_name(kind), full),
        .xml = xml,
        .model = model,
        .given = stn_pose_identity(),
        .relative = -1,
        .attached = -1,
        .link = -1,
    };
    if (robot_names_find(&sdf->names, owner->scope, name) < 0) {
        robot_names_add(reader, &sdf->names, owner->scope, name, index);
    }
    // The first link of a model carries it, else its first model does. What is merged into a model counts as its own.
    bool link = kind == SDF_LINK, more = link || kind == SDF_MODEL;
    for (int32_t at = model; more; at = sdf->models[at].parent) {
        sdf_model *m = &sdf->models[at];
        if (m->first < 0 || (link && !m->first_is_link)) {
            m->first = index;
            m->first_is_link = link;
        }
        more = m->scope != at;
    }
    return index;
}

/// "inner::link": the whole name first, which files of old versions use for models they were flattened from.
int32_t sdf_find_frame(robot_reader *reader, int32_t model, const char *name) {
    const sdf_reader *sdf = sdf_of(reader);
    for (;;) {
        if (strcmp(name, "__model__") == 0 && model > 0) {
            return sdf->models[model].frame;
        }
        if (strcmp(name, "world") == 0 && sdf->models[model].scope == 0) {
            return sdf->models[0].frame;
        }
        int32_t scope = sdf->models[model].scope;
        int32_t found = strlen(name) <= SDF_LONGEST_NAME ? robot_names_find(&sdf->names, scope, name) : -1;
        const char *colons = strstr(name, "::");
        if (found >= 0 || colons == NULL) {
            return found;
        }
        int32_t inner = robot_names_find_part(&sdf->names, scope, name, (size_t)(colons - name));
        if (inner < 0 || sdf->frames[inner].kind != SDF_MODEL) {
            return -1;
        }
        model = sdf->frames[inner].model;
        name = colons + 2;
    }
}

int32_t sdf_need_frame(robot_reader *reader, int32_t model, const xml_element *xml, const char *what,
                       const char *name) {
    const sdf_reader *sdf = sdf_of(reader);
    int32_t found = sdf_find_frame(reader, model, name);
    if (found >= 0) {
        return found;
    }
    const char *candidates[CANDIDATES];
    int32_t count = 0;
    for (int32_t i = 0; i < sdf->frame_count && count < CANDIDATES; i++) {
        const sdf_frame *frame = &sdf->frames[i];
        size_t prefix = strlen(sdf->models[model].prefix);
        if (frame->kind != SDF_WORLD && strncmp(frame->name, sdf->models[model].prefix, prefix) == 0) {
            candidates[count++] = frame->name + prefix;
        }
    }
    const char *near = robot_suggest(reader, name, candidates, count);
    robot_error(reader, xml, "unknown_frame", "%s: there is no link, joint, frame or model '%.80s' here%s%.80s%s", what,
                name, near != NULL ? ": did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    return -1;
}

/// The frame that a model moves with.
static int32_t canonical_frame(robot_reader *reader, int32_t index) {
    const sdf_reader *sdf = sdf_of(reader);
    const sdf_model *model = &sdf->models[index];
    if (model->is_static) {
        return sdf->models[0].frame;
    }
    if (model->canonical != NULL) {
        int32_t found = sdf_need_frame(reader, index, model->xml, "canonical_link", model->canonical);
        if (found >= 0 && sdf->frames[found].kind != SDF_LINK) {
            robot_error(reader, model->xml, "canonical_link", "canonical_link '%.80s' is a %s: name a link",
                        model->canonical, kind_name(sdf->frames[found].kind));
            return -1;
        }
        return found;
    }
    if (model->first < 0) {
        robot_error(reader, model->xml, "no_link", "the model has no <link>: its frame moves with nothing");
    }
    return model->first;
}

/// Frames by position for the names of one frame.
static void look_up(robot_reader *reader, int32_t index) {
    const sdf_reader *sdf = sdf_of(reader);
    sdf_frame *f = &sdf->frames[index];
    const sdf_model *model = &sdf->models[f->model];
    int32_t around = f->kind == SDF_MODEL ? model->parent : f->model; // in which it is named
    reader->label = f->label;
    int32_t attached = -1;
    switch (f->kind) {
    case SDF_WORLD:
        f->relative = f->attached = index;
        return;
    case SDF_LINK:
        attached = index;
        break;
    case SDF_MODEL:
        attached = canonical_frame(reader, f->model);
        break;
    case SDF_JOINT:
        attached = f->attached_to != NULL ? sdf_need_frame(reader, around, f->xml, "child", f->attached_to) : -1;
        break;
    case SDF_FRAME:
        attached = f->attached_to != NULL ? sdf_need_frame(reader, around, f->xml, "attached_to", f->attached_to)
                                          : model->frame;
        break;
    }
    f->attached = attached;
    bool follows = (f->kind == SDF_JOINT || f->kind == SDF_FRAME) && f->attached_to != NULL;
    const xml_element *at = f->kind == SDF_MODEL ? model->place_xml : f->xml;
    if (f->relative_to != NULL) {
        f->relative = sdf_need_frame(reader, around, at, "relative_to of <pose>", f->relative_to);
    } else {
        f->relative = follows ? attached : sdf->models[around].frame;
    }
}

typedef enum relation { RELATIVE, ATTACHED } relation;

static int32_t next_of(const sdf_frame *f, relation which) {
    return which == RELATIVE ? f->relative : f->attached;
}

/// All frames so that each one comes after the one that it refers to. false: a circle, said.
static bool order_frames(robot_reader *reader, relation which, int32_t *order) {
    const sdf_reader *sdf = sdf_of(reader);
    int32_t *visit = ROBOT_NEW(reader, sdf->frame_count, int32_t); // 0: new, > 0: on the path of that start, -1: placed
    int32_t *path = ROBOT_NEW(reader, sdf->frame_count, int32_t);
    int32_t placed = 0;
    if (visit == NULL || path == NULL) {
        return false;
    }
    for (int32_t start = 0; start < sdf->frame_count; start++) {
        int32_t at = start, length = 0;
        while (visit[at] == 0) {
            visit[at] = start + 1;
            path[length++] = at;
            at = next_of(&sdf->frames[at], which);
        }
        const sdf_frame *met = &sdf->frames[at];
        bool end = met->kind == SDF_WORLD || (which == ATTACHED && met->kind == SDF_LINK);
        if (visit[at] == start + 1 && !end) {
            char names[400] = "";
            int32_t on = at, count = 0;
            do {
                robot_list_name(names, sizeof names, count++, sdf->frames[on].name);
                on = next_of(&sdf->frames[on], which);
            } while (on != at);
            reader->label = met->label;
            robot_error(reader, met->xml, "frame_cycle",
                        "%s leads in a circle through %s: give one of them another frame",
                        which == RELATIVE ? "relative_to" : "attached_to", names);
            return false;
        }
        while (length > 0) {
            visit[path[--length]] = -1;
            order[placed++] = path[length];
        }
    }
    return true;
}

/// A frame of a model in that model's own frame: what lies between is known from the frames' given poses.
static bool pose_in_model(robot_reader *reader, int32_t frame, int32_t model_frame, stn_pose *pose) {
    const sdf_reader *sdf = sdf_of(reader);
    *pose = stn_pose_identity();
    for (int32_t at = frame; at != model_frame; at = sdf->frames[at].relative) {
        const sdf_frame *f = &sdf->frames[at];
        stn_pose step = f->given;
        if (f->kind == SDF_WORLD) {
            return false;
        }
        if (f->kind == SDF_MODEL && sdf->models[f->model].placement != NULL) {
            step = f->pose; // placed before, see place_models
        }
        *pose = stn_pose_mul(&step, pose);
    }
    return true;
}

/// Turns the given poses of models that another frame of theirs places into poses of the models: inner ones first, as
/// the pose of an outer one's placement frame may lead through them.
static bool place_models(robot_reader *reader) {
    sdf_reader *sdf = sdf_of(reader);
    for (int32_t i = sdf->model_count - 1; i > 0; i--) { // inner models come after outer ones
        const sdf_model *model = &sdf->models[i];
        sdf_frame *frame = &sdf->frames[model->frame];
        if (model->placement == NULL) {
            continue;
        }
        reader->label = frame->label;
        int32_t placed = sdf_need_frame(reader, i, model->place_xml, "placement_frame", model->placement);
        stn_pose inside;
        if (placed < 0) {
            return false;
        }
        if (!pose_in_model(reader, placed, model->frame, &inside)) {
            robot_error(reader, model->place_xml, "placement_frame",
                        "placement_frame '%.80s' does not stand in the model: name a frame of it", model->placement);
            return false;
        }
        stn_pose inverse = stn_pose_inverse(&inside);
        frame->pose = stn_pose_mul(&frame->given, &inverse);
    }
    for (int32_t i = 1; i < sdf->model_count; i++) {
        sdf_frame *frame = &sdf->frames[sdf->models[i].frame];
        frame->given = sdf->models[i].placement != NULL ? frame->pose : frame->given;
    }
    return true;
}

bool sdf_resolve_frames(robot_reader *reader) {
    sdf_reader *sdf = sdf_of(reader);
    int32_t *order = ROBOT_NEW(reader, sdf->frame_count, int32_t);
    bool good = order != NULL;
    for (int32_t i = 0; i < sdf->frame_count; i++) {
        look_up(reader, i);
        good = good && sdf->frames[i].relative >= 0 && sdf->frames[i].attached >= 0;
    }
    if (!good || !order_frames(reader, ATTACHED, order)) {
        return false;
    }
    for (int32_t i = 0; i < sdf->frame_count; i++) {
        sdf_frame *f = &sdf->frames[order[i]];
        f->link = f->kind == SDF_LINK ? f->link : sdf->frames[f->attached].link;
    }
    if (!order_frames(reader, RELATIVE, order) || !place_models(reader)) {
        return false;
    }
    // The poses of all frames, each after the one that it is given in.
    for (int32_t i = 0; i < sdf->frame_count; i++) {
        sdf_frame *f = &sdf->frames[order[i]];
        f->pose = f->kind == SDF_WORLD ? stn_pose_identity() : stn_pose_mul(&sdf->frames[f->relative].pose, &f->given);
        stn_vec3 p = f->pose.position;
        if (!(fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) <= FARTHEST) || !stn_vec3_finite(p)) {
            reader->label = f->label;
            robot_error(reader, f->xml, "pose",
                        "with the frames that its pose is given in it stands at (%g, %g, %g) m: at most %g m are read, "
                        "write smaller numbers",
                        p.x, p.y, p.z, FARTHEST);
            return false;
        }
    }
    return true;
}

/// As the file says it where it does, so that no rounding comes in.
stn_pose sdf_pose_between(robot_reader *reader, int32_t from, int32_t to) {
    const sdf_reader *sdf = sdf_of(reader);
    if (from == to) {
        return stn_pose_identity();
    }
    if (sdf->frames[to].relative == from) {
        return sdf->frames[to].given;
    }
    stn_pose inverse = stn_pose_inverse(&sdf->frames[from].pose);
    return stn_pose_mul(&inverse, &sdf->frames[to].pose);
}
