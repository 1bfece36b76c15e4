// my_plugin.c: a word of the command: "stiction my_plugin MODEL..." prints what each robot file weighs and how it may
// move. What to change first: weigh, the work for one file, and help, which says what the word takes.
#include <stdio.h>
#include <string.h>

#include <stiction/plugin.h>

static const char help[] = "usage: stiction my_plugin [options] MODEL...\n"
                           "Prints mass [kg] and degrees of freedom of robot files.\n"
                           "  --json       a line of JSON for each, on stdout\n"
                           "  -h, --help   this text\n";

/// A robot file as a model, destroyed by the caller.
static stn_status load(stn_context *context, const char *path, stn_model **model, stn_error *err) {
    stn_load_request request = {.path = path};
    stn_model_builder *builder = NULL;
    stn_diagnostics findings; // every mistake in the file; err gets the first
    int32_t robot = 0;
    stn_diagnostics_init(&findings, context);
    stn_status status = stn_builder_create(context, &builder, err);
    if (status == STN_OK) {
        status = stn_load_robot(context, &request, builder, &robot, &findings, err);
    }
    if (status == STN_OK) {
        status = stn_model_compile(builder, model, err);
    }
    stn_builder_destroy(builder);
    stn_diagnostics_clear(&findings);
    return status;
}

/// A text of a file may hold whatever JSON has another meaning for.
static void print_json_text(const char *text) {
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            printf("\\%c", *text);
        } else if ((unsigned char)*text < ' ') {
            printf("\\u%04x", (unsigned)*text);
        } else {
            putchar(*text);
        }
    }
    putchar('"');
}

static stn_status weigh(stn_context *context, const char *path, bool json, stn_error *err) {
    stn_model *model = NULL;
    stn_status status = load(context, path, &model, err);
    if (status != STN_OK) {
        return status;
    }
    char mass[32];
    double sum = 0.0;
    for (int32_t i = 0; i < model->link_count; i++) {
        sum += model->links[i].mass.mass;
    }
    stn_print_real(mass, sizeof mass, sum); // all digits, a point whatever the locale
    const char *name = model->groups[0].name;
    if (json) {
        fputs("{\"robot\": ", stdout);
        print_json_text(name);
        printf(", \"mass_kg\": %s, \"nv\": %d}\n", mass, model->nv);
    } else {
        printf("%s: %s kg, %d degrees of freedom\n", name, mass, model->nv);
    }
    stn_model_destroy(model);
    return STN_OK;
}

static int run(void *self, const stn_command_call *call) {
    (void)self;
    bool json = false;
    int files = 0;
    for (int i = 1; i < call->argc; i++) { // all words before any work
        const char *word = call->argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(help, stdout);
            return STN_EXIT_DONE;
        }
        if (strcmp(word, "--json") == 0) {
            json = true;
        } else if (word[0] == '-') {
            fprintf(stderr, "stiction my_plugin: unknown option %s; see stiction my_plugin --help\n", word);
            return STN_EXIT_BAD_INPUT;
        } else {
            files++;
        }
    }
    if (files == 0) {
        fputs("stiction my_plugin: needs MODEL; see stiction my_plugin --help\n", stderr);
        return STN_EXIT_BAD_INPUT;
    }
    for (int i = 1; i < call->argc; i++) {
        stn_error err = {STN_OK, ""};
        if (call->argv[i][0] != '-' && weigh(call->context, call->argv[i], json, &err) != STN_OK) {
            fprintf(stderr, "stiction my_plugin: %s\n", err.text);
            return stn_exit_of(err.status);
        }
    }
    return STN_EXIT_DONE;
}

static const stn_command_ops ops = {
    .size = sizeof ops,
    .run = run,
};

static const stn_plugin_desc my_plugin = {
    .size = sizeof my_plugin,
    .kind = STN_KIND_COMMAND,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "prints mass and degrees of freedom of robot files",
    .ops.command = &ops,
};

STN_PLUGIN_LIBRARY(&my_plugin);
