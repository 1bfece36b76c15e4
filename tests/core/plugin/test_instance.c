// SPDX-License-Identifier: Apache-2.0
#include "stn_heap.h"
#include "stn_test.h"

#include <string.h>

#include <stiction/plugin.h>

typedef struct toy_config {
    double omega;
    const char *title;
} toy_config;

typedef struct toy {
    stn_context *context;
    double omega;
} toy;

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    const toy_config *c = config;
    if (c->omega > 1.5) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "omega = %g diverges", c->omega);
    }
    toy *t = stn_allocate(context, 1, sizeof *t);
    if (t == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *t = (toy){context, c->omega};
    *self = t;
    return STN_OK;
}

static void destroy(void *self) {
    toy *t = self;
    if (t != NULL) {
        stn_release(t->context, t);
    }
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)self;
    (void)problem;
    (void)control;
    (void)solution;
    (void)info;
    (void)err;
    return STN_OK;
}

static const stn_param params[] = {
    STN_PARAM_REAL(toy_config, omega, "1", 1.0, 0.1, 1.9, "relaxation"),
    STN_PARAM_TEXT(toy_config, title, "a toy", "shown nowhere"),
};

static const stn_solver_ops ops = {
    .size = sizeof ops,
    .formulation = STN_NCP,
    .yields = STN_YIELDS_IMPULSE,
    .sets = 1u << STN_SET_CONE,
    .solve = solve,
};

