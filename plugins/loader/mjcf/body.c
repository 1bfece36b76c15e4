// SPDX-License-Identifier: Apache-2.0
// <worldbody> and <body>: the tree. One body alone in the world that has no joint, or only moves freely, is the root of
// the robot, and where it is drawn is proposed as the base. Otherwise the world itself is the root, as a link "world".
#include <string.h>

#include "mjcf.h"

/// What holds the element that is read.
typedef struct place {
    int32_t body;
    stn_pose frame; // body frame -> here
    int32_t class_index;
} place;

/// What stands in a body, out of frames.
static void collect(robot_reader *reader, const xml_element *xml, const place *at, mjcf_parts *parts) {
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "frame") == 0) {
            stn_pose pose = mjcf_plain_pose(reader, e);
            place inner = *at;
            inner.frame = stn_pose_mul(&at->frame, &pose);
            inner.class_index = mjcf_class_of(reader, e, "childclass", at->class_index);
            collect(reader, e, &inner, parts);
            continue;
        }
        parts->items = robot_reserve(reader, parts->items, parts->count, &parts->capacity, sizeof *parts->items);
        if (parts->count < parts->capacity) {
            parts->items[parts->count++] = (mjcf_part){e, at->frame, at->class_index};
        }
    }
}

/// Names that the file gives are kept for those that it gives them to.
static void reserve_names(robot_reader *reader, const xml_element *xml) {
    mjcf_reader *mjcf = mjcf_of(reader);
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        bool body = strcmp(xml_name(e), "body") == 0;
        const char *name = xml_attribute(e, "name");
        if ((body || mjcf_is_joint(e)) && name != NULL && name[0] != '\0') {
            robot_names *names = body ? &mjcf->links_taken : &mjcf->joints_taken;
            reader->label = robot_text(reader, "%s %s", body ? "body" : "joint", name);
            if (robot_names_find(names, 0, name) > 0) {
                robot_error(reader, e, body ? "duplicate_link" : "duplicate_joint",
                            "there is a %s of the same name%s: rename one", body ? "body" : "joint",
                            strcmp(name, "world") == 0 ? ", the world itself" : "");
            }
            robot_name_of(reader, e, "name");
            robot_names_add(reader, names, 0, name, 1);
        }
        if (body || strcmp(xml_name(e), "frame") == 0) {
            reserve_names(reader, e);
        }
    }
}

static int32_t add_body(robot_reader *reader, const char *name, int32_t parent) {
    mjcf_reader *mjcf = mjcf_of(reader);
    mjcf->bodies = robot_reserve(reader, mjcf->bodies, mjcf->body_count, &mjcf->body_capacity, sizeof *mjcf->bodies);
    if (mjcf->body_count == mjcf->body_capacity) {
        return -1;
    }
    int32_t index = mjcf->body_count++;
    mjcf->bodies[index] = (mjcf_body){.name = name, .link = -1, .parent = parent, .drawn = stn_pose_identity()};
    robot_names_add(reader, &mjcf->body_names, 0, name, index);
    return index;
}

static void add_site(robot_reader *reader, const mjcf_part *part, int32_t link) {
    mjcf_reader *mjcf = mjcf_of(reader);
    const mjcf_item item = mjcf_item_of(reader, part->xml, MJCF_SITE, part->class_index);
    const char *name = xml_attribute(part->xml, "name");
    reader->label = name != NULL ? robot_text(reader, "site %s", name) : "site";
    stn_pose pose = mjcf_pose(reader, &item);
    double p[6];
    if (mjcf_reals(reader, &item, "fromto", 6, 6, p) == 6) {
        stn_vec3 a = stn_vec3_make(p[0], p[1], p[2]), b = stn_vec3_make(p[3], p[4], p[5]), v = stn_vec3_sub(a, b);
        pose = (stn_pose){mjcf_turn_z(v), stn_vec3_add(b, stn_vec3_scale(0.5, v))};
    }
    if (name == NULL || name[0] == '\0' || robot_name_of(reader, part->xml, "name") == NULL) {
        return;
    }
    mjcf->sites = robot_reserve(reader, mjcf->sites, mjcf->site_count, &mjcf->site_capacity, sizeof *mjcf->sites);
    if (mjcf->site_count < mjcf->site_capacity) {
        robot_names_add(reader, &mjcf->site_names, 0, name, mjcf->site_count);
        mjcf->sites[mjcf->site_count++] = (mjcf_site){name, part->xml, link, stn_pose_mul(&part->frame, &pose)};
    }
}

