// SPDX-License-Identifier: Apache-2.0
// See local.h. Slips are one-dimensional: over sigma for Coulomb's law, over the direction u of friction otherwise.
#include "local.h"

#include <math.h>
#include <string.h>

#include "common/packed.h"

enum {
    MOST_STEPS = 100,
    MOST_SHIFTS = 30 // of the diagonal of a block that cannot be inverted, tenfold each time, from 1e-10 of its mean on
};

/// A contact that slips, while the others stay.
typedef struct slipping {
    const local_block *b;
    const double *c;  // velocity without its own impulse
    double precision; // of gamma [N s]
    double stick[3];  // the sticking impulse, outside of the cone
} slipping;

typedef int64_t flags __attribute__((vector_size(32), aligned(16), may_alias));

static double norm2(double x, double y) { // hypot guards against overflow, at ten times the price
    return sqrt(x * x + y * y);
}

// ---------------------------------------------------------------------------------------------------------- the block

/// Inverse of the symmetric 3 x 3 matrix a; false when a pivot of its elimination is lost in the rounding of its
/// diagonal.
static bool invert(const double a[6], double out[6]) {
    double xx = a[2] * a[5] - a[4] * a[4], xy = a[3] * a[4] - a[1] * a[5], xz = a[1] * a[4] - a[2] * a[3];
    double det = a[0] * xx + a[1] * xy + a[3] * xz;
    double minor = a[0] * a[2] - a[1] * a[1];
    if (!(minor > 1e-13 * a[0] * a[2]) || !(det > 1e-13 * minor * a[5])) {
        return false;
    }
    double d = 1.0 / det;
    out[0] = d * xx;
    out[1] = d * xy;
    out[2] = d * (a[0] * a[5] - a[3] * a[3]);
    out[3] = d * xz;
    out[4] = d * (a[1] * a[3] - a[0] * a[4]);
    out[5] = d * minor;
    return true;
}

void local_prepare(double mu, const double *W, int32_t stride, local_block *b) {
    const double *x = W, *y = W + stride, *z = W + 2 * stride; // columns
    *b = (local_block){.mu = mu, .exact = x[1] == y[0] && x[2] == z[0] && y[2] == z[1]};
    const double given[6] = {x[0], 0.5 * (x[1] + y[0]), y[1], 0.5 * (x[2] + z[0]), 0.5 * (y[2] + z[1]), z[2]};
    memcpy(b->W, given, sizeof given);
    double trace = x[0] + y[1] + z[2], more = trace > 0.0 ? 1e-10 * trace / 3.0 : 1.0;
    for (int32_t k = 0; k < MOST_SHIFTS && !invert(b->W, b->inverse); k++, more *= 10.0) {
        b->exact = false;
        b->W[0] = given[0] + more;
        b->W[2] = given[2] + more;
        b->W[5] = given[5] + more;
    }
    b->w[0] = b->W[3];
    b->w[1] = b->W[4];
    b->arm[0] = b->w[0] / b->W[5];
    b->arm[1] = b->w[1] / b->W[5];
    b->S[0] = b->W[0] - b->w[0] * b->arm[0];
    b->S[1] = b->W[1] - b->w[0] * b->arm[1];
    b->S[2] = b->W[2] - b->w[1] * b->arm[1];
    b->kappa = mu > 0.0 ? b->W[5] / mu : 0.0;
}

// --------------------------------------------------------------------------------------------------------- Coulomb

/// On v_n = 0: v_t = chat + S gamma_t = -sigma gamma_t, so gamma_t(sigma) = -(S + sigma)^-1 chat. The cone asks for
///     psi(sigma) = 1 - mu gamma_n/|gamma_t| = 0,    gamma_n = -(c_n + w.gamma_t)/W_nn,
/// which is > 0 at sigma = 0 (there is no sticking) and < 0 far out (c_n < 0). Without coupling w it is convex and
/// nearly linear, so that Newton's method needs few steps and never passes the root from the left; a bracket guards the
/// rest.
/// A step of Newton's method is -psi/psi' = -excess |gamma_t|^2/slope.
typedef struct slope {
    double gamma[2], square;     // |gamma_t|^2
    double excess, slope, speed; // psi kappa |gamma_t|; psi' kappa |gamma_t|^3; |d gamma_t/d sigma|^2
} slope;

