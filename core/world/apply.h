// SPDX-License-Identifier: Apache-2.0
// What a world is given between its steps. Every such change is one of these records and passes stn_world_apply, which
// makes it and tells the hook: who keeps what the hook was told can make the same run again.
#ifndef STICTION_CORE_WORLD_APPLY_H
#define STICTION_CORE_WORLD_APPLY_H

#include <stiction/world.h>

/// Arrays of the state that are set from outside. The numbers stand in recordings: new ones come last.
typedef enum input_field {
    INPUT_Q,
    INPUT_V,
    INPUT_REFERENCE,
    INPUT_EFFORT,
    INPUT_WRENCH,
    INPUT_KINEMATIC,
    INPUT_SURFACE,
    INPUT_ACTIVATION,
    INPUT_MASS,
    INPUT_FRICTION,
    INPUT_FIELD_COUNT
} input_field;

typedef enum input_kind {
    INPUT_VALUES,     // some numbers of a field
    INPUT_DT,         // another length of steps
    INPUT_GRAVITY,    // another gravity
    INPUT_STATE,      // the whole state, by reset or restore
    INPUT_CONTROLLER, // a controller more
    INPUT_SIGNAL,     // the value of a signal
    INPUT_INTEGRATOR, // another integrator
    INPUT_CAMERA,     // another camera of pictures
    INPUT_CAPTION,    // what is said beside pictures
} input_kind;

typedef struct input_part {
    input_field field;
    size_t start, count; // in the field
    const void *values;  // (count) doubles, at any address
} input_part;

typedef struct world_input {
    input_kind kind;
    union {
        input_part part;
        double dt;                // [s]
        stn_vec3 gravity;         // [m/s^2]
        const stn_state *state;   // of the world's own sizes
        stn_instance *integrator; // borrowed; the world keeps it
        const stn_camera *camera;
        const char *caption;
        struct {
            stn_instance *instance; // the world takes it over, also on failure
            int32_t group, joint_count;
            const int32_t *joints; // NULL: all that move
        } controller;
        struct {
            const char *name;
            double value;
        } signal;
    };
} world_input;

/// Called after every input, when it stands in the world. All of `input` is borrowed for the call.
typedef struct input_hook {
    void (*told)(void *user, const world_input *input); // NULL: nobody listens
    void *user;
} input_hook;

/// Makes the change and tells the hook. Numbers of INPUT_VALUES are taken as they are: who brings them has checked
/// them. STN_ERR_ARGUMENT: a range that the field does not have, and what the input itself is refused for.
stn_status stn_world_apply(stn_world *world, const world_input *input, stn_error *err);

/// INPUT_VALUES of a range that the field is known to have.
void stn_world_apply_values(stn_world *world, input_field field, size_t start, size_t count, const double *values);

#endif