void mjcf_read_sites(robot_reader *reader) {
    mjcf_reader *mjcf = mjcf_of(reader);
    for (int32_t i = 0; i < mjcf->site_count; i++) {
        const mjcf_site *site = &mjcf->sites[i];
        reader->label = robot_text(reader, "site %s", site->name);
        if (robot_names_find(&reader->link_names, 0, site->name) >= 0 || strcmp(site->name, "world") == 0) {
            robot_note(reader, site->xml, "site",
                       "it is no link of the robot: a body, a site or the world has that name already");
            continue;
        }
        const char *wanted = robot_text(reader, "%s_fixed", site->name);
        int32_t joint = robot_add_joint(reader, robot_names_unique(reader, &mjcf->joints_taken, wanted),
                                        STN_JOINT_FIXED, site->xml);
        if (joint < 0 || mjcf_add_link(reader, site->name, site->xml) < 0) {
            return;
        }
        reader->joints[joint].spec.origin = site->pose;
        reader->joints[joint].parent = reader->links[site->link].name;
        reader->joints[joint].child = site->name;
    }
}

/// Shapes of a link, one after the other; what they weigh.
static stn_mass read_geoms(robot_reader *reader, const mjcf_parts *parts, int32_t link, bool weigh) {
    stn_mass sum = {0};
    reader->links[link].geometry_start = reader->geometry_count;
    for (int32_t i = 0; i < parts->count; i++) {
        if (strcmp(xml_name(parts->items[i].xml), "geom") == 0) {
            mjcf_read_geom(reader, &parts->items[i], link, weigh ? &sum : NULL);
        }
    }
    reader->links[link].geometry_count = reader->geometry_count - reader->links[link].geometry_start;
    for (int32_t i = 0; i < parts->count; i++) {
        if (strcmp(xml_name(parts->items[i].xml), "site") == 0) {
            add_site(reader, &parts->items[i], link);
        }
    }
    return sum;
}

static void read_bodies(robot_reader *reader, const mjcf_parts *parts, int32_t parent);

static const char *name_of(robot_reader *reader, const xml_element *xml) {
    mjcf_reader *mjcf = mjcf_of(reader);
    const char *given = xml_attribute(xml, "name");
    return given != NULL && given[0] != '\0'
               ? given
               : robot_names_unique(reader, &mjcf->links_taken, robot_text(reader, "body%d", (int)mjcf->body_count));
}

static void collect_body(robot_reader *reader, const mjcf_part *part, mjcf_parts *parts) {
    const char *name = xml_attribute(part->xml, "name");
    reader->label = name != NULL ? robot_text(reader, "body %s", name) : "body";
    const place inside = {.frame = stn_pose_identity(),
                          .class_index = mjcf_class_of(reader, part->xml, "childclass", part->class_index)};
    collect(reader, part->xml, &inside, parts);
}

/// What a body holds, after its link is there.
static void fill_body(robot_reader *reader, int32_t index, int32_t link, const mjcf_parts *parts) {
    mjcf_body *body = &mjcf_of(reader)->bodies[index];
    body->link = link;
    body->joint_count = mjcf_count_joints(parts);
    body->weld = body->joint_count > 0 ? index : body->parent > 0 ? mjcf_of(reader)->bodies[body->parent].weld : 0;
    stn_mass sum = read_geoms(reader, parts, link, mjcf_wants_geoms(reader, parts));
    mjcf_read_mass(reader, parts, link, &sum);
    read_bodies(reader, parts, index);
}

static void read_bodies(robot_reader *reader, const mjcf_parts *parts, int32_t parent) {
    mjcf_reader *mjcf = mjcf_of(reader);
    for (int32_t i = 0; i < parts->count && !reader->out_of_memory && !mjcf->too_many_links; i++) {
        const mjcf_part *part = &parts->items[i];
        if (strcmp(xml_name(part->xml), "flexcomp") == 0) {
            mjcf_add_point_coordinates(reader, mjcf_read_flexcomp(reader, part, parent));
        }
        if (strcmp(xml_name(part->xml), "composite") == 0) {
            mjcf_add_point_coordinates(reader, mjcf_read_composite(reader, part, parent));
        }
        if (strcmp(xml_name(part->xml), "body") != 0) {
            continue;
        }
        mjcf_parts inside = {0};
        collect_body(reader, part, &inside);
        if (mjcf_take_point(reader, part, &inside, parent)) {
            continue;
        }
        const char *name = name_of(reader, part->xml);
        int32_t index = add_body(reader, name, parent);
        if (index < 0) {
            continue;
        }
        reader->label = robot_text(reader, "body %s", name);
        int32_t link = mjcf_hang(reader, index, part, &inside);
        if (link >= 0) {
            fill_body(reader, index, link, &inside);
        }
    }
}

