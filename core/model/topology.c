// SPDX-License-Identifier: Apache-2.0
// How links hang together: the joint above each link, loops, the one root of each group, the order of traversal, and
// who mimics whom.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/compiler.h"

enum { LISTED_NAMES = 8 };

/// Text that grows by formatted pieces and stops at its end.
typedef struct text_buffer {
    char text[640];
    size_t used;
} text_buffer;

STN_PRINTF(2, 3) static void append(text_buffer *buffer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(buffer->text + buffer->used, sizeof buffer->text - buffer->used, format, arguments);
    va_end(arguments);
    buffer->used += length > 0 ? (size_t)length : 0;
    buffer->used = buffer->used < sizeof buffer->text ? buffer->used : sizeof buffer->text - 1;
}

/// ", 'name'", at most LISTED_NAMES of them, then how many more.
static void append_name(text_buffer *buffer, int32_t number, int32_t total, const char *name) {
    if (number < LISTED_NAMES) {
        append(buffer, "%s'%s'", number > 0 ? ", " : "", name);
    } else if (number == LISTED_NAMES) {
        append(buffer, " and %d more", total - LISTED_NAMES);
    }
}

void describe_object(const stn_model_builder *builder, const char *what, int32_t group, const char *name,
                     const char *where, char *text, size_t size) {
    snprintf(text, size, "group '%s', %s '%s'%s%s%s", group_at(builder, group)->name, what, name != NULL ? name : "",
             where != NULL ? " (" : "", where != NULL ? where : "", where != NULL ? ")" : "");
}

void describe_link(const stn_model_builder *builder, int32_t link, char *text, size_t size) {
    const built_link *l = link_at(builder, link);
    describe_object(builder, "link", l->group, l->spec.name, l->spec.where, text, size);
}

void describe_joint(const stn_model_builder *builder, int32_t joint, char *text, size_t size) {
    const built_joint *j = joint_at(builder, joint);
    describe_object(builder, "joint", j->group, j->spec.name, j->spec.where, text, size);
}

// --------------------------------------------------------------------------------------------------------- tree

/// `start` was not reached from any root, so going up from it ends in a loop.
static stn_status fail_loop(const compiler *c, int32_t start, stn_error *err) {
    const stn_model_builder *b = c->builder;
    int32_t link = start, length = 0;
    for (int32_t i = 0; i < b->links.count; i++) { // long enough to be inside the loop
        link = c->parent[link];
    }
    int32_t first = link;
    bool attached = false;
    for (int32_t low = link; length == 0 || low != link; length++) {
        attached = attached || c->joint_above[low] < 0;
        low = c->parent[low];
        first = low < first ? low : first;
    }
    text_buffer names = {.used = 0};
    link = first;
    // A loop that is closed by an attachment names the groups, each of which it enters once.
    for (int32_t pass = 0, groups = 0; attached && pass < 2; pass++) { // the first one counts
        int32_t number = 0;
        for (int32_t i = 0; i < length; i++) {
            int32_t group = link_at(b, link)->group;
            bool enters = link_at(b, c->parent[link])->group != group;
            if (enters && pass == 1) {
                append_name(&names, number, groups, group_at(b, group)->name);
            }
            number += enters;
            link = c->parent[link];
        }
        groups = number;
    }
    if (attached) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "groups %s hang on each other in a circle of attachments; one of them must hang on nothing",
                        names.text);
    }
    for (int32_t i = 0; i < length; i++) {
        append_name(&names, i, length, joint_at(b, c->joint_above[link])->spec.name);
        link = c->parent[link];
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "group '%s': joints %s form a loop; a group must be a tree",
                    group_at(b, link_at(b, first)->group)->name, names.text);
}

