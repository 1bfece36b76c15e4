// SPDX-License-Identifier: Apache-2.0
// <actuator>: what drives a joint. With the gear g an actuator has the length g q and acts on the joint with
//   tau = g f,   f = gain ctrl + b0 + b1 g q + b2 g qd.
// Those that are a servo of the position (b1 < 0) or of the velocity (b2 = -gain), or none (b = 0), are read: gains
// kp = -b1 g^2, kd = -b2 g^2, and the effort g f that their ranges leave.
#include <string.h>

#include "mjcf.h"

/// One actuator, as its defaults and itself leave it one after the other.
typedef struct mjcf_actuator {
    const char *tag;
    double gain, bias[3], gear;
    bool affine;   // is the bias in force?
    bool foreign;  // a law of its own: not read
    bool filtered; // its activation has a state
    double dampratio;
} mjcf_actuator;

static bool reads(robot_reader *reader, const mjcf_item *item, const char *attribute, int32_t most, double *values) {
    return xml_attribute(item->xml, attribute) != NULL && mjcf_reals(reader, item, attribute, 1, most, values) > 0;
}

/// One layer: a default, or the element itself.
static void apply(robot_reader *reader, const xml_element *xml, mjcf_actuator *a) {
    const mjcf_item one = {xml, MJCF_JOINT, 0}; // only its own attributes are asked for
    a->tag = xml_name(xml);
    double gear[6] = {a->gear};
    if (reads(reader, &one, "gear", 6, gear)) {
        a->gear = gear[0];
    }
    if (strcmp(a->tag, "general") == 0) {
        double gain[10] = {a->gain}, bias[10] = {a->bias[0], a->bias[1], a->bias[2]};
        if (reads(reader, &one, "gainprm", 10, gain)) {
            a->gain = gain[0];
        }
        if (reads(reader, &one, "biasprm", 10, bias)) {
            memcpy(a->bias, bias, sizeof a->bias);
        }
        int32_t bias_type = mjcf_plain_choice(reader, xml, "biastype", "none affine muscle user dcmotor", a->affine);
        int32_t gain_type = mjcf_plain_choice(reader, xml, "gaintype", "fixed affine muscle user dcmotor", 0);
        int32_t dynamics = mjcf_plain_choice(
            reader, xml, "dyntype", "none integrator filter filterexact muscle user dcmotor", a->filtered ? 2 : 0);
        a->affine = bias_type == 1;
        a->filtered = dynamics == 2 || dynamics == 3;
        a->foreign |= bias_type > 1 || gain_type > 0 || dynamics == 1 || dynamics > 3;
    } else if (strcmp(a->tag, "position") == 0) {
        double kp = a->gain, kv = -a->bias[2], time = 0.0;
        reads(reader, &one, "kp", 1, &kp);
        if (reads(reader, &one, "kv", 1, &kv) && kv < 0.0) {
            robot_error(reader, xml, "range", "kv of <%.20s> = %g must be >= 0", xml_name(xml), kv);
            kv = 0.0;
        }
        reads(reader, &one, "dampratio", 1, &a->dampratio);
        a->filtered |= reads(reader, &one, "timeconst", 1, &time) && time > 0.0;
        a->gain = kp;
        a->bias[0] = 0.0;
        a->bias[1] = -kp;
        a->bias[2] = -kv;
        a->affine = true;
    } else if (strcmp(a->tag, "velocity") == 0) {
        reads(reader, &one, "kv", 1, &a->gain);
        a->bias[0] = a->bias[1] = 0.0;
        a->bias[2] = -a->gain;
        a->affine = true;
    } else if (strcmp(a->tag, "motor") == 0) {
        a->gain = 1.0;
        a->affine = a->foreign = a->filtered = false;
    } else {
        a->foreign = true;
    }
}

/// Largest size of a range that is in force; infinite: none.
static double limit_of(robot_reader *reader, const mjcf_item *item, const char *limited, const char *range) {
    double r[2] = {0.0};
    if (mjcf_holder(reader, item, range) == NULL && mjcf_holder(reader, item, limited) == NULL) {
        return (double)INFINITY;
    }
    if (!mjcf_is_limited(reader, item, limited, range) || !mjcf_range(reader, item, range, r)) {
        return (double)INFINITY;
    }
    double most = fmax(fabs(r[0]), fabs(r[1]));
    if (r[0] != -r[1] && r[0] * r[1] < 0.0) {
        robot_note(reader, mjcf_holder(reader, item, range), "limit",
                   "%s %g %g: the limit is the same both ways, %g counts", range, r[0], r[1], most);
    }
    return most;
}