static const stn_plugin_desc with_create = {
    .size = sizeof with_create,
    .kind = STN_KIND_SOLVER,
    .id = "test_toy",
    .version = "1",
    .summary = "with a self of its own",
    .config_size = sizeof(toy_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .create = create,
    .destroy = destroy,
    .ops.solver = &ops,
};

static const stn_plugin_desc without_create = {
    .size = sizeof without_create,
    .kind = STN_KIND_SOLVER,
    .id = "test_plain",
    .version = "1",
    .summary = "self is the config",
    .config_size = sizeof(toy_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.solver = &ops,
};

static stn_context *make_context(stn_heap *heap) {
    stn_error err;
    stn_context *context = stn_heap_context(heap);
    assert_ok(stn_plugin_register(context, &with_create, &err), err);
    assert_ok(stn_plugin_register(context, &without_create, &err), err);
    return context;
}

static void test_settings_reach_the_shared_and_the_own_parameters(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = make_context(&heap);
    stn_error err;
    stn_instance *instance = NULL;
    stn_setting settings[] = {
        {.name = "omega", .form = STN_SETTING_NUMBER, .number = 1.25},
        {.name = "tolerance", .form = STN_SETTING_TEXT, .text = "1e-9", .where = "--set"},
    };
    assert_ok(stn_instance_create(context, STN_KIND_SOLVER, "test_toy", settings, 2, &instance, &err), err);
    const stn_solver_common *common = instance->common;
    assert_near(common->tolerance, 1e-9, 0.0);
    assert_near(common->absolute_tolerance, 0.0, 0.0);
    assert_int_equal(common->max_iterations, 100);
    assert_near(((const toy_config *)instance->config)->omega, 1.25, 0.0);
    assert_near(((const toy *)instance->self)->omega, 1.25, 0.0);
    assert_string_equal(instance->file, "built in");
    stn_instance_destroy(instance);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void test_a_solver_may_have_its_own_default_of_iterations(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = make_context(&heap);
    stn_error err;
    stn_solver_ops patient_ops = ops;
    patient_ops.max_iterations = 5000;
    stn_plugin_desc patient = without_create;
    patient.id = "test_patient";
    patient.ops.solver = &patient_ops;
    assert_ok(stn_plugin_register(context, &patient, &err), err);
    stn_setting setting = {.name = "max_iterations", .form = STN_SETTING_NUMBER, .number = 7.0};
    for (int32_t given = 0; given < 2; given++) {
        stn_instance *instance = NULL;
        assert_ok(stn_instance_create(context, STN_KIND_SOLVER, "test_patient", &setting, given, &instance, &err), err);
        assert_int_equal(((const stn_solver_common *)instance->common)->max_iterations, given == 1 ? 7 : 5000);
        stn_instance_destroy(instance);
    }
    assert_near(stn_shared_param(&patient, 2).default_number, 5000.0, 0.0);
    assert_near(stn_shared_param(&without_create, 2).default_number, 100.0, 0.0);
    patient_ops.size = offsetof(stn_solver_ops, max_iterations); // built before the slot was there
    assert_near(stn_shared_param(&patient, 2).default_number, 100.0, 0.0);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void test_without_create_self_is_the_config(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = make_context(&heap);
    stn_error err;
    stn_instance *instance = NULL;
    assert_ok(stn_instance_create(context, STN_KIND_SOLVER, "test_plain", NULL, 0, &instance, &err), err);
    assert_ptr_equal(instance->self, instance->config);
    stn_instance_destroy(instance);
    stn_instance_destroy(NULL);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void test_a_bad_setting_is_named_with_owner_and_place(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = make_context(&heap);
    stn_error err;
    stn_instance *instance = (stn_instance *)&err;
    stn_setting setting = {.name = "tolerence", .form = STN_SETTING_NUMBER, .number = 1.0, .where = "run.lua:3"};
    assert_int_equal(stn_instance_create(context, STN_KIND_SOLVER, "test_toy", &setting, 1, &instance, &err),
                     STN_ERR_PARAMETER);
    assert_null(instance);
    assert_string_equal(err.text, "run.lua:3: solver test_toy: unknown parameter tolerence; did you mean tolerance?");
    setting = (stn_setting){.name = "max_iterations", .form = STN_SETTING_NUMBER, .number = 0.0, .where = "run.lua:4"};
    assert_int_equal(stn_instance_create(context, STN_KIND_SOLVER, "test_toy", &setting, 1, &instance, &err),
                     STN_ERR_PARAMETER);
    assert_string_equal(err.text, "run.lua:4: solver test_toy: max_iterations = 0, must be 1 to 1000000");
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void test_a_create_that_fails_is_named(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = make_context(&heap);
    stn_error err;
    stn_instance *instance = NULL;
    stn_setting setting = {.name = "omega", .form = STN_SETTING_NUMBER, .number = 1.75};
    assert_int_equal(stn_instance_create(context, STN_KIND_SOLVER, "test_toy", &setting, 1, &instance, &err),
                     STN_ERR_UNSUPPORTED);
    assert_null(instance);
    assert_string_equal(err.text, "solver test_toy: omega = 1.75 diverges");
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void test_running_out_of_memory_anywhere_leaves_nothing_behind(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = make_context(&heap);
    stn_error err;
    stn_instance *instance = NULL;
    assert_ok(stn_instance_create(context, STN_KIND_SOLVER, "test_toy", NULL, 0, &instance, &err), err); // searches
    stn_instance_destroy(instance);
    long long before = heap.live;
    for (long long n = 1;; n++) {
        stn_heap_arm(&heap, n);
        stn_status status = stn_instance_create(context, STN_KIND_SOLVER, "test_toy", NULL, 0, &instance, &err);
        if (status == STN_OK) {
            assert_int_equal(n, 6); // instance, shared, own, text, self were refused before
            break;
        }
        assert_int_equal(status, STN_ERR_MEMORY);
        assert_null(instance);
        assert_int_equal(heap.live, before);
    }
    stn_instance_destroy(instance);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_reach_the_shared_and_the_own_parameters),
        cmocka_unit_test(test_a_solver_may_have_its_own_default_of_iterations),
        cmocka_unit_test(test_without_create_self_is_the_config),
        cmocka_unit_test(test_a_bad_setting_is_named_with_owner_and_place),
        cmocka_unit_test(test_a_create_that_fails_is_named),
        cmocka_unit_test(test_running_out_of_memory_anywhere_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
