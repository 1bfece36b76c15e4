// SPDX-License-Identifier: Apache-2.0
// Specs to start from.
#include <stiction/model.h>

stn_field_spec stn_field_spec_unset(void) {
    return (stn_field_spec){.resolution = NAN, .margin = NAN, .thickness = NAN, .volume_mesh = -1};
}

stn_geometry_spec stn_geometry_spec_default(stn_shape shape) {
    return (stn_geometry_spec){.shape = shape,
                               .pose = stn_pose_identity(),
                               .material = stn_material_unset(),
                               .rgba = {0.5f, 0.5f, 0.5f, 1.0f},
                               .collision = true,
                               .visual = true,
                               .category = 1,
                               .mask = UINT32_MAX,
                               .mesh = -1,
                               .field = stn_field_spec_unset()};
}

stn_joint_spec stn_joint_spec_default(const char *name, stn_joint_type type) {
    return (stn_joint_spec){.name = name,
                            .type = type,
                            .parent = STN_WORLD,
                            .child = -1,
                            .origin = stn_pose_identity(),
                            .axis = {1.0, 0.0, 0.0},
                            .lower = -INFINITY,
                            .upper = INFINITY,
                            .effort = INFINITY,
                            .velocity = INFINITY,
                            .acceleration = INFINITY,
                            .gear_ratio = 1.0,
                            .mimic = -1,
                            .mimic_multiplier = 1.0};
}