static slope coulomb_at(const local_block *b, const double chat[2], double c_n, double sigma) {
    double xx = b->S[0] + sigma, yy = b->S[2] + sigma, xy = b->S[1], d = 1.0 / (xx * yy - xy * xy);
    slope at = {.gamma = {-d * (yy * chat[0] - xy * chat[1]), -d * (xx * chat[1] - xy * chat[0])}};
    double y[2] = {d * (yy * at.gamma[0] - xy * at.gamma[1]), d * (xx * at.gamma[1] - xy * at.gamma[0])};
    double rest = c_n + b->w[0] * at.gamma[0] + b->w[1] * at.gamma[1];
    at.square = at.gamma[0] * at.gamma[0] + at.gamma[1] * at.gamma[1];
    at.excess = b->kappa * sqrt(at.square) + rest;
    at.slope = rest * (at.gamma[0] * y[0] + at.gamma[1] * y[1]) - at.square * (b->w[0] * y[0] + b->w[1] * y[1]);
    at.speed = y[0] * y[0] + y[1] * y[1];
    return at;
}

static void coulomb_slip(const slipping *at_hand, double gamma[3], double *sigma) {
    const local_block *b = at_hand->b;
    const double *c = at_hand->c, precision = at_hand->precision;
    double chat[2] = {c[0] - b->arm[0] * c[2], c[1] - b->arm[1] * c[2]};
    double length = norm2(chat[0], chat[1]), low = 0.0;
    double high = length * (b->kappa + norm2(b->w[0], b->w[1])) / -c[2];
    double at = *sigma;
    if (!(at > 0.0)) { // the root where S is a multiple of 1 and w = 0, with what S is along chat; not below 0
        double quadratic =
            b->S[0] * chat[0] * chat[0] + 2.0 * b->S[1] * chat[0] * chat[1] + b->S[2] * chat[1] * chat[1];
        at = fmax(0.0, length * b->kappa / -c[2] - quadratic / (length * length));
    }
    at = at < high ? at : 0.0;
    const double enough = 0.25 * precision * b->mu / (1.0 + b->mu); // gamma_n moves with gamma_t
    slope here = coulomb_at(b, chat, c[2], at);
    for (int32_t k = 0; k < MOST_STEPS; k++) {
        *(here.excess > 0.0 ? &low : &high) = at;
        double next = at - here.excess * here.square / here.slope;
        if (!(next > low && next < high)) {
            next = 0.5 * (low + high);
        }
        double moved = fabs(next - at);
        at = next;
        bool done = here.speed * moved * moved <= enough * enough || moved <= 1e-15 * at;
        here = coulomb_at(b, chat, c[2], at);
        if (done) {
            break;
        }
    }
    *sigma = at;
    gamma[0] = here.gamma[0];
    gamma[1] = here.gamma[1];
    gamma[2] = norm2(gamma[0], gamma[1]) / b->mu;
}

// ------------------------------------------------------------------------------------------------ maximal dissipation

/// On the conic v_n = 0 of the cone, in the frame whose first axis is the direction of the sticking impulse:
///     gamma_t = r u,  r = s/D(u),  D = kappa + w.u,  s = -c_n,    and the energy falls while G(u) < 0,
///     G = (s S u + D chat).(kappa u' + w'):  a quartic in t = tan(theta/2)
/// on the side of the axis where the minimum is. Beyond t = 1 the same in 1/t. The axes are as long as that impulse,
/// and r in units of it: W_nt and chat are times that length, kappa too, S times its square; nothing is divided by it.
typedef struct conic {
    double e[2], length, side;            // first axis [N s]; +1 or -1: side of the second one
    double s, kappa, w[2], S[3], chat[2]; // in that frame, mirrored to the positive side
    double p[5];                          // G: coefficients of x^0 to x^4, negative before the minimum
    double d[3];                          // D likewise
    bool inverted;                        // x = 1/t
    double low, high;                     // G < 0 at low, the minimum is not beyond high; low > high when inverted
} conic;

static double conic_gradient(const conic *k, double x) { // Estrin's scheme: half of Horner's latency
    double x2 = x * x;
    return (k->p[0] + x * k->p[1]) + x2 * ((k->p[2] + x * k->p[3]) + x2 * k->p[4]);
}

/// (1 + x^2) D.
static double denominator_at(const conic *k, double x) {
    return k->d[0] + x * (k->d[1] + x * k->d[2]);
}

static bool beyond(const conic *k, double x) {
    return conic_gradient(k, x) >= 0.0 || denominator_at(k, x) <= 0.0;
}

static void swap(double *a, double *b) {
    double t = *a;
    *a = *b;
    *b = t;
}

