// SPDX-License-Identifier: Apache-2.0
// Vectors, rotations and poses by value; no state, all inline.
#ifndef STICTION_MATH_H
#define STICTION_MATH_H

#include <math.h>

#include <stiction/base.h>

STN_BEGIN_C

/// Half a turn [rad].
#define STN_PI 3.14159265358979323846

/// Vector or point, in axes and a unit that the context states.
typedef struct stn_vec3 {
    double x, y, z; // along the axes
} stn_vec3;

/// 3 x 3 matrix, rows r0, r1, r2.
typedef struct stn_mat3 {
    double m[3][3]; // m[row][column]
} stn_mat3;

/// Unit quaternion, scalar first.
typedef struct stn_quat {
    double w, x, y, z; // cos(angle/2), sin(angle/2) axis
} stn_quat;

/// Rigid transform X_AB: rotation of B's axes into A's and B's origin in A. A point: p_A = R p_B + position.
typedef struct stn_pose {
    stn_mat3 rotation; // R_AB
    stn_vec3 position; // [m]
} stn_pose;

/// Spatial velocity or acceleration (angular, linear at a stated point), or force (torque, force).
typedef struct stn_spatial {
    stn_vec3 angular; // [rad/s], [rad/s^2] or torque [N m]
    stn_vec3 linear;  // [m/s], [m/s^2] or force [N]
} stn_spatial;

