// SPDX-License-Identifier: Apache-2.0
// Independent residuals of a solution, from (problem, v, gamma) alone. Computed by the core, never by a solver.
#ifndef STICTION_CERTIFICATE_H
#define STICTION_CERTIFICATE_H

#include <stiction/delassus.h>
#include <stiction/law.h>

STN_BEGIN_C

/// Every residual: member, JSON name, unit, meaning. NaN: does not apply (printed null). NaN in an input stays NaN in
/// the residuals it enters, and makes `finite` false.
#define STN_CERTIFICATE_FIELDS(X)                                                                                      \
    X(momentum, "momentum", "1", "S(32): |D (A (v - v*) - J'gamma)| / max(|D A v|, |D J'gamma|)")                      \
    X(complementarity, "complementarity", "1", "mean |g . gamma| over the energy scale, S(33), normalisation ours")    \
    X(complementarity_J, "complementarity_J", "J", "mean |g . gamma| over contacts")                                   \
    X(cone, "cone", "1", "max (|gamma_t| - mu gamma_n)+ / max(gamma_n, 1e-12 g), and (-gamma_n)+ / g, g = max|gamma|") \
    X(penetration_m, "penetration_m", "m", "max (-(phi0 + dt v_n))+")                                                  \
    X(natural_ncp, "natural_ncp", "m/s", "largest natural map of the Coulomb problem, rho = 3/trace(W_ii)")            \
    X(natural_ccp, "natural_ccp", "m/s", "the same of its convex relaxation")                                          \
    X(natural_scaled, "natural_scaled", "1", "omega-scaled Coulomb natural map over max(|q|, |u|), u from gamma")      \
    X(natural_ccp_scaled, "natural_ccp_scaled", "1",                                                                   \
      "the same of the convex relaxation, with the solver's R and v_hat")                                              \
    X(friction_work_J, "friction_work_J", "J", "sum (gamma_t . v_t)+: friction work of the wrong sign")                \
    X(law_residual, "law_residual", "1", "max |gamma_i - law(v_i)| / |gamma|")                                         \
    X(box, "box", "N s", "largest violation of lo <= gamma <= hi")

/// Residuals of one solution, judged by the core; the list above has member, name in files, unit and meaning. NaN: does
/// not apply.
typedef struct stn_certificate {
#define STN_CERTIFICATE_MEMBER(member, name, unit, text) double member;
    STN_CERTIFICATE_FIELDS(STN_CERTIFICATE_MEMBER)
#undef STN_CERTIFICATE_MEMBER
    bool finite;          // v, gamma and every residual that applies; else a solve counts as not converged
    double momentum_size; // what `momentum` is relative to, max(|D A v|, |D J^T gamma|) [sqrt(J)]; NaN: not applicable
    /// What contacts store, no residual [J]: at the gaps phi0 of the step's start, and at phi0 + dt v_n of its end.
    /// Each k gap^2/2 in overlap, with the stiffness k = 1/(dt R_n (dt + tau_d)) that R has, 0 where R_n = 0; laws
    /// whose force is another one tell it (stn_law_ops.stored). 0 without phi0.
    double contact_start_J, contact_J;
} stn_certificate;

/// A solver says that it has the solution, and the certificate says that it has not: docs/certificate.md, "A claim is
/// checked". Such an island counts as not converged.
typedef struct stn_contradiction {
    int32_t islands;      // whose claim is contradicted; 0: none, and the rest is zero
    stn_status claimed;   // STN_OK or STN_STALLED, by the island that is furthest beyond its bound; the rest is of it
    double tolerance;     // to which it claims the solution [1]
    const char *residual; // what contradicts it: "momentum error", "natural map", "law residual"; static text
    double found, bound;  // that residual, and up to where the claim would stand, both relative [1]
} stn_contradiction;
/// "says 'ok' at tolerance 1e-06, but its momentum error is 0.94, bound 0.001"; "" without a contradiction. Cut to
/// `size` bytes. Thread: [any].
STN_API void stn_contradiction_text(const stn_contradiction *contradiction, char *text, size_t size);

/// STN_CERTIFICATE_LIGHT leaves the natural maps and the law residual NaN; SCALED adds natural_scaled and
/// natural_ccp_scaled, which need `inverse`, and stay NaN where some A has none.
enum { STN_CERTIFICATE_LIGHT = 1u << 0, STN_CERTIFICATE_SCALED = 1u << 1 };

/// Definitions: docs/certificate.md. `law` and `law_memory` may be NULL (law_residual NaN); `inverse` may be NULL
/// unless SCALED. Without constraints every residual that sums over them is 0. A local problem has momentum NaN.
STN_API stn_status stn_certify(const stn_problem *problem, const double *v, const double *gamma, const stn_law *law,
                               const void *law_memory, const stn_inverse *inverse, uint32_t flags, stn_arena *scratch,
                               stn_certificate *out, stn_error *err);
/// Condition number of D H D, estimated to some per cent: H = A + J^T G J is the Hessian of the law's convex problem at
/// v, D = diag(A)^-1/2. Dense, for studies: STN_ERR_UNSUPPORTED above 4,000 dofs and for local problems,
/// STN_ERR_NUMERIC when H is not positive definite. Everything lies in `scratch`.
STN_API stn_status stn_condition_number(const stn_problem *problem, const double *v, const stn_law *law,
                                        const void *law_memory, stn_arena *scratch, double *out, stn_error *err);

STN_END_C
#endif
