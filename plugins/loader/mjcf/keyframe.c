// SPDX-License-Identifier: Apache-2.0
// <keyframe>: configurations with names. MuJoCo's qpos holds the joints depth first, as they stand in the file, which
// is the order of the robot's joints: an angle or a length each, w x y z of a ball, and of a free body where it is in
// the world, x y z qw qx qy qz, which here is counted from where it is drawn, or is the pose of the base.
#include <string.h>

#include "mjcf.h"

enum {
    MOST_KEYS = 10000,
    MOST_NUMBERS = 1 << 20, // keys times joints and coordinates
    MOST_FAULTS = 100,      // that are kept
};

static int32_t size_of(const robot_reader *reader, const mjcf_coordinates *c) {
    return c->joint < 0 ? 7 : stn_joint_type_nq(reader->joints[c->joint].spec.type);
}

static bool any_of(const double *values, int32_t count) {
    bool any = false;
    for (int32_t i = 0; i < count; i++) {
        any = any || values[i] != 0.0;
    }
    return any;
}

static void put_quaternion(stn_quat q, double *out) {
    out[0] = q.w;
    out[1] = q.x;
    out[2] = q.y;
    out[3] = q.z;
}

/// The pose of a free body; false: said.
static bool read_free(robot_reader *reader, const xml_element *xml, const double *in, stn_pose *pose) {
    stn_quat q;
    if (!mjcf_quaternion(reader, xml, "a quaternion in qpos", in + 3, &q)) {
        return false;
    }
    *pose = stn_pose_make(q, stn_vec3_make(in[0], in[1], in[2]));
    return true;
}

/// MuJoCo's coordinates of a key, `nq` of them, or as drawn where it gives none; false: said.
static bool read_qpos(robot_reader *reader, const xml_element *xml, int32_t nq, double *qpos) {
    const mjcf_reader *mjcf = mjcf_of(reader);
    const char *text = xml_attribute(xml, "qpos");
    for (int32_t i = 0, at = mjcf->points_ahead; text == NULL && i < mjcf->coordinates_count; i++) {
        const mjcf_coordinates *c = &mjcf->coordinates[i];
        const stn_joint_spec *joint = c->joint >= 0 ? &reader->joints[c->joint].spec : NULL;
        double *out = qpos + at;
        at += size_of(reader, c) + c->points;
        if (joint != NULL && joint->type == STN_JOINT_BALL) {
            put_quaternion(stn_quat_identity(), out);
        } else if (joint != NULL && joint->type != STN_JOINT_FLOATING) {
            out[0] = c->ref;
        } else {
            const stn_pose *pose = joint == NULL ? &reader->pose : &joint->origin;
            out[0] = pose->position.x;
            out[1] = pose->position.y;
            out[2] = pose->position.z;
            put_quaternion(stn_quat_from_matrix(&pose->rotation), out + 3);
        }
    }
    if (text == NULL) {
        return true;
    }
    int32_t most = (int32_t)(strlen(text) / 2 + 1); // the file is bounded
    double *values = ROBOT_NEW(reader, most, double);
    int32_t count = values != NULL ? stn_parse_reals(text, values, most) : -1;
    if (count < 0) {
        robot_error(reader, xml, "number", "qpos of <key> must be finite decimal numbers separated by spaces");
        return false;
    }
    if (count != nq) {
        robot_error(reader, xml, "keyframe", "qpos of <key> has %d numbers, the joints of the file have nq = %d",
                    (int)count, (int)nq);
        return false;
    }
    memcpy(qpos, values, (size_t)nq * sizeof *qpos);
    return true;
}