/// The joint that is driven; NULL: none that can be, said.
static robot_joint *driven_joint(robot_reader *reader, const xml_element *xml) {
    const char *name = xml_attribute(xml, "joint");
    name = name != NULL ? name : xml_attribute(xml, "jointinparent");
    if (name == NULL) {
        robot_warn(reader, xml, "actuator", "<%.20s> drives no joint: only joint=\"...\" is read", xml_name(xml));
        return NULL;
    }
    int32_t index = robot_names_find(&reader->joint_names, 0, name);
    if (index < 0) {
        robot_error(reader, xml, "unknown_joint", "joint of <%.20s>: there is no joint '%.80s'%s", xml_name(xml), name,
                    robot_names_hint(reader, &reader->joint_names, 0, name));
        return NULL;
    }
    if (!stn_joint_type_is_axial(reader->joints[index].spec.type)) {
        robot_warn(reader, xml, "actuator", "a %s joint has no actuator here: not read",
                   stn_joint_type_name(reader->joints[index].spec.type));
        return NULL;
    }
    return &reader->joints[index];
}

static void read_actuator(robot_reader *reader, const xml_element *xml) {
    const mjcf_item item = mjcf_item_of(reader, xml, MJCF_ACTUATOR, 0);
    const mjcf_layers *layers = &mjcf_of(reader)->classes[item.class_index].layers[MJCF_ACTUATOR];
    mjcf_actuator a = {.gain = 1.0, .gear = 1.0};
    for (int32_t i = 0; i < layers->count; i++) {
        apply(reader, layers->items[i], &a);
        a.foreign &= strcmp(a.tag, "general") == 0; // a default of another kind leaves nothing to one that is read
    }
    apply(reader, xml, &a);
    robot_joint *joint = driven_joint(reader, xml);
    if (joint == NULL) {
        return;
    }
    if (a.foreign) {
        robot_warn(reader, xml, "actuator",
                   "<%.20s> of this kind is not read: the joint gets no servo and no limit by it", xml_name(xml));
        return;
    }
    if (a.gear == 0.0) {
        robot_warn(reader, xml, "actuator", "its gear is 0: it drives nothing");
        return;
    }
    if (a.affine) { // else it is a motor
        bool position = a.bias[1] < 0.0 && a.bias[2] <= 0.0;
        bool velocity = a.bias[0] == 0.0 && a.bias[1] == 0.0 && a.bias[2] <= 0.0 && a.bias[2] == -a.gain;
        if (!position && !velocity) {
            robot_warn(reader, xml, "actuator",
                       "its force %g ctrl %+g %+g q %+g v is that of no motor and no servo: not read", a.gain,
                       a.bias[0], a.bias[1], a.bias[2]);
            return;
        }
        if (position && (a.gain != -a.bias[1] || a.bias[0] != 0.0)) {
            robot_note(reader, xml, "actuator",
                       "its control is no angle or length: the servo is read, for targets of the joint");
        }
        double square = a.gear * a.gear;
        joint->spec.servo_kp += -a.bias[1] * square;
        joint->spec.servo_kd += -a.bias[2] * square;
    }
    if (a.filtered) {
        robot_warn(reader, xml, "actuator", "the filter of its control is not read");
    }
    if (a.dampratio > 0.0) {
        robot_warn(reader, xml, "actuator", "dampratio is not read: give kv");
    }
    double force = limit_of(reader, &item, "forcelimited", "forcerange");
    double control = limit_of(reader, &item, "ctrllimited", "ctrlrange");
    if (!a.affine) {
        force = fmin(force, fabs(a.gain) * control);
    }
    joint->spec.effort = fmin(joint->spec.effort, fabs(a.gear) * force);
    if (joint->spec.actuator == NULL) {
        const char *name = xml_attribute(xml, "name");
        joint->spec.actuator = name != NULL && name[0] != '\0' ? name : joint->spec.name;
    }
}

void mjcf_read_actuators(robot_reader *reader, const xml_element *root) {
    const xml_element *section = NULL;
    while ((section = mjcf_next(root, "actuator", section)) != NULL) {
        for (const xml_element *e = xml_first_child(section); e != NULL; e = xml_next_sibling(e)) {
            if (robot_lists("general motor position velocity intvelocity damper cylinder muscle adhesion dcmotor",
                            xml_name(e))) {
                const char *name = xml_attribute(e, "name");
                reader->label = name != NULL ? robot_text(reader, "actuator %s", name) : "actuator";
                read_actuator(reader, e);
            }
        }
    }
}
