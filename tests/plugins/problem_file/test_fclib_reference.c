// SPDX-License-Identifier: Apache-2.0
// The public FCLIB problems and the reference solutions that come with them: natural_scaled and natural_ccp_scaled as
// the judge fclib_check.py has them, which shares no code with the certificate; the same of random impulses. Its
// figures are below.
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include <stiction/certificate.h>
#include <stiction/delassus.h>

#include "stn_test.h"

#define FOLDER STN_SHARED_DIR "/fclib/"

static const struct {
    const char *name;
    double reference[2], random[2]; // natural_scaled, and what --model ccp calls so: natural_ccp_scaled
} references[] = {
    {"Box_Stacks-i0035-31-0",
     {1.5933157038154323e-16, 1.5933157038154323e-16},
     {0.92171464297431782, 0.91795965896720932}},
    {"Capsules-i125-1213", {4.7233846932075642e-15, 0.34584308080084747}, {0.67466379351169825, 0.80458075604993051}},
    {"Capsules-i97-269", {7.8584208168285546e-16, 0.5662639681131857}, {0.64798167667103546, 0.79021020660004493}},
    {"Confeti-ex03", {2.8170311904055993e-14, 0.19745935734003653}, {0.56948306449384534, 0.77549227688072275}},
    {"ContactBench-sliding_cube",
     {8.2322429546397195e-17, 0.6644345484743926},
     {0.52548400755357616, 0.85078342286956798}},
    {"KaplasTower-i1061-4",
     {2.378245780368262e-09, 2.5495498557415215e-09},
     {0.48383047604470225, 0.58034108954414021}},
    {"LMGC_100_PR_PerioBox-i00361-60-03000",
     {8.767953682556304e-11, 8.83972352904513e-11},
     {0.92732314127422799, 0.92927839449417204}},
    {"LMGC_GlobalFrictionContactProblem00046",
     {4.551980368243104e-16, 5.356689713713251e-16},
     {0.89773857812584157, 1}},
    {"NESpheres_30_1", {0, 0.5715906098754491}, {0.27170909395984083, 0.65511925912445845}},
    {"OneObject-i1028-138", {7.2749211949052642e-15, 0.16473619746450344}, {0.78347547686657137, 0.84343412732317935}},
    {"Rover4396", {2.1650852828744888e-16, 0.23518968742939173}, {0.22779385817203146, 0.76420888479073079}},
    {"gen_arch", {2.4283307136522096e-13, 0.08410639687927987}, {0.63174574214159074, 0.79843146136191656}},
    {"gen_box_stack", {2.5305374033930575e-14, 0.03299509743813069}, {0.69411256297170543, 0.8138729483244479}},
    {"gen_brick_wall", {7.373659041777374e-06, 0.03147173573465416}, {0.56594269265465302, 0.72380431582490179}},
    {"gen_chain", {1.0248164222954324e-15, 0.13510599138134574}, {0.56872081234545335, 0.74223625325389075}},
    {"gen_grasp", {3.2101429756191678e-16, 3.3799110812261783e-16}, {0.52879510004641173, 0.75567006584650065}},
    {"gen_heavy_top", {3.7948423036977632e-12, 0.03035036280126722}, {0.63322560133820693, 0.73462337954923895}},
    {"gen_mixed_heap", {0.00048963704004679185, 0.16584749661700984}, {0.49765294507095353, 0.68552397873490289}},
    {"gen_painleve", {1.143468286006212e-16, 0.6039288837834242}, {0.56054222475099613, 0.76583308729581823}},
    {"gen_sphere_pile", {7.8729489998507032e-06, 0.05959227433734831}, {0.52488581007932078, 0.60912315682800855}},
    {"gen_table", {7.0078143622873473e-17, 0.3808337509808733}, {0.25449790249330745, 0.53339374161107145}},
    {"gen_wedge", {2.0477817438884985e-15, 2.0531986619588337e-15}, {0.3571269147829515, 0.91816659699785363}},
    {"local_problem_test", {2.3961036044081809e-11, 2.396103597866414e-11}, {0.60681471120953867, 0.77225169014001527}},
    {"spheres-in-a-box-98-i10000-256-10",
     {1.9269686814820723e-09, 0.0864319501575238},
     {0.65187317959337288, 0.65816846764229631}},
};