/// Depth first from all links that hang on the world or on nothing. Children come in the order of their joints, and
/// behind them the groups that are attached, in the order in which they were added.
static stn_status order_links(compiler *c, stn_error *err) {
    const stn_model_builder *b = c->builder;
    int32_t n = b->links.count, count = 0, depth = 0;
    int32_t *first_child = STN_ARENA(c->scratch, n, int32_t), *next_sibling = STN_ARENA(c->scratch, n, int32_t),
            *stack = STN_ARENA(c->scratch, n, int32_t);
    bool *reached = STN_ARENA_ZEROED(c->scratch, n, bool);
    if (first_child == NULL || next_sibling == NULL || stack == NULL || reached == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0; i < n; i++) {
        first_child[i] = next_sibling[i] = -1;
    }
    for (int32_t r = b->groups.count - 1; r >= 0; r--) { // backwards: pushed in front, so the first ends up first
        int32_t onto = group_at(b, r)->attached_to, root = c->root_link[r];
        if (onto >= 0 && root >= 0) {
            next_sibling[root] = first_child[onto];
            first_child[onto] = root;
        }
    }
    for (int32_t j = b->joints.count - 1; j >= 0; j--) {
        const stn_joint_spec *spec = &joint_at(b, j)->spec;
        if (spec->parent >= 0) {
            next_sibling[spec->child] = first_child[spec->parent];
            first_child[spec->parent] = spec->child;
        }
    }
    for (int32_t i = 0; i < n; i++) {
        if (c->parent[i] >= 0) {
            continue;
        }
        stack[depth++] = i;
        while (depth > 0) {
            int32_t link = stack[--depth];
            c->order[count++] = link;
            int32_t begin = depth;
            for (int32_t child = first_child[link]; child >= 0; child = next_sibling[child]) {
                stack[depth++] = child;
            }
            for (int32_t low = begin, high = depth - 1; low < high; low++, high--) {
                int32_t swapped = stack[low];
                stack[low] = stack[high];
                stack[high] = swapped;
            }
        }
    }
    for (int32_t i = 0; i < count; i++) {
        reached[c->order[i]] = true;
    }
    for (int32_t i = 0; i < n; i++) {
        if (!reached[i]) {
            return fail_loop(c, i, err);
        }
    }
    return STN_OK;
}

// -------------------------------------------------------------------------------------------------------- roots

/// The root links of one group; those joined to the world count as one root together.
typedef struct root_count {
    int32_t free, joined, attached;
    int32_t first; // link
} root_count;

static bool is_root(const compiler *c, int32_t link, root_count *roots) {
    const stn_model_builder *b = c->builder;
    int32_t joint = c->joint_above[link];
    if (joint < 0) {
        roots->free++;
        return true;
    }
    int32_t parent = joint_at(b, joint)->spec.parent;
    if (parent == STN_WORLD) {
        return ++roots->joined == 1;
    }
    if (link_at(b, parent)->group == link_at(b, link)->group) {
        return false;
    }
    roots->attached++;
    return true;
}

/// What the only root of a group is that stn_builder_attach did not weld to another.
static stn_status classify_root(compiler *c, int32_t group, const root_count *roots, stn_error *err) {
    const stn_model_builder *b = c->builder;
    const built_group *r = group_at(b, group);
    const char *name = link_at(b, roots->first)->spec.name;
    if (roots->attached > 0) {
        c->root[group] = ROOT_ATTACHED;
    } else if (roots->joined > 0) {
        c->root[group] = ROOT_JOINED;
    } else if (strcmp(name, "world") == 0) {
        c->root[group] = ROOT_WORLD;
    } else {
        c->root[group] = r->kinematic ? ROOT_KINEMATIC : r->fixed ? ROOT_FIXED : ROOT_FREE;
    }
    if (r->kinematic && c->root[group] != ROOT_KINEMATIC) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "group '%s': it is kinematic, but its root '%s' %s; make a group kinematic whose root link "
                        "has no joint above it",
                        r->name, name,
                        c->root[group] == ROOT_WORLD ? "is the world itself" : "hangs on a joint of its own");
    }
    if (c->root[group] == ROOT_ATTACHED && r->base_given) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "group '%s': a base pose was given, but its root '%s' hangs on another group by joint '%s'",
                        r->name, name, joint_at(b, c->joint_above[roots->first])->spec.name);
    }
    return STN_OK;
}

/// The root of an attached group must be free to be welded.
static stn_status attach_root(compiler *c, int32_t group, const root_count *roots, stn_error *err) {
    const stn_model_builder *b = c->builder;
    const built_group *r = group_at(b, group);
    const built_link *root = link_at(b, roots->first), *onto = link_at(b, r->attached_to);
    char text[400];
    snprintf(text, sizeof text, "group '%.120s' is attached to link '%.120s' of '%.120s'", r->name, onto->spec.name,
             group_at(b, onto->group)->name);
    if (roots->free == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s, but joint '%s' already hangs its root '%s' on %s", text,
                        joint_at(b, c->joint_above[roots->first])->spec.name, root->spec.name,
                        roots->joined > 0 ? "the world" : "another group");
    }
    if (strcmp(root->spec.name, "world") == 0) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "%s, but its root link is named 'world', which is the world itself; give that link another name", text);
    }
    c->root[group] = ROOT_ATTACHED;
    c->parent[roots->first] = r->attached_to;
    return STN_OK;
}

