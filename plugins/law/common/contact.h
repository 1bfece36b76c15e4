// SPDX-License-Identifier: Apache-2.0
// Physical data of a contact as laws read them: checked, and with a finite stiffness.
#ifndef STICTION_LAW_COMMON_CONTACT_H
#define STICTION_LAW_COMMON_CONTACT_H

#include <math.h>
#include <stiction/plugin.h>

/// One contact. All finite; `stiffness` stands for an infinite one as law_rules says.
typedef struct law_contact {
    double dt, phi0, stiffness, dissipation, mu, w;
    double normal_speed;              // v_n0 = (J v0 + b)_n, the problem's vn0 where it states one; 0 unless lagged
    double normal_impulse;            // gamma_n0 that the problem states; NaN: the law computes it
    double stiction_tolerance, sigma; // of the problem where it states them, else of the rules
    double slip[2];                   // along the tangents before the step; 0 unless `slip`
    double relaxation_time;           // of a compliant contact; 0 unless `relaxation`
    bool rigid;                       // its own stiffness is infinite
} law_contact;

/// A parameter of a law that the problem may state, as its `stiction_tolerance`, `sigma` and `beta`; NaN: it does not.
static inline double law_stated(double stated, double own) {
    return isnan(stated) ? own : stated;
}

/// What a law asks of law_prepare.
typedef struct law_rules {
    const char *id;
    /// A rigid contact (k infinite) becomes as stiff as a step resolves: k = 4 pi^2/(beta^2 dt^2 w), a mode of period
    /// beta dt [castro-2022]. A finite stiffness is taken as it is.
    double beta;
    double stiction_tolerance, sigma; // parameters of the law; 0: it has none
    bool lagged;                      // reads normal_speed and normal_impulse
    bool guess;                       // takes the normal impulse from the gap, whatever the problem states
    bool slip, relaxation;            // reads these
    /// Writes the coefficients of one lane, entry k at lane[k stride]. Padding lanes come as a contact of stiffness 0,
    /// mu 0 and a gap of 1 m: what it writes must evaluate to zeros.
    void (*fill)(const void *self, const law_contact *contact, double *lane, size_t stride);
    /// Of points alone: its force is no multiple of k times the overlap, as that of a face of a patch is by definition
    /// (k = area times gradient of the pressure). Faces are refused.
    bool points_alone;
} law_rules;

/// One contact of a problem, as law_prepare hands it to `fill`; STN_ERR_NUMERIC, STN_ERR_UNSUPPORTED as there. [any]
stn_status law_read(const law_rules *rules, const stn_problem *problem, int32_t constraint, law_contact *out,
                    stn_error *err);

/// The stiffness that law_read gives a contact [N/m]. [any]
double law_stiffness(const stn_problem *problem, int32_t constraint, double beta);

/// The prepare of a law. STN_ERR_NUMERIC names a datum that is missing or out of range, STN_ERR_UNSUPPORTED a set other
/// than the cone. [step]
stn_status law_prepare(const law_rules *rules, const void *self, const stn_problem *problem, const stn_law_batch *batch,
                       stn_error *err);

#endif
