// SPDX-License-Identifier: Apache-2.0
// The public FCLIB problems and the reference solutions that come with them: natural_scaled and natural_ccp_scaled as
// the judge fclib_check.py has them, which shares no code with the certificate. Its figures are below.
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include <stiction/certificate.h>
#include <stiction/delassus.h>

#include "stn_test.h"

#define FOLDER STN_SHARED_DIR "/fclib/"

static const struct {
    const char *name;
    double natural_scaled, natural_ccp_scaled; // the latter is what --model ccp calls natural_scaled
} references[] = {
    {"Box_Stacks-i0035-31-0", 1.5933157038154323e-16, 1.5933157038154323e-16},
    {"Capsules-i125-1213", 4.7233846932075642e-15, 0.34584308080084747},
    {"Capsules-i97-269", 7.8584208168285546e-16, 0.5662639681131857},
    {"Confeti-ex03", 2.8170311904055993e-14, 0.19745935734003653},
    {"ContactBench-sliding_cube", 8.2322429546397195e-17, 0.6644345484743926},
    {"KaplasTower-i1061-4", 2.378245780368262e-09, 2.5495498557415215e-09},
    {"LMGC_100_PR_PerioBox-i00361-60-03000", 8.767953682556304e-11, 8.83972352904513e-11},
    {"LMGC_GlobalFrictionContactProblem00046", 4.551980368243104e-16, 5.356689713713251e-16},
    {"NESpheres_30_1", 0, 0.5715906098754491},
    {"OneObject-i1028-138", 7.2749211949052642e-15, 0.16473619746450344},
    {"Rover4396", 2.1650852828744888e-16, 0.23518968742939173},
    {"gen_arch", 2.4283307136522096e-13, 0.08410639687927987},
    {"gen_box_stack", 2.5305374033930575e-14, 0.03299509743813069},
    {"gen_brick_wall", 7.373659041777374e-06, 0.03147173573465416},
    {"gen_chain", 1.0248164222954324e-15, 0.13510599138134574},
    {"gen_grasp", 3.2101429756191678e-16, 3.3799110812261783e-16},
    {"gen_heavy_top", 3.7948423036977632e-12, 0.03035036280126722},
    {"gen_mixed_heap", 0.00048963704004679185, 0.16584749661700984},
    {"gen_painleve", 1.143468286006212e-16, 0.6039288837834242},
    {"gen_sphere_pile", 7.8729489998507032e-06, 0.05959227433734831},
    {"gen_table", 7.0078143622873473e-17, 0.3808337509808733},
    {"gen_wedge", 2.0477817438884985e-15, 2.0531986619588337e-15},
    {"local_problem_test", 2.3961036044081809e-11, 2.396103597866414e-11},
    {"spheres-in-a-box-98-i10000-256-10", 1.9269686814820723e-09, 0.0864319501575238},
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

static void judge(stn_context *context, const stn_problem *p, const char *name, double ncp, double ccp) {
    double *r = read_impulses(name, p->row_count), *gamma = calloc((size_t)p->row_count, sizeof *gamma);
    double *v = calloc((size_t)p->nv + 1, sizeof *v);
    for (int32_t i = 0; i < p->row_count; i++) { // the normal comes first there
        gamma[i] = r[i % 3 == 2 ? i - 2 : i + 1];
    }
    stn_arena *arena = stn_arena_create(context);
    stn_inverse *inverse = NULL;
    stn_certificate c;
    stn_error err;
    assert_ok(stn_inverse_create(context, &inverse, &err), err);
    assert_ok(stn_inverse_factor(inverse, p, NULL, &err), err);
    assert_ok(stn_certify(p, v, gamma, NULL, NULL, inverse, STN_CERTIFICATE_SCALED, arena, &c, &err), err);
    if (!(fabs(c.natural_scaled - ncp) <= 1e-12)) {
        fail_msg("%s: natural_scaled %.17g, fclib_check has %.17g", name, c.natural_scaled, ncp);
    }
    if (!(fabs(c.natural_ccp_scaled - ccp) <= 1e-12)) {
        fail_msg("%s: natural_ccp_scaled %.17g, fclib_check has %.17g", name, c.natural_ccp_scaled, ccp);
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

static void reference_solutions_are_judged_as_by_fclib_check(void **state) {
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
        judge(context, &p, references[i].name, references[i].natural_scaled, references[i].natural_ccp_scaled);
        stn_problem_destroy(owner);
    }
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reference_solutions_are_judged_as_by_fclib_check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