/// A group without any root has a loop, which is found later with all others: its root stays -1.
static stn_status find_root(compiler *c, int32_t group, stn_error *err) {
    const stn_model_builder *b = c->builder;
    const built_group *r = group_at(b, group);
    int32_t begin = r->start.links, end = group_link_end(b, group);
    if (begin == end) {
        return stn_fail(err, STN_ERR_ARGUMENT, "group '%s': has no links", r->name);
    }
    root_count roots = {.first = -1};
    for (int32_t i = begin; i < end; i++) {
        if (is_root(c, i, &roots) && roots.first < 0) {
            roots.first = i;
        }
    }
    int32_t total = roots.free + (roots.joined > 0) + roots.attached;
    if (total > 1) {
        text_buffer names = {.used = 0};
        root_count again = {.first = -1};
        for (int32_t i = begin, number = 0; i < end; i++) {
            if (is_root(c, i, &again)) {
                append_name(&names, number++, total, link_at(b, i)->spec.name);
            }
        }
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "group '%s': %d root links (%s); every link but one needs a joint above it", r->name, total,
                        names.text);
    }
    c->root_link[group] = roots.first;
    if (total == 0) {
        return STN_OK;
    }
    return r->attached_to >= 0 ? attach_root(c, group, &roots, err) : classify_root(c, group, &roots, err);
}

stn_status find_topology(compiler *c, stn_error *err) {
    const stn_model_builder *b = c->builder;
    c->joint_above = STN_ARENA(c->scratch, b->links.count, int32_t);
    c->parent = STN_ARENA(c->scratch, b->links.count, int32_t);
    c->order = STN_ARENA(c->scratch, b->links.count, int32_t);
    c->root_link = STN_ARENA(c->scratch, b->groups.count, int32_t);
    c->root = STN_ARENA(c->scratch, b->groups.count, root_kind);
    if (c->joint_above == NULL || c->parent == NULL || c->order == NULL || c->root_link == NULL || c->root == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0; i < b->links.count; i++) {
        c->joint_above[i] = -1;
        c->parent[i] = STN_WORLD;
    }
    for (int32_t j = 0; j < b->joints.count; j++) {
        int32_t child = joint_at(b, j)->spec.child, other = c->joint_above[child];
        if (other >= 0) {
            char text[400];
            describe_link(b, child, text, sizeof text);
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: has two joints above it, '%s' and '%s': a link has one parent",
                            text, joint_at(b, other)->spec.name, joint_at(b, j)->spec.name);
        }
        c->joint_above[child] = j;
        c->parent[child] = joint_at(b, j)->spec.parent;
    }
    for (int32_t r = 0; r < b->groups.count; r++) {
        stn_status status = find_root(c, r, err);
        if (status != STN_OK) {
            return status;
        }
    }
    return order_links(c, err);
}

// -------------------------------------------------------------------------------------------------------- mimic

static stn_status fail_mimic(const compiler *c, int32_t joint, stn_error *err, const char *what) {
    char text[400];
    describe_joint(c->builder, joint, text, sizeof text);
    return stn_fail(err, STN_ERR_ARGUMENT, "%s: %s", text, what);
}

// Squares of it appear in the mass matrix, times masses and lengths: it must leave room below 1e308.
static const double MIMIC_MOST = 1e50;

stn_status check_mimics(compiler *c, stn_error *err) {
    const stn_model_builder *b = c->builder;
    char text[400];
    for (int32_t joint = 0; joint < b->joints.count; joint++) {
        int32_t master = joint_at(b, joint)->spec.mimic;
        if (master < 0) {
            continue;
        }
        if (master >= b->joints.count) {
            snprintf(text, sizeof text, "mimics joint %d, which does not exist (%d joints)", master, b->joints.count);
            return fail_mimic(c, joint, err, text);
        }
        if (master == joint) {
            return fail_mimic(c, joint, err, "mimics itself");
        }
        const stn_joint_spec *m = &joint_at(b, master)->spec;
        if (!joint_kind_get(m->type)->axial) {
            snprintf(text, sizeof text,
                     "mimics '%s', a %s joint; only revolute, continuous, prismatic and screw joints can be mimicked",
                     m->name, stn_joint_type_name(m->type));
            return fail_mimic(c, joint, err, text);
        }
        double multiplier = 1.0, offset = 0.0; // q = multiplier q(master) + offset
        const stn_joint_spec *at = &joint_at(b, joint)->spec;
        for (int32_t steps = 0; master >= 0 && master < b->joints.count;
             steps++) { // longer than all joints: it never ends
            if (steps > b->joints.count || master == joint) {
                snprintf(text, sizeof text, "mimics '%s', which in turn mimics it: a cycle", m->name);
                return fail_mimic(c, joint, err, text);
            }
            offset += multiplier * at->mimic_offset;
            multiplier *= at->mimic_multiplier;
            at = &joint_at(b, master)->spec;
            master = at->mimic;
        }
        if (!(fabs(multiplier) <= MIMIC_MOST && fabs(offset) <= MIMIC_MOST)) {
            snprintf(text, sizeof text,
                     "mimics '%s': over the whole chain its multiplier is %g and its offset %g; both must be within %g",
                     m->name, multiplier, offset, MIMIC_MOST);
            return fail_mimic(c, joint, err, text);
        }
    }
    return STN_OK;
}
