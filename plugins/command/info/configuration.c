// SPDX-License-Identifier: Apache-2.0
// Configurations of a robot: zero, two rules that reach every joint, a keyframe of the file, or values by name from a
// JSON file.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "info.h"

enum { LARGEST_FILE = 1 << 24, CANDIDATES = 500 };

// ---------------------------------------------------------------------------------------------------- JSON file

/// Numbers of a JSON value, -1 when it is something else or has more than `capacity`.
static int32_t read_numbers(const cJSON *value, double *numbers, int32_t capacity) {
    const cJSON *item = cJSON_IsArray(value) ? value->child : value;
    int32_t count = 0;
    for (; item != NULL; item = cJSON_IsArray(value) ? item->next : NULL) {
        if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) || count == capacity) {
            return -1;
        }
        numbers[count++] = item->valuedouble;
    }
    return count;
}

static stn_status set_joint(const info_report *r, const char *path, const cJSON *value, stn_error *err) {
    int32_t index = stn_model_find_joint(r->robot.model, 0, value->string);
    if (index < 0) {
        const char *name = value->string;
        const char *names[CANDIDATES];
        int32_t count = r->robot.model->joint_count < CANDIDATES ? r->robot.model->joint_count : CANDIDATES;
        for (int32_t j = 0; j < count; j++) {
            names[j] = r->robot.model->joints[j].name;
        }
        const char *near = stn_suggest(name, names, count);
        return stn_fail(err, STN_ERR_PARSE, "%s: the robot has no moving joint '%.80s'%s%.80s%s", path, name,
                        near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    const stn_joint *joint = &r->robot.model->joints[index];
    double numbers[7] = {0.0};
    if (read_numbers(value, numbers, STN_COUNT(numbers)) != joint->nq) {
        return stn_fail(err, STN_ERR_PARSE, "%s: joint '%.80s' is %s: give %d finite number%s", path, joint->name,
                        stn_joint_type_name(joint->type), (int)joint->nq, joint->nq > 1 ? "s in an array" : "");
    }
    int32_t first = stn_joint_type_quaternion(joint->type);
    if (first >= 0) { // files hold quaternions with some digits: they are made unit ones when they are nearly so
        double *w = numbers + first;
        double norm = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
        if (!(fabs(norm - 1.0) <= 1e-3)) {
            return stn_fail(err, STN_ERR_PARSE,
                            "%s: joint '%.80s': the quaternion (w x y z, numbers %d to %d) has length %g, not 1", path,
                            joint->name, (int)first + 1, (int)first + 4, norm);
        }
        for (int32_t k = 0; k < 4; k++) {
            w[k] /= norm;
        }
    }
    memcpy(r->q + joint->q_start, numbers, (size_t)joint->nq * sizeof *numbers);
    return STN_OK;
}

static stn_status set_from_file(const info_report *r, const char *path, stn_error *err) {
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        return stn_fail(err, STN_ERR_FILE, "--q %s: %s; give Z, A, B, a keyframe of the robot or a JSON file", path,
                        strerror(errno));
    }
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > LARGEST_FILE) {
        close(file);
        return stn_fail(err, STN_ERR_FILE, "--q %s: not a JSON file", path);
    }
    size_t size = (size_t)about.st_size;
    char *text = stn_allocate(r->robot.context, size + 1, 1);
    ssize_t got = text != NULL ? read(file, text, size) : -1;
    close(file);
    cJSON *json = got == (ssize_t)size ? cJSON_ParseWithOpts(text, NULL, true) : NULL;
    stn_release(r->robot.context, text);
    stn_status status = STN_OK;
    if (got != (ssize_t)size) {
        status = stn_fail(err, STN_ERR_FILE, "--q %s: cannot be read", path);
    } else if (!cJSON_IsObject(json)) {
        status = stn_fail(err, STN_ERR_PARSE, "%s: must be one JSON object { \"joint\": value }", path);
    }
    for (const cJSON *value = json != NULL ? json->child : NULL; value != NULL && status == STN_OK;
         value = value->next) {
        status = set_joint(r, path, value, err);
    }
    cJSON_Delete(json);
    return status;
}

stn_status info_configure(info_report *r, const char *choice, stn_error *err) {
    stn_status status = STN_OK;
    int32_t keyframe = choice != NULL ? stn_model_find_keyframe(r->robot.model, 0, choice) : -1;
    for (int32_t j = 0; j < r->robot.model->joint_count; j++) {
        const stn_joint *joint = &r->robot.model->joints[j];
        stn_joint_type_rest(joint->type, r->q + joint->q_start);
    }
    if (choice != NULL && (strcmp(choice, "A") == 0 || strcmp(choice, "B") == 0)) {
        for (int32_t j = 0; j < r->robot.model->joint_count; j++) {
            const stn_joint *joint = &r->robot.model->joints[j];
            double *q = r->q + joint->q_start;
            if (joint->type == STN_JOINT_FLOATING) {
                stn_mat3 turn = stn_mat3_from_rpy(0.1, 0.2, 0.3);
                stn_quat u = stn_quat_from_matrix(&turn);
                const double values[7] = {0.1, 0.2, 0.3, u.w, u.x, u.y, u.z};
                memcpy(q, values, sizeof values);
            } else if (joint->type == STN_JOINT_PLANAR) {
                const double values[3] = {0.1, -0.2, 0.3};
                memcpy(q, values, sizeof values);
            } else if (stn_joint_type_is_axial(joint->type)) {
                // A: 30 % of the way between the limits, where there are any; B: another value for each joint
                bool limited = joint->type == STN_JOINT_REVOLUTE || joint->type == STN_JOINT_PRISMATIC;
                limited = limited && isfinite(joint->lower) && isfinite(joint->upper) && joint->upper > joint->lower;
                double a = limited ? joint->lower + 0.3 * (joint->upper - joint->lower) : 0.3;
                double b = (joint->type == STN_JOINT_PRISMATIC ? 0.05 : 0.3) * sin(j + 1);
                *q = choice[0] == 'A' ? a : b;
            }
        }
    } else if (keyframe >= 0) {
        stn_model_keyframe_apply(r->robot.model, keyframe, r->q);
    } else if (choice != NULL && strcmp(choice, "Z") != 0) {
        status = set_from_file(r, choice, err);
    }
    for (int32_t j = 0; j < r->robot.model->joint_count; j++) { // mimic joints follow
        const stn_joint *joints = r->robot.model->joints;
        if (joints[j].mimic >= 0) {
            cli_chain chain = r->robot.chains[j];
            r->q[joints[j].q_start] = chain.scale * r->q[joints[chain.master].q_start] + chain.offset;
        }
    }
    return status;
}