/// (x, y, z).
static inline stn_vec3 stn_vec3_make(double x, double y, double z) {
    stn_vec3 v = {x, y, z};
    return v;
}
/// Vector i of an array (n x 3).
static inline stn_vec3 stn_vec3_at(const double *x, int32_t i) {
    const double *v = x + 3 * (size_t)i;
    return stn_vec3_make(v[0], v[1], v[2]);
}
/// (0, 0, 0).
static inline stn_vec3 stn_vec3_zero(void) {
    return stn_vec3_make(0.0, 0.0, 0.0);
}
/// a + b.
static inline stn_vec3 stn_vec3_add(stn_vec3 a, stn_vec3 b) {
    return stn_vec3_make(a.x + b.x, a.y + b.y, a.z + b.z);
}
/// a - b.
static inline stn_vec3 stn_vec3_sub(stn_vec3 a, stn_vec3 b) {
    return stn_vec3_make(a.x - b.x, a.y - b.y, a.z - b.z);
}
/// s a.
static inline stn_vec3 stn_vec3_scale(double s, stn_vec3 a) {
    return stn_vec3_make(s * a.x, s * a.y, s * a.z);
}
static inline stn_vec3 stn_vec3_mul_add(stn_vec3 a, double s, stn_vec3 b) { // a + s b
    return stn_vec3_make(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
/// -a.
static inline stn_vec3 stn_vec3_neg(stn_vec3 a) {
    return stn_vec3_make(-a.x, -a.y, -a.z);
}
/// a . b.
static inline double stn_vec3_dot(stn_vec3 a, stn_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
/// a x b.
static inline stn_vec3 stn_vec3_cross(stn_vec3 a, stn_vec3 b) {
    return stn_vec3_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
/// |a|; overflows for components beyond 1e154.
static inline double stn_vec3_norm(stn_vec3 a) {
    return sqrt(stn_vec3_dot(a, a));
}
/// a / |a|, or `fallback` when |a| is zero or not finite.
static inline stn_vec3 stn_vec3_normalize_or(stn_vec3 a, stn_vec3 fallback) {
    double big = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
    if (!(big > 0.0) || !isfinite(big)) {
        return fallback;
    }
    if (big < 0x1p-1000) { // 1 / big would overflow
        a = stn_vec3_scale(0x1p200, a);
        big *= 0x1p200;
    }
    a = stn_vec3_scale(1.0 / big, a); // no under- or overflow for any representable length
    return stn_vec3_scale(1.0 / stn_vec3_norm(a), a);
}
/// Is every component neither infinite nor NaN?
static inline bool stn_vec3_finite(stn_vec3 a) {
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

/// The unit matrix.
static inline stn_mat3 stn_mat3_identity(void) {
    stn_mat3 r = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    return r;
}
/// diag(x, y, z).
static inline stn_mat3 stn_mat3_diagonal(double x, double y, double z) {
    stn_mat3 r = {{{x, 0.0, 0.0}, {0.0, y, 0.0}, {0.0, 0.0, z}}};
    return r;
}
/// The matrix with columns a, b, c.
static inline stn_mat3 stn_mat3_columns(stn_vec3 a, stn_vec3 b, stn_vec3 c) {
    stn_mat3 r = {{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
    return r;
}
/// Column j, 0 to 2, of A.
static inline stn_vec3 stn_mat3_column(const stn_mat3 *a, int32_t j) {
    return stn_vec3_make(a->m[0][j], a->m[1][j], a->m[2][j]);
}
static inline stn_vec3 stn_mat3_apply(const stn_mat3 *a, stn_vec3 v) { // A v
    return stn_vec3_make(a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
                         a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
                         a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z);
}
static inline stn_vec3 stn_mat3_apply_transposed(const stn_mat3 *a, stn_vec3 v) { // A^T v
    return stn_vec3_make(a->m[0][0] * v.x + a->m[1][0] * v.y + a->m[2][0] * v.z,
                         a->m[0][1] * v.x + a->m[1][1] * v.y + a->m[2][1] * v.z,
                         a->m[0][2] * v.x + a->m[1][2] * v.y + a->m[2][2] * v.z);
}
/// A B.
// Written out: of loops over i and j compilers make a matrix in memory that is copied afterwards, in larger pieces than
// it was written, and processors wait for that.
static inline stn_mat3 stn_mat3_mul(const stn_mat3 *a, const stn_mat3 *b) {
    const double(*x)[3] = a->m, (*y)[3] = b->m;
    stn_mat3 r = {{{x[0][0] * y[0][0] + x[0][1] * y[1][0] + x[0][2] * y[2][0],
                    x[0][0] * y[0][1] + x[0][1] * y[1][1] + x[0][2] * y[2][1],
                    x[0][0] * y[0][2] + x[0][1] * y[1][2] + x[0][2] * y[2][2]},
                   {x[1][0] * y[0][0] + x[1][1] * y[1][0] + x[1][2] * y[2][0],
                    x[1][0] * y[0][1] + x[1][1] * y[1][1] + x[1][2] * y[2][1],
                    x[1][0] * y[0][2] + x[1][1] * y[1][2] + x[1][2] * y[2][2]},
                   {x[2][0] * y[0][0] + x[2][1] * y[1][0] + x[2][2] * y[2][0],
                    x[2][0] * y[0][1] + x[2][1] * y[1][1] + x[2][2] * y[2][1],
                    x[2][0] * y[0][2] + x[2][1] * y[1][2] + x[2][2] * y[2][2]}}};
    return r;
}
/// A^T.
static inline stn_mat3 stn_mat3_transpose(const stn_mat3 *a) {
    const double(*x)[3] = a->m;
    stn_mat3 r = {{{x[0][0], x[1][0], x[2][0]}, {x[0][1], x[1][1], x[2][1]}, {x[0][2], x[1][2], x[2][2]}}};
    return r;
}
/// A + B.
static inline stn_mat3 stn_mat3_add(const stn_mat3 *a, const stn_mat3 *b) {
    stn_mat3 r;
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            r.m[i][j] = a->m[i][j] + b->m[i][j];
        }
    }
    return r;
}
/// R I R^T: a symmetric tensor given in B's axes, in A's axes (R = R_AB).
static inline stn_mat3 stn_mat3_rotate_tensor(const stn_mat3 *rotation, const stn_mat3 *tensor) {
    stn_mat3 left = stn_mat3_mul(rotation, tensor);
    stn_mat3 transposed = stn_mat3_transpose(rotation);
    return stn_mat3_mul(&left, &transposed);
}

/// Eigenvalues of a symmetric matrix, ascending, by cyclic Jacobi rotations; of an unsymmetric one those of its
/// symmetric part.
static inline void stn_mat3_eigenvalues(const stn_mat3 *matrix, double lambda[3]) {
    double a[3][3];
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            a[i][j] = 0.5 * matrix->m[i][j] + 0.5 * matrix->m[j][i];
        }
    }
    for (int32_t turn = 0; turn < 30; turn++) { // ten sweeps; convergence is quadratic
        int32_t p = turn % 3 == 2 ? 1 : 0, q = turn % 3 == 0 ? 1 : 2, r = 3 - p - q;
        if (a[p][q] == 0.0) {
            continue;
        }
        double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
        double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
        double c = 1.0 / sqrt(t * t + 1.0), s = t * c, apq = a[p][q], arp = a[r][p], arq = a[r][q];
        a[p][p] -= t * apq;
        a[q][q] += t * apq;
        a[p][q] = a[q][p] = 0.0;
        a[r][p] = a[p][r] = c * arp - s * arq;
        a[r][q] = a[q][r] = s * arp + c * arq;
    }
    double low = fmin(a[0][0], a[1][1]), high = fmax(a[0][0], a[1][1]);
    lambda[0] = fmin(low, a[2][2]);
    lambda[1] = fmax(low, fmin(high, a[2][2]));
    lambda[2] = fmax(high, a[2][2]);
}

/// No rotation.
static inline stn_quat stn_quat_identity(void) {
    stn_quat q = {1.0, 0.0, 0.0, 0.0};
    return q;
}
/// The rotation b followed by a: R(a b) = R(a) R(b).
static inline stn_quat stn_quat_mul(stn_quat a, stn_quat b) {
    stn_quat q = {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
    return q;
}
/// q / |q|; NaN for a zero one.
static inline stn_quat stn_quat_normalize(stn_quat q) {
    double n = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    stn_quat r = {q.w / n, q.x / n, q.y / n, q.z / n};
    return r;
}
/// Rotation by the vector u = angle * axis [rad]; series below 1e-4 rad, so smooth through zero.
static inline stn_quat stn_quat_exp(stn_vec3 u) {
    double angle = stn_vec3_norm(u);
    double half = 0.5 * angle;
    double sinc = angle < 1e-4 ? 0.5 * (1.0 - angle * angle / 24.0) : sin(half) / angle;
    stn_quat q = {cos(half), sinc * u.x, sinc * u.y, sinc * u.z};
    return q;
}
/// The shortest rotation vector [rad] of a unit quaternion, length at most pi: inverse of stn_quat_exp.
static inline stn_vec3 stn_quat_log(stn_quat q) {
    double s = sqrt(q.x * q.x + q.y * q.y + q.z * q.z), sign = q.w < 0.0 ? -1.0 : 1.0;
    double scale = sign * (s > 0.0 ? 2.0 * atan2(s, fabs(q.w)) / s : 2.0);
    return stn_vec3_make(scale * q.x, scale * q.y, scale * q.z);
}
/// The rotation matrix of a unit quaternion.
static inline stn_mat3 stn_quat_matrix(stn_quat q) {
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    stn_mat3 r = {{{1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)},
                   {2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx)},
                   {2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)}}};
    return r;
}
/// Quaternion with w >= 0 of a rotation matrix (Shepperd: the largest of the four components first).
static inline stn_quat stn_quat_from_matrix(const stn_mat3 *r) {
    double t = r->m[0][0] + r->m[1][1] + r->m[2][2];
    stn_quat q;
    if (t >= r->m[0][0] && t >= r->m[1][1] && t >= r->m[2][2]) {
        q.w = 1.0 + t;
        q.x = r->m[2][1] - r->m[1][2];
        q.y = r->m[0][2] - r->m[2][0];
        q.z = r->m[1][0] - r->m[0][1];
    } else if (r->m[0][0] >= r->m[1][1] && r->m[0][0] >= r->m[2][2]) {
        q.w = r->m[2][1] - r->m[1][2];
        q.x = 1.0 + 2.0 * r->m[0][0] - t;
        q.y = r->m[0][1] + r->m[1][0];
        q.z = r->m[0][2] + r->m[2][0];
    } else if (r->m[1][1] >= r->m[2][2]) {
        q.w = r->m[0][2] - r->m[2][0];
        q.x = r->m[0][1] + r->m[1][0];
        q.y = 1.0 + 2.0 * r->m[1][1] - t;
        q.z = r->m[1][2] + r->m[2][1];
    } else {
        q.w = r->m[1][0] - r->m[0][1];
        q.x = r->m[0][2] + r->m[2][0];
        q.y = r->m[1][2] + r->m[2][1];
        q.z = 1.0 + 2.0 * r->m[2][2] - t;
    }
    if (q.w < 0.0) {
        q.w = -q.w;
        q.x = -q.x;
        q.y = -q.y;
        q.z = -q.z;
    }
    return stn_quat_normalize(q);
}

/// A frame on itself.
static inline stn_pose stn_pose_identity(void) {
    stn_pose p = {stn_mat3_identity(), {0.0, 0.0, 0.0}};
    return p;
}
/// Is every number neither infinite nor NaN?
static inline bool stn_pose_finite(const stn_pose *pose) {
    bool finite = stn_vec3_finite(pose->position);
    for (int32_t i = 0; i < 9; i++) {
        finite = finite && isfinite(pose->rotation.m[i / 3][i % 3]);
    }
    return finite;
}
/// From its two parts.
static inline stn_pose stn_pose_make(stn_quat rotation, stn_vec3 position) {
    stn_pose p = {stn_quat_matrix(rotation), position};
    return p;
}
/// X_AC = X_AB X_BC.
static inline stn_pose stn_pose_mul(const stn_pose *ab, const stn_pose *bc) {
    stn_pose r = {stn_mat3_mul(&ab->rotation, &bc->rotation),
                  stn_vec3_add(stn_mat3_apply(&ab->rotation, bc->position), ab->position)};
    return r;
}
/// p_A of a point p_B.
static inline stn_vec3 stn_pose_apply(const stn_pose *pose, stn_vec3 point) {
    return stn_vec3_add(stn_mat3_apply(&pose->rotation, point), pose->position);
}
/// X_BA.
static inline stn_pose stn_pose_inverse(const stn_pose *pose) {
    stn_mat3 transposed = stn_mat3_transpose(&pose->rotation);
    stn_pose r = {transposed, stn_vec3_neg(stn_mat3_apply(&transposed, pose->position))};
    return r;
}
/// p_B of a point p_A.
static inline stn_vec3 stn_pose_apply_inverse(const stn_pose *pose, stn_vec3 point) {
    return stn_mat3_apply_transposed(&pose->rotation, stn_vec3_sub(point, pose->position));
}
/// Fixed-axis roll, pitch, yaw [rad]: R = Rz(yaw) Ry(pitch) Rx(roll), as URDF and SDF mean it.
static inline stn_mat3 stn_mat3_from_rpy(double roll, double pitch, double yaw) {
    double cr = cos(roll), sr = sin(roll), cp = cos(pitch), sp = sin(pitch), cy = cos(yaw), sy = sin(yaw);
    stn_mat3 r = {{{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
                   {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
                   {-sp, cp * sr, cp * cr}}};
    return r;
}

/// The first two axes of a frame after the shortest turn that puts its z on `n` (unit): the columns of
///     R = 1 + [w] + d [w]^2,   w = z x n,   d = 1 / (1 + n_z) = (1 - n_z) / (n_x^2 + n_y^2)
/// where the second form of d serves n_z < 0, in which the first one cancels. Every half turn to -z is as short as any
/// other: it is made about x, also within 1e-8 of -z, where round-off alone would choose. There the two axes are those
/// of the half turn, turned into the plane across n. What a planar joint's x and y are.
static inline void stn_plane_axes(stn_vec3 n, stn_vec3 *x, stn_vec3 *y) {
    double across = n.x * n.x + n.y * n.y;
    if (n.z < 0.0 && across < 1e-16) {
        *x = stn_vec3_make(1.0, 0.0, n.x);
        *y = stn_vec3_make(0.0, -1.0, -n.y);
        return;
    }
    double d = n.z < 0.0 ? (1.0 - n.z) / across : 1.0 / (1.0 + n.z);
    *x = stn_vec3_make(1.0 - n.x * n.x * d, -n.x * n.y * d, -n.x);
    *y = stn_vec3_make(-n.x * n.y * d, 1.0 - n.y * n.y * d, -n.y);
}

/// Contact frame of a normal: columns t1, t2, n with t1 = normalize(n x e_k), k the index of the smallest |n_k|
/// (lowest on a tie) and t2 = n x t1; a function of n alone. `normal` must have unit length.
static inline stn_mat3 stn_contact_frame(stn_vec3 normal) {
    double ax = fabs(normal.x), ay = fabs(normal.y), az = fabs(normal.z);
    stn_vec3 axis = {0.0, 0.0, 0.0};
    if (ax <= ay && ax <= az) {
        axis.x = 1.0;
    } else if (ay <= az) {
        axis.y = 1.0;
    } else {
        axis.z = 1.0;
    }
    stn_vec3 c = stn_vec3_cross(normal, axis);
    stn_vec3 t1 = stn_vec3_scale(1.0 / stn_vec3_norm(c), c);
    return stn_mat3_columns(t1, stn_vec3_cross(normal, t1), normal);
}

/// Euclidean projection of x = (t1, t2, n) on the cone |x_t| <= mu x_n, in place. mu >= 0; mu = 0 is the half line.
static inline void stn_cone_project(double mu, double x[3]) {
    double t = sqrt(x[0] * x[0] + x[1] * x[1]);
    if (x[2] >= 0.0 && t <= mu * x[2]) { // the sign matters on the axis where mu = 0
        return;
    }
    if (mu * t <= -x[2]) {
        x[0] = x[1] = x[2] = 0.0;
        return;
    }
    double n = (x[2] + mu * t) / (1.0 + mu * mu);
    double s = t > 0.0 ? mu * n / t : 0.0;
    x[0] *= s;
    x[1] *= s;
    x[2] = n;
}

STN_END_C
#endif