static void read_key(robot_reader *reader, const xml_element *xml, int32_t number, int32_t nq) {
    static const char *const rest[] = {"time", "qvel", "act", "ctrl", "mpos", "mquat"};
    mjcf_reader *mjcf = mjcf_of(reader);
    const char *name = xml_attribute(xml, "name");
    reader->label = name != NULL ? robot_text(reader, "key %s", name) : "key";
    if (name != NULL && (name = robot_name_of(reader, xml, "name")) == NULL) {
        return;
    }
    if (name != NULL && robot_names_find(&mjcf->keys_taken, 1, name) > 0) {
        robot_error(reader, xml, "duplicate_keyframe", "there is a key of the same name: rename one");
        return;
    }
    name = name != NULL ? name : robot_names_unique(reader, &mjcf->keys_taken, robot_text(reader, "key%d", number));
    robot_names_add(reader, &mjcf->keys_taken, 1, name, 1);
    for (int32_t i = 0; i < STN_COUNT(rest); i++) {
        if (xml_attribute(xml, rest[i]) != NULL && robot_first(reader, (robot_topic)MJCF_LEFT_OUT, rest[i])) {
            robot_note(reader, xml, "keyframe", "%s of <key> is not read: a keyframe is a configuration", rest[i]);
        }
    }
    double *qpos = ROBOT_NEW(reader, nq, double), *q = ROBOT_NEW(reader, nq, double);
    if (qpos == NULL || q == NULL || !read_qpos(reader, xml, nq, qpos)) {
        return;
    }
    stn_keyframe_spec spec = {.name = name, .q = q};
    const double *in = qpos + mjcf->points_ahead;
    bool moved = any_of(qpos, mjcf->points_ahead);
    for (int32_t i = 0; i < mjcf->coordinates_count; i++) {
        const mjcf_coordinates *c = &mjcf->coordinates[i];
        const stn_joint_spec *joint = c->joint >= 0 ? &reader->joints[c->joint].spec : NULL;
        double *out = q + spec.q_count;
        if (joint == NULL) {
            stn_pose *base = ROBOT_NEW(reader, 1, stn_pose);
            spec.base = base;
            if (base == NULL || !read_free(reader, xml, in, base)) {
                return;
            }
        } else if (joint->type == STN_JOINT_FLOATING) {
            stn_pose pose, back = stn_pose_inverse(&joint->origin);
            if (!read_free(reader, xml, in, &pose)) {
                return;
            }
            pose = stn_pose_mul(&back, &pose);
            out[0] = pose.position.x;
            out[1] = pose.position.y;
            out[2] = pose.position.z;
            put_quaternion(stn_quat_from_matrix(&pose.rotation), out + 3);
        } else if (joint->type == STN_JOINT_BALL) {
            stn_quat turn;
            if (!mjcf_quaternion(reader, xml, "a quaternion in qpos", in, &turn)) {
                return;
            }
            put_quaternion(turn, out);
        } else {
            out[0] = in[0];
        }
        in += size_of(reader, c);
        moved = moved || any_of(in, c->points);
        in += c->points;
        spec.q_count += joint != NULL ? size_of(reader, c) : 0;
    }
    if (moved && robot_first(reader, (robot_topic)MJCF_LEFT_OUT, "points")) {
        robot_warn(reader, xml, "keyframe",
                   "where the points of soft bodies are is not read: a keyframe is a configuration of joints");
    }
    robot_keyframe *key = robot_add_keyframe(reader, name, xml);
    if (key != NULL) {
        key->spec = spec;
    }
}

void mjcf_read_keyframes(robot_reader *reader, const xml_element *root) {
    mjcf_reader *mjcf = mjcf_of(reader);
    const xml_element *section = NULL;
    int32_t nq = mjcf->points_ahead;
    while ((section = mjcf_next(root, "keyframe", section)) != NULL) { // those names are kept for the keys with them
        for (const xml_element *e = xml_first_child(section); e != NULL; e = xml_next_sibling(e)) {
            if (strcmp(xml_name(e), "key") == 0 && xml_attribute(e, "name") != NULL) {
                robot_names_add(reader, &mjcf->keys_taken, 0, xml_attribute(e, "name"), 1);
            }
        }
    }
    for (int32_t i = 0; i < mjcf->coordinates_count; i++) {
        nq += size_of(reader, &mjcf->coordinates[i]) + mjcf->coordinates[i].points;
    }
    if (reader->diagnostics->error_count > reader->errors_before) {
        return; // a joint may be missing
    }
    for (int32_t number = 0; (section = mjcf_next(root, "keyframe", section)) != NULL;) {
        for (const xml_element *e = xml_first_child(section); e != NULL; e = xml_next_sibling(e)) {
            if (strcmp(xml_name(e), "key") != 0) {
                continue;
            }
            if (reader->diagnostics->error_count > reader->errors_before + MOST_FAULTS) {
                return;
            }
            // Each is a copy of all coordinates, and is compared with all joints, the fixed ones too.
            if (number >= MOST_KEYS || ((int64_t)number + 1) * ((int64_t)nq + reader->joint_count) > MOST_NUMBERS) {
                reader->label = "keyframe";
                robot_error(reader, e, "size",
                            "too much for one robot: the limits are %d keys, with %d joints and coordinates together",
                            (int)MOST_KEYS, (int)MOST_NUMBERS);
                return;
            }
            read_key(reader, e, number++, nq);
        }
    }
}
