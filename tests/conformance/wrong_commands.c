// SPDX-License-Identifier: Apache-2.0
// A word that prints its help, right and with one fault each of those of misconduct.h.
#include "misconduct.h" // first: it asks for more of the system's headers

typedef struct config {
    int32_t fault;
} config;

static int run(void *self, const stn_command_call *call) {
    double *output = stn_allocate(call->context, 8, sizeof *output);
    bool help = call->argc > 1 && (strcmp(call->argv[1], "--help") == 0 || strcmp(call->argv[1], "-h") == 0);
    if (output == NULL) {
        return STN_EXIT_BAD_INPUT;
    }
    misbehave(((const config *)self)->fault, output, 8, NULL);
    stn_release(call->context, output);
    if (help) {
        printf("usage: stiction %s\n", call->argv[0]);
        return STN_EXIT_DONE;
    }
    fprintf(stderr, "stiction %s: unknown word %s\n", call->argv[0], call->argc > 1 ? call->argv[1] : "");
    return STN_EXIT_BAD_INPUT;
}

static const stn_command_ops ops = {.size = sizeof ops, .run = run};

#define WORD(word, number)                                                           \
    static const stn_param word##_params[] = {                                       \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")}; \
    static const stn_plugin_desc word = {.size = sizeof word,                        \
                                         .kind = STN_KIND_COMMAND,                   \
                                         .id = "wrong_" #word,                       \
                                         .version = "1",                             \
                                         .summary = "prints its help, with a fault", \
                                         .config_size = sizeof(config),              \
                                         .params = word##_params,                    \
                                         .param_count = 1,                           \
                                         .ops.command = &ops};

WORD(none, 0)

#define WITH_MISCONDUCT(word) WORD(word, MISCONDUCT_##word)
#define ITS_DESCRIPTOR(word)  , &(word)
STN_MISCONDUCTS(WITH_MISCONDUCT)

STN_PLUGIN_LIBRARY(&none STN_MISCONDUCTS(ITS_DESCRIPTOR));
