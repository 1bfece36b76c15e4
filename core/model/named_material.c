// SPDX-License-Identifier: Apache-2.0
// Materials by name: docs/materials.md has the sources, the ranges and how each value was chosen; a test holds the two
// together. A coefficient is that of the material on itself in the sense of the combination rule: where a source
// measured it on another material, the value is the one that makes the pair come out as measured.
#include <string.h>

#include <stiction/model.h>

#define SURFACE(friction, at_rest, young)                                                                 \
    {                                                                                                     \
        .mu = friction, .stiffness = NAN, .relaxation_time = NAN, .dissipation = NAN, .restitution = NAN, \
        .modulus = young, .mu_static = at_rest                                                            \
    }

static const stn_named_material materials[] = {
    // name, density [kg/m^3], mu, mu_static (NAN: the same), Young's modulus [Pa]
    {"abs", 1050.0, SURFACE(0.5, NAN, 2e9)},
    {"acetal", 1410.0, SURFACE(0.12, NAN, 3e9)},
    {"aluminium", 2700.0, SURFACE(0.40, 0.52, 69e9)},
    {"brass", 8530.0, SURFACE(0.36, 0.39, 110e9)},
    {"cardboard", 670.0, SURFACE(0.375, 0.5, 6e9)},
    {"concrete", 2400.0, SURFACE(0.6, 0.8, 30e9)},
    {"copper", 8890.0, SURFACE(0.26, 0.41, 115e9)},
    {"glass", 2500.0, SURFACE(0.40, 0.94, 69e9)},
    {"ice", 917.0, SURFACE(0.03, 0.1, 9.1e9)},
    {"leather", 930.0, SURFACE(0.55, NAN, 0.3e9)},
    {"nylon", 1140.0, SURFACE(0.32, NAN, 2.7e9)},
    {"pla", 1240.0, SURFACE(0.5, NAN, 3.5e9)},
    {"polycarbonate", 1200.0, SURFACE(0.52, NAN, 2.38e9)},
    {"rubber", 930.0, SURFACE(0.84, 1.33, 2e6)},
    {"silicone", 1100.0, SURFACE(1.0, NAN, 5e6)},
    {"steel", 7850.0, SURFACE(0.57, 0.74, 207e9)},
    {"teflon", 2170.0, SURFACE(0.04, NAN, 0.475e9)},
    {"wood", 500.0, SURFACE(0.3, 0.5, 12e9)},
};

const stn_named_material *stn_named_materials(int32_t *count) {
    *count = STN_COUNT(materials);
    return materials;
}

const stn_named_material *stn_named_material_find(const char *name) {
    for (int32_t i = 0; i < STN_COUNT(materials); i++) {
        if (strcmp(materials[i].name, name) == 0) {
            return &materials[i];
        }
    }
    return NULL;
}