/// The minimum lies on the part of the conic that is seen from it:
/// u.stick_t >= mu stick_n, an arc about its direction.
static conic conic_of(const slipping *at_hand) {
    const local_block *b = at_hand->b;
    const double *c = at_hand->c, *stick = at_hand->stick;
    double x = stick[0], y = stick[1], length = norm2(x, y), limit = b->mu * stick[2];
    double chat[2] = {c[0] - b->arm[0] * c[2], c[1] - b->arm[1] * c[2]};
    double Sx = b->S[0] * x + b->S[1] * y, Sy = b->S[1] * x + b->S[2] * y;
    conic k = {.e = {x, y}, .length = length, .side = 1.0, .s = -c[2], .kappa = length * b->kappa};
    k.w[0] = x * b->w[0] + y * b->w[1];
    k.w[1] = x * b->w[1] - y * b->w[0];
    k.chat[0] = x * chat[0] + y * chat[1];
    k.chat[1] = x * chat[1] - y * chat[0];
    k.S[0] = x * Sx + y * Sy;
    k.S[1] = x * Sy - y * Sx;
    k.S[2] = (b->S[0] + b->S[2]) * (length * length) - k.S[0];
    double K = k.kappa, m = k.w[0] * k.chat[1] - k.w[1] * k.chat[0]; // the quartic
    double A20 = K * (k.s * k.S[1] + k.w[0] * k.chat[1]);
    double A10 = k.s * (k.w[0] * k.S[1] - k.w[1] * k.S[0]) + K * K * k.chat[1] + m * k.w[0];
    double A11 = K * (k.s * (k.S[2] - k.S[0]) + k.w[1] * k.chat[1] - k.w[0] * k.chat[0]);
    double A01 = k.s * (k.w[0] * k.S[2] - k.w[1] * k.S[1]) - K * K * k.chat[0] + m * k.w[1];
    double A02 = -K * (k.s * k.S[1] + k.w[1] * k.chat[0]), A00 = K * m;
    k.p[0] = A20 + A10 + A00;
    k.p[1] = 2.0 * (A01 + A11);
    k.p[2] = 2.0 * (2.0 * A02 + A00 - A20);
    k.p[3] = 2.0 * (A01 - A11);
    k.p[4] = A20 - A10 + A00;
    k.d[0] = K + k.w[0];
    k.d[1] = 2.0 * k.w[1];
    k.d[2] = K - k.w[0];
    if (k.p[0] > 0.0) {
        k.side = -1.0;
        k.w[1] = -k.w[1];
        k.S[1] = -k.S[1];
        k.chat[1] = -k.chat[1];
        k.p[0] = -k.p[0];
        k.p[2] = -k.p[2];
        k.p[4] = -k.p[4];
        k.d[1] = -k.d[1];
    }
    k.high = limit > -length ? sqrt((length - limit) / (length + limit)) : (double)INFINITY; // tan of half the arc
    if (limit < 0.0 && !beyond(&k, 1.0)) {
        k.inverted = true;
        swap(&k.p[0], &k.p[4]);
        swap(&k.p[1], &k.p[3]);
        swap(&k.d[0], &k.d[2]);
        k.low = 1.0;
        k.high = 1.0 / k.high;
    } else {
        k.high = k.high < 1.0 ? k.high : 1.0;
    }
    return k;
}

/// How far the impulse moves with x: |d gamma_t/dx| = 2 |e| s sqrt(D^2 + D'^2)/D^2, D and its derivative by theta both
/// times 1 + x^2. Returns the square below the root, and D.
static double swept(const conic *k, double x, double *D) {
    double turn = (k->inverted ? x * x - 1.0 : 1.0 - x * x) * k->w[1] - 2.0 * x * k->w[0];
    *D = denominator_at(k, x);
    return *D * *D + turn * turn;
}

/// Width in x that moves the impulse by `precision` near x.
static double width_for(const conic *k, double x, double precision) {
    double D, square = swept(k, x, &D);
    return 0.5 * precision * D * D / (k->length * k->s * sqrt(square));
}

/// In how many of the bracket's eight parts, each `step` wide, the energy falls up to their end; the minimum is in the
/// next one. All ends side by side, without a branch that depends on them.
STN_KERNEL_INLINE int64_t parts_before(const conic *k, double low, double step) {
    static const packed_v4 parts[2] = {{1.0, 2.0, 3.0, 4.0}, {5.0, 6.0, 7.0, 8.0}};
    static const flags inside[2] = {{-1, -1, -1, -1}, {-1, -1, -1, 0}};
    flags sum = {0};
    for (int32_t half = 0; half < 2; half++) {
        packed_v4 x = low + step * parts[half], x2 = x * x;
        packed_v4 G = (k->p[0] + x * k->p[1]) + x2 * ((k->p[2] + x * k->p[3]) + x2 * k->p[4]);
        packed_v4 D = k->d[0] + x * (k->d[1] + x * k->d[2]);
        sum += (G < 0.0) & (D > 0.0) & inside[half];
    }
    return -(sum[0] + sum[1] + (sum[2] + sum[3]));
}