static uint32_t little(const unsigned char *bytes, int32_t count) {
    uint32_t value = 0;
    for (int32_t i = count - 1; i >= 0; i--) {
        value = value << 8 | bytes[i];
    }
    return value;
}

/// The `count` reals of r.npy, the first member of an npz: a zip member that is deflated or stored.
static double *read_impulses(const char *name, int32_t count) {
    static unsigned char file[1 << 20], member[1 << 20];
    char path[512];
    snprintf(path, sizeof path, FOLDER "reference/%s.npz", name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t size = fread(file, 1, sizeof file, f);
    fclose(f);
    assert_true(size > 64 && memcmp(file, "PK\3\4", 4) == 0 && memcmp(file + 30, "r.npy", 5) == 0);
    size_t start = 30 + little(file + 26, 2) + little(file + 28, 2);
    z_stream z = {
        .next_in = file + start, .avail_in = (uInt)(size - start), .next_out = member, .avail_out = sizeof member};
    if (little(file + 8, 2) == 8) {
        assert_int_equal(inflateInit2(&z, -MAX_WBITS), Z_OK);
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
        inflateEnd(&z);
    } else {
        memcpy(member, file + start, size - start < sizeof member ? size - start : sizeof member);
    }
    assert_memory_equal(member, "\x93NUMPY\1", 7);
    double *r = malloc((size_t)count * sizeof *r);
    memcpy(r, member + 10 + little(member + 8, 2), (size_t)count * sizeof *r);
    return r;
}

/// In [-1, 1), of a linear congruence: most of what a contact can violate, it violates.
static double *random_impulses(int32_t count) {
    double *r = malloc((size_t)count * sizeof *r);
    uint64_t state = 1;
    for (int32_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        r[i] = ldexp((double)(state >> 11), -52) - 1.0;
    }
    return r;
}

/// `r` is released.
static void judge(stn_context *context, const stn_problem *p, const char *name, double *r, const double expected[2]) {
    double *gamma = calloc((size_t)p->row_count, sizeof *gamma);
    double *v = calloc((size_t)p->nv + 1, sizeof *v);
    for (int32_t i = 0; i < p->row_count; i++) { // the normal comes first there
        gamma[i] = r[i % 3 == 2 ? i - 2 : i + 1];
    }
    stn_arena *arena = stn_arena_create(context);
    stn_inverse *inverse = NULL;
    stn_certificate c;
    stn_error err;
    assert_ok(stn_inverse_create(context, &inverse, &err), err);
    assert_ok(stn_inverse_factor(inverse, p, &err), err);
    assert_ok(stn_certify(p, v, gamma, NULL, NULL, inverse, STN_CERTIFICATE_SCALED, arena, &c, &err), err);
    if (!(fabs(c.natural_scaled - expected[0]) <= 1e-12)) {
        fail_msg("%s: natural_scaled %.17g, fclib_check has %.17g", name, c.natural_scaled, expected[0]);
    }
    if (!(fabs(c.natural_ccp_scaled - expected[1]) <= 1e-12)) {
        fail_msg("%s: natural_ccp_scaled %.17g, fclib_check has %.17g", name, c.natural_ccp_scaled, expected[1]);
    }
    stn_inverse_destroy(inverse);
    stn_arena_destroy(arena);
    free(v);
    free(gamma);
    free(r);
}

static void ignore(void *user, stn_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

static void impulses_are_judged_as_by_fclib_check(void **state) {
    (void)state;
    skip_without(FOLDER "reference/Rover4396.npz");
    const stn_context_options options = {.log = ignore};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(&options, &context, &err), err);
    for (int32_t i = 0; i < STN_COUNT(references); i++) {
        char path[512];
        stn_problem_owner *owner = NULL;
        snprintf(path, sizeof path, FOLDER "%s.hdf5", references[i].name);
        assert_ok(stn_problem_load(context, path, &owner, &err), err);
        stn_problem p = *stn_problem_of(owner);
        stn_problem_regularize(&p);
        const char *name = references[i].name;
        judge(context, &p, name, read_impulses(name, p.row_count), references[i].reference);
        judge(context, &p, name, random_impulses(p.row_count), references[i].random);
        stn_problem_destroy(owner);
    }
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(impulses_are_judged_as_by_fclib_check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
