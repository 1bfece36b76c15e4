// SPDX-License-Identifier: Apache-2.0
// Moving configurations by velocities, and the velocity between two configurations.
#include "dynamics/kinematics.h"

void stn_integrate_q(const stn_model *model, const double *q, const double *v, double s, double *q_next) {
    const model_object *object = model_object_of(model);
    for (int32_t i = 1; i < model->body_count; i++) {
        const body_plan *plan = &object->plan[i];
        joint_kind_get((stn_joint_type)plan->type)->integrate(q + plan->q, v + plan->v, s, q_next + plan->q);
    }
    q += object->node_q;
    v += object->node_v;
    q_next += object->node_q;
    for (int32_t i = 0; i < 3 * model->node_count; i++) {
        q_next[i] = q[i] + s * v[i];
    }
}

void stn_difference_q(const stn_model *model, const double *q_a, const double *q_b, double *v) {
    const model_object *object = model_object_of(model);
    for (int32_t i = 1; i < model->body_count; i++) {
        const body_plan *plan = &object->plan[i];
        joint_kind_get((stn_joint_type)plan->type)->difference(q_a + plan->q, q_b + plan->q, v + plan->v);
    }
    q_a += object->node_q;
    q_b += object->node_q;
    v += object->node_v;
    for (int32_t i = 0; i < 3 * model->node_count; i++) {
        v[i] = q_b[i] - q_a[i];
    }
}