/// Halves the bracket, three times at once, until the impulse is found to `precision`. The width that this takes is
/// asked for again at its end.
STN_KERNEL static double bisect(const conic *k, double precision) {
    double low = k->low, high = k->high, width = width_for(k, low, precision);
    for (int32_t n = 0; n < MOST_STEPS; n++) {
        if (fabs(high - low) <= width) {
            double asked = width_for(k, 0.5 * (low + high), precision);
            if (!(asked < width)) {
                break;
            }
            width = asked;
        }
        double step = 0.125 * (high - low);
        if (low + step == low) {
            break;
        }
        low += (double)parts_before(k, low, step) * step;
        high = low + step;
    }
    return 0.5 * (low + high);
}

/// Root of the quartic in its bracket by Newton's method, halving where that leaves the bracket.
static double quartic_root(conic *k, double precision) {
    double x = k->low;
    for (int32_t n = 0; n < MOST_STEPS; n++) {
        double f = conic_gradient(k, x);
        double derivative = (k->p[1] + x * (2.0 * k->p[2])) + x * x * (3.0 * k->p[3] + x * (4.0 * k->p[4]));
        *(f >= 0.0 || beyond(k, x) ? &k->high : &k->low) = x;
        double next = x - f / derivative;
        if (!((next - k->low) * (next - k->high) <= 0.0)) { // NaN too
            next = 0.5 * (k->low + k->high);
        }
        double moved = fabs(next - x), D;
        x = next;
        if (moved <= 1e-16 + 4e-16 * fabs(x)) {
            break;
        }
        double square = swept(k, x, &D), left = k->length * k->s * moved, right = 0.5 * precision * D;
        if (left * left * square <= right * right * (D * D)) { // no more than `precision` of the impulse
            break;
        }
    }
    return x;
}

/// The energy that S and chat give.
static double energy_at(const conic *k, double x) {
    double h = 1.0 / (1.0 + x * x), u[2] = {(k->inverted ? x * x - 1.0 : 1.0 - x * x) * h, 2.0 * x * h};
    double r = k->s / (k->kappa + k->w[0] * u[0] + k->w[1] * u[1]);
    if (!(r > 0.0)) {
        return (double)INFINITY;
    }
    double quadratic = k->S[0] * u[0] * u[0] + 2.0 * k->S[1] * u[0] * u[1] + k->S[2] * u[1] * u[1];
    return r * (0.5 * r * quadratic + k->chat[0] * u[0] + k->chat[1] * u[1]);
}

/// Golden section resolves angles to about 1e-8; what is asked beyond that, the quartic finds from there.
static double golden(conic *k, double precision) {
    const double share = 0.6180339887498949, resolved = 1e-7;
    double a = k->low, b = k->high, x = b + share * (a - b), y = a + share * (b - a);
    double Ex = energy_at(k, x), Ey = energy_at(k, y);
    for (int32_t n = 0; n < MOST_STEPS && fabs(b - a) > fmax(width_for(k, x, precision), resolved); n++) {
        if (Ex <= Ey) {
            b = y;
            y = x;
            Ey = Ex;
            x = b + share * (a - b);
            Ex = energy_at(k, x);
        } else {
            a = x;
            x = y;
            Ex = Ey;
            y = a + share * (b - a);
            Ey = energy_at(k, y);
        }
    }
    double middle = 0.5 * (a + b);
    if (width_for(k, middle, precision) >= resolved) {
        return middle;
    }
    *(beyond(k, middle) ? &k->high : &k->low) = middle;
    return quartic_root(k, precision);
}

static void dissipation_slip(local_method method, const slipping *at_hand, double gamma[3]) {
    conic k = conic_of(at_hand);
    const double precision = at_hand->precision;
    double x = method == LOCAL_BISECTION ? bisect(&k, precision)
               : method == LOCAL_GOLDEN  ? golden(&k, precision)
                                         : quartic_root(&k, precision);
    double r = k.s / denominator_at(&k, x), y = x * x; // over 1 + x^2
    double u = r * (k.inverted ? y - 1.0 : 1.0 - y), v = r * (k.side * 2.0 * x);
    gamma[0] = u * k.e[0] - v * k.e[1];
    gamma[1] = u * k.e[1] + v * k.e[0];
    gamma[2] = r * (1.0 + y) * (k.length / at_hand->b->mu);
}

