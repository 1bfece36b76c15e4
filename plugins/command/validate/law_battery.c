// SPDX-License-Identifier: Apache-2.0
// What every contact law must do, and what to do about it.
#include "law_checks.h"

static const validate_check checks[] = {
    {"declares what it is", "set size, sets, coefficient_count, prepare and evaluate of stn_law_ops, law.h",
     law_declares},
    {"gradient", "gamma = -dl/dv_c: check signs first, v_n > 0 separates", law_gradient},
    {"Hessian", "G = -dgamma/dv_c, all six entries: 11, 12, 22, 13, 23, 33", law_hessian},
    {"curl-free", "no potential has this impulse: friction that follows the normal impulse pushes on the normal too",
     law_curl},
    {"convex", "a normal force must not fall as penetration or its rate grows", law_convex},
    {"zero when open", "subtract the cost of the open contact: cost, gamma and G are 0 there", law_open},
    {"work never positive", "gamma_n >= 0, or say adhesive, and friction opposes slip: gamma_t.v_t <= 0", law_work},
    {"mu = 0", "friction follows from mu1, and vanishes with it", law_without_friction},
    {"slip", "slip tells where friction comes to 99 % of its limit, and how far slipping moves the gap of touch",
     law_slips},
    {"padding lanes", "prepare writes all lanes up to stride, open from count on; lanes do not depend on each other",
     law_lanes},
    {"same bytes again", "prepare writes every coefficient from the problem alone and changes no input", law_repeats},
    {"memory and commit", "commit writes per_constraint bytes in a constraint's slot and no more", law_memory},
    {"NaN refused by name", "prepare names a datum that it reads and that is NaN: STN_ERR_NUMERIC", law_not_a_number},
};

const validate_battery validate_laws = {STN_KIND_LAW, STN_COUNT(checks), checks};
