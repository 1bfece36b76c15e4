-- SPDX-License-Identifier: Apache-2.0
-- Mistakes in the physics, one small edit each, and what must notice them. Fields:
--   name, says     how ./dev mutations calls it, and what is wrong then
--   file           the source that is edited
--   from, to       text that occurs there once, and what takes its place
--   test           the test that must fail (its name in ctest)
--   paper, row     the row of `stiction papers` that must turn red: the paper's folder in scripts/papers, and a part of the
--                  row's quantity or place; without `row` one of the paper's rows must. Without a paper: no row shows it.
return {
  {
    name = "friction_pushes", says = "friction of law sap acts along the slip",
    file = "plugins/law/sap/sap.c", from = "gamma[0] = scale_1 * g1;\n    gamma[stride] = scale_2 * g2;",
    to = "gamma[0] = -scale_1 * g1;\n    gamma[stride] = -scale_2 * g2;", test = "references/laws",
    paper = "sap", row = "steps per period, rolling",
  },
  {
    name = "no_friction", says = "law sap has no friction: mu = 0",
    file = "plugins/law/sap/sap.c", from = "lane[MU * stride] = mu;", to = "lane[MU * stride] = 0.0 * mu;",
    test = "references/laws",
    paper = "sap", row = "slip of a point mass",
  },
  {
    name = "stiffness_without_relaxation", says = "law sap forgets tau_d in its stiffness",
    file = "plugins/law/sap/sap.c", from = "1.0 / (problem->dt * c->stiffness * time)",
    to = "1.0 / (problem->dt * c->stiffness * problem->dt)", test = "references/laws",
    paper = "icf", row = "SAP: stiffness during slip",
  },
  {
    name = "no_dissipation", says = "law lagged and its like ignore Hunt and Crossley's d",
    file = "plugins/law/irrotational/irrotational.c", from = "d = contact->dissipation;", to = "d = 0.0 * contact->dissipation;",
    test = "references/laws",
    paper = "icf", row = "Lagged: dissipation during slip",
  },
  {
    name = "similar_decoupled", says = "the normal force of law similar does not see the slip",
    file = "plugins/law/irrotational/irrotational.c", from = "v_c[2 * stride] - mu * (slip2 / (s + e)), cost",
    to = "v_c[2 * stride] - 0.0 * mu * (slip2 / (s + e)), cost", test = "references/laws",
    paper = "icf", row = "Similar: gliding during slip",
  },
  {
    name = "lag_of_nothing", says = "lagged friction takes the gap's impulse with the wrong sign",
    file = "plugins/law/common/lagged.h", from = "double damping = 1.0 - c->dissipation * c->normal_speed;",
    to = "double damping = 1.0 + c->dissipation * c->normal_speed;", test = "law/irrotational",
    paper = "icf", row = "Lagged: jams later by dissipation",
  },
  {
    name = "inverse_mass", says = "w of a contact is |W|_F instead of |W|_F/3",
    file = "core/problem/inverse_mass.c", from = "constraint->w = sqrt(square) / rows;", to = "constraint->w = sqrt(square);",
    test = "references/laws",
    paper = "sap", row = "slip of a point mass",
  },
  {
    name = "nsgs_without_lift", says = "nsgs leaves out de Saxce's term: Coulomb's law becomes the relaxation",
    file = "plugins/solver/gauss_seidel/sweep.c", from = "(g[2] + row->mu * sqrt(g[0] * g[0] + g[1] * g[1]));",
    to = "(g[2] + 0.0 * row->mu * sqrt(g[0] * g[0] + g[1] * g[1]));", test = "references/solvers",
  },
  {
    name = "wrong_root", says = "the bisection method returns the mirror image of its root",
    file = "plugins/solver/gauss_seidel/local.c", from = "v = r * (k.side * 2.0 * x);", to = "v = -r * (k.side * 2.0 * x);",
    test = "references/solvers",
    paper = "per_contact", row = "do not converge",
  },
  {
    name = "one_cone_dropped", says = "apgd and admm do not project the first contact on its cone",
    file = "plugins/solver/common/scaled_dual.c", from = "if (row->cone) {\n            stn_cone_project",
    to = "if (row->cone && i == 0) {\n            continue;\n        }\n        if (row->cone) {\n            stn_cone_project",
    test = "references/solvers",
  },
  {
    name = "no_virtual_node", says = "cond ties virtual nodes rigidly, whatever k_v is",
    file = "plugins/solver/cond/cond.c", from = "damping > 0.0 ? 1.0 / (damping * problem->dt) : 0.0, arena",
    to = "damping > 0.0 ? 0.0 : 0.0, arena", test = "solver/cond", paper = "cond", row = "error along z, k_v",
  },
  {
    name = "half_a_step", says = "symplectic Euler moves positions by half of dt v",
    file = "plugins/integrator/common/semi_implicit.c", from = "view->v_position : v, view->dt, q_next);",
    to = "view->v_position : v, 0.5 * view->dt, q_next);", test = "references/motions",
    paper = "icf", row = "Lagged: order from 0.4 to 2 ms",
  },
  {
    name = "theta_moves_by_new_velocity", says = "midpoint moves positions by the velocity of the step's end",
    file = "plugins/integrator/theta/theta.c",
    from = "v_next[d] = scheme->theta_vq * v[d] + (1.0 - scheme->theta_vq) * view->v[d];", to = "v_next[d] = v[d] + 0.0 * scheme->theta_vq;",
    test = "references/motions",
    paper = "sap", row = "order of midpoint",
  },
  {
    name = "no_gyroscopic_torque", says = "free bodies spin without gyroscopic torque",
    file = "plugins/integrator/common/spinning_body.c", from = "residual = stn_vec3_mul_add(residual, -h, stn_vec3_cross(w, Iw));",
    to = "residual = stn_vec3_mul_add(residual, -0.0 * h, stn_vec3_cross(w, Iw));", test = "references/motions",
  },
  {
    name = "coriolis_reversed", says = "centrifugal forces of articulated bodies have the wrong sign",
    file = "core/dynamics/inverse_dynamics_kernel.c", from = "cross_back(alpha, h) + swings);", to = "cross_back(alpha, h) - swings);",
    test = "references/motions",
  },
  {
    name = "short_arm", says = "the contact Jacobian of a free body has half of the lever arm",
    file = "core/dynamics/jacobian.c", from = "turn = stn_vec3_cross(r, e);", to = "turn = stn_vec3_scale(0.5, stn_vec3_cross(r, e));",
    test = "references/contacts",
    paper = "icf", row = "Lagged: order from 0.4 to 2 ms",
  },
  {
    name = "axes_of_friction_swapped", says = "mu and mu2 of friction by direction change places",
    file = "core/world/assemble.c", from = "c->mu1 = contact->material.mu;\n    c->mu2 = contact->mu2;",
    to = "c->mu1 = contact->mu2;\n    c->mu2 = contact->material.mu;", test = "references/contacts", paper = "cond", row = "maximal dissipation",
  },
  {
    name = "pressure_doubled", says = "faces of a patch have twice their area",
    file = "plugins/contact/hydroelastic/face_add.c", from = "whole.area = f->area * f->weight;", to = "whole.area = 2.0 * f->area * f->weight;",
    test = "contact/hydroelastic",
  },
  {
    name = "certificate_is_blind", says = "the certificate does not look at the natural map of Coulomb's law",
    file = "core/problem/certificate.c", from = "c->natural_ncp = sqrt(ncp);", to = "c->natural_ncp = 0.0 * sqrt(ncp);",
    test = "problem/certificate",
  },
  {
    name = "quasistatic_without_springs", says = "quasistatic steps forget that the command pulls by K",
    file = "plugins/integrator/quasistatic/quasistatic.c",
    from = "stn_status status = stn_matrix_add_scaled(A, dt * dt, K);", to = "stn_status status = stn_matrix_add_scaled(A, 0.5 * dt * dt, K);",
    test = "references/contacts",
    paper = "quasistatic", row = "while it slides",
  },
  {
    name = "quasistatic_without_weight", says = "quasistatic steps forget gravity",
    file = "plugins/integrator/quasistatic/quasistatic.c", from = "view->forces->tau[tree->v_start + i] - gravity[i]);",
    to = "view->forces->tau[tree->v_start + i] - 0.0 * gravity[i]);", test = "references/contacts",
    paper = "quasistatic", row = "LCP: c_n3 while it slides",
  },
}