// ------------------------------------------------------------------------------------------------------- relaxation

/// Along the ray d(theta) = (u, 1/mu) of the cone the least energy is -(c.d)^2/(2 d.W d), where c.d < 0; its slope has
/// the sign of this.
typedef struct ray {
    double along, stiffness, slope; // c.d, d.W d
    double d[3];
} ray;

static ray ray_at(const local_block *b, const double c[3], double theta) {
    double x = cos(theta), y = sin(theta), z = 1.0 / b->mu;
    const double *W = b->W;
    double Wd[3] = {W[0] * x + W[1] * y + W[3] * z, W[1] * x + W[2] * y + W[4] * z, W[3] * x + W[4] * y + W[5] * z};
    ray r = {.along = c[0] * x + c[1] * y + c[2] * z, .stiffness = Wd[0] * x + Wd[1] * y + Wd[2] * z, .d = {x, y, z}};
    r.slope = r.stiffness * (c[1] * x - c[0] * y) - r.along * (Wd[1] * x - Wd[0] * y);
    return r;
}

/// The minimum is on the arc that is seen from the sticking impulse and on which c.d < 0; on both together the energy
/// has one minimum alone. Both arcs are symmetric about a direction.
static void relaxed_slip(const slipping *at_hand, double gamma[3]) {
    const local_block *b = at_hand->b;
    const double *c = at_hand->c, *stick = at_hand->stick;
    const double turn = 6.283185307179586;
    double seen = atan2(stick[1], stick[0]), against = atan2(-c[1], -c[0]);
    double psi = acos(fmax(-1.0, fmin(1.0, b->mu * stick[2] / norm2(stick[0], stick[1]))));
    double chi = acos(fmax(-1.0, fmin(1.0, c[2] / (b->mu * norm2(c[0], c[1])))));
    double best = (double)INFINITY, theta = against;
    for (int32_t k = -1; k <= 1; k++) { // the two arcs meet in one piece but for extreme couplings, then in two
        double low = fmax(seen - psi, against + k * turn - chi), high = fmin(seen + psi, against + k * turn + chi);
        if (high <= low) {
            continue;
        }
        for (int32_t n = 0; n < MOST_STEPS; n++) {
            double middle = 0.5 * (low + high);
            ray r = ray_at(b, c, middle);
            if (middle == low || middle == high ||
                (high - low) * -r.along <= 0.1 * at_hand->precision * b->mu * r.stiffness) {
                break;
            }
            *(r.slope > 0.0 ? &high : &low) = middle;
        }
        double at = 0.5 * (low + high);
        ray r = ray_at(b, c, at);
        double energy = r.along < 0.0 ? -r.along * r.along / r.stiffness : 0.0;
        if (energy < best) {
            best = energy;
            theta = at;
        }
    }
    ray r = ray_at(b, c, theta);
    double length = fmax(0.0, -r.along / r.stiffness);
    for (int32_t a = 0; a < 3; a++) {
        gamma[a] = length * r.d[a];
    }
}

// ------------------------------------------------------------------------------------------------------------- cases

local_state local_solve(local_method method, const local_block *b, const double c[3], double precision, double gamma[3],
                        double *sigma) {
    double reach = method == LOCAL_CCP ? b->mu * norm2(c[0], c[1]) : 0.0;
    if (c[2] >= reach) {
        gamma[0] = gamma[1] = gamma[2] = 0.0;
        return LOCAL_OPEN;
    }
    if (b->mu == 0.0) {
        gamma[0] = gamma[1] = 0.0;
        gamma[2] = -c[2] / b->W[5];
        return LOCAL_STICK;
    }
    const double *I = b->inverse;
    const slipping at_hand = {b,
                              c,
                              precision,
                              {-(I[0] * c[0] + I[1] * c[1] + I[3] * c[2]), -(I[1] * c[0] + I[2] * c[1] + I[4] * c[2]),
                               -(I[3] * c[0] + I[4] * c[1] + I[5] * c[2])}};
    const double *stick = at_hand.stick;
    double limit = b->mu * stick[2];
    if (limit >= 0.0 && stick[0] * stick[0] + stick[1] * stick[1] <= limit * limit) {
        gamma[0] = stick[0];
        gamma[1] = stick[1];
        gamma[2] = stick[2];
        return LOCAL_STICK;
    }
    if (method == LOCAL_COULOMB) {
        coulomb_slip(&at_hand, gamma, sigma);
    } else if (method == LOCAL_CCP) {
        relaxed_slip(&at_hand, gamma);
    } else {
        dissipation_slip(method, &at_hand, gamma);
    }
    return LOCAL_SLIP;
}