/// The one body that can be the root itself; NULL: the world is.
static const mjcf_part *find_root(robot_reader *reader, const mjcf_parts *world, mjcf_parts *inside) {
    const mjcf_part *root = NULL;
    for (int32_t i = 0; i < world->count; i++) {
        const char *name = xml_name(world->items[i].xml);
        bool body = strcmp(name, "body") == 0;
        if ((body && root != NULL) || robot_lists("geom site flexcomp composite", name)) {
            return NULL;
        }
        root = body ? &world->items[i] : root;
    }
    if (root == NULL) {
        return NULL;
    }
    collect_body(reader, root, inside);
    const mjcf_part *joint = NULL;
    for (int32_t i = 0; i < inside->count; i++) {
        bool is_joint = mjcf_is_joint(inside->items[i].xml);
        if (is_joint && joint != NULL) {
            return NULL;
        }
        joint = is_joint ? &inside->items[i] : joint;
    }
    return joint == NULL || mjcf_is_plain_free(reader, joint) ? root : NULL;
}

void mjcf_read_world(robot_reader *reader, const xml_element *root) {
    mjcf_reader *mjcf = mjcf_of(reader);
    mjcf_parts world = {0}, inside = {0};
    const place at = {.frame = stn_pose_identity()};
    const xml_element *first = mjcf_next(root, "worldbody", NULL);
    robot_names_add(reader, &mjcf->links_taken, 0, "world", 1);
    for (const xml_element *e = first; e != NULL; e = mjcf_next(root, "worldbody", e)) {
        reserve_names(reader, e);
        reader->label = "worldbody";
        collect(reader, e, &at, &world);
    }
    bool any = false; // does anything stand there?
    for (int32_t i = 0; i < world.count; i++) {
        const xml_element *xml = world.items[i].xml;
        const char *name = xml_name(xml), *mocap = xml_attribute(xml, "mocap");
        any |= robot_lists("body geom site flexcomp replicate attach composite", name);
        if (mjcf_is_joint(xml) || strcmp(name, "inertial") == 0) {
            robot_error(reader, xml, "world", "<%.20s> in <worldbody>: the world does not move", name);
        }
        if (mocap != NULL && strcmp(mocap, "true") == 0) {
            robot_warn(reader, xml, "mocap", "mocap is not read: the body stands where it is drawn");
        }
    }
    if (!any) {
        robot_error(reader, first, "no_link", "<worldbody> holds no body: a robot has one");
        return;
    }
    if (add_body(reader, "world", -1) < 0) {
        return;
    }
    const mjcf_part *body = find_root(reader, &world, &inside);
    const char *name = body != NULL ? name_of(reader, body->xml) : "world";
    int32_t index = body != NULL ? add_body(reader, name, 0) : 0;
    int32_t link = index >= 0 ? mjcf_add_link(reader, name, body != NULL ? body->xml : first) : -1;
    if (link >= 0 && body != NULL) {
        reader->label = robot_text(reader, "body %s", name);
        stn_pose pose = mjcf_plain_pose(reader, body->xml);
        reader->has_pose = true;
        reader->pose = stn_pose_mul(&body->frame, &pose);
        reader->stands_fixed = mjcf_count_joints(&inside) == 0;
        mjcf->bodies[index].drawn = reader->pose;
        for (int32_t i = 0; i < inside.count; i++) {
            if (mjcf_is_joint(inside.items[i].xml)) {
                mjcf_add_coordinates(reader, -1, 0.0);
                mjcf_note_free(reader, &inside.items[i]);
            }
        }
        fill_body(reader, index, link, &inside);
    } else if (link >= 0) {
        mjcf->bodies[0].link = link;
        read_geoms(reader, &world, link, false);
        read_bodies(reader, &world, 0);
    }
}
