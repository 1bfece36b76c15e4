// SPDX-License-Identifier: Apache-2.0
// stiction new KIND NAME: a folder with a plugin or a scenario that builds, runs and passes its checks, to be changed
// from there. What it holds are the files of scripts/templates/common and scripts/templates/KIND with their
// placeholders replaced.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stiction/input.h>
#include <stiction/plugin.h>

#include "common/options.h"

enum { MOST_LETTERS = 40, MOST_FILES = 16, MOST_BYTES = 1 << 20 };

static const char scenario[] = "scenario";

/// What stands in the templates, and what it becomes.
enum { PLACE_NAME, PLACE_KIND, PLACE_COUNT };
static const char *const places[PLACE_COUNT] = {[PLACE_NAME] = "my_plugin", [PLACE_KIND] = "my_kind"};

typedef struct scaffold {
    const cli_command *command;
    const char *words[PLACE_COUNT]; // in place of the placeholders
    char root[STN_INPUT_PATH];      // the folder that holds "scripts/templates"
    char folder[STN_INPUT_PATH];    // that comes to be
    char part[STN_INPUT_PATH];      // under this name until it is whole
    char written[MOST_FILES][2 * MOST_LETTERS];
    int32_t count;
} scaffold;

// -------------------------------------------------------------------------------------------------------------- words

static int check_kind(const cli_command *command, const char *word, stn_kind *kind) {
    const char *names[STN_KIND_COUNT + 1];
    for (int32_t k = 0; k < STN_KIND_COUNT; k++) {
        names[k] = stn_kind_name((stn_kind)k);
    }
    names[STN_KIND_COUNT] = scenario;
    for (int32_t k = 0; k <= STN_KIND_COUNT; k++) {
        if (strcmp(word, names[k]) == 0) {
            *kind = (stn_kind)k;
            return CLI_PROCEED;
        }
    }
    char list[256] = "";
    for (int32_t k = 0; k <= STN_KIND_COUNT; k++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "", names[k]);
    }
    const char *near = stn_suggest(word, names, STN_KIND_COUNT + 1);
    return cli_fail(command, "unknown kind %s;%s%s%s there are %s", word, near != NULL ? " did you mean " : "",
                    near != NULL ? near : "", near != NULL ? "?" : "", list);
}

// -------------------------------------------------------------------------------------------------------------- files

/// Reads a template and writes it with its placeholders replaced. False: errno says why.
static bool copy_replaced(const scaffold *s, FILE *in, FILE *out) {
    char line[1024];
    while (fgets(line, sizeof line, in) != NULL) {
        for (const char *at = line; *at != '\0';) {
            int32_t p = 0;
            while (p < PLACE_COUNT && strncmp(at, places[p], strlen(places[p])) != 0) {
                p++;
            }
            if (p < PLACE_COUNT) {
                fputs(s->words[p], out);
                at += strlen(places[p]);
            } else {
                fputc(*at++, out);
            }
        }
    }
    return ferror(in) == 0 && ferror(out) == 0;
}

static int cannot(const scaffold *s, const char *what, const char *path) {
    return cli_fail(s->command, "%s cannot be %s: %s", path, what, strerror(errno));
}

/// One file of scripts/templates/`kind`; it is noted before it is written, so that a failure removes it.
static int copy_template(scaffold *s, const char *kind, const char *file) {
    char from[STN_INPUT_PATH + 64], to[STN_INPUT_PATH + 64], *name = s->written[s->count];
    const char *place = strstr(file, places[PLACE_NAME]);
    int before = place != NULL ? (int)(place - file) : (int)strlen(file);
    if (s->count == MOST_FILES || strlen(file) > MOST_LETTERS) {
        return cli_fail(s->command,
                        "%s/scripts/templates/%s/%s: more files, or a longer name, than a template may have", s->root,
                        kind, file);
    }
    snprintf(name, sizeof s->written[0], "%.*s%s%s", before, file, place != NULL ? s->words[PLACE_NAME] : "",
             place != NULL ? place + strlen(places[PLACE_NAME]) : "");
    snprintf(from, sizeof from, "%s/scripts/templates/%s/%s", s->root, kind, file);
    snprintf(to, sizeof to, "%s/%s", s->part, name);
    FILE *in = fopen(from, "r"), *out = NULL;
    if (in == NULL) {
        return cannot(s, "read", from);
    }
    out = fopen(to, "wx");
    s->count += out != NULL;
    bool good = out != NULL && copy_replaced(s, in, out);
    good = (out == NULL || fclose(out) == 0) && good;
    snprintf(to, sizeof to, "%s/%s", s->folder, name); // as it would have been called
    int result = good ? CLI_PROCEED : cannot(s, "written", to);
    fclose(in);
    return result;
}

static int copy_templates(scaffold *s, const char *kind) {
    char path[STN_INPUT_PATH + 64];
    snprintf(path, sizeof path, "%s/scripts/templates/%s", s->root, kind);
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        return cannot(s, "read", path);
    }
    int result = CLI_PROCEED;
    for (int i = 0; i < count; i++) {
        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0 && result == CLI_PROCEED) {
            result = copy_template(s, kind, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    return result;
}

/// DIR/NAME, which comes to be under another name and gets its own when it is whole.
static int make(scaffold *s, stn_kind kind, const char *parent) {
    enum { ROOM = sizeof s->folder - 64 };
    struct stat what;
    size_t last = strlen(parent);
    if (last == 0) {
        return cli_fail(s->command, "--folder: the name is empty; leave it out for the current folder");
    }
    const char *between = parent[last - 1] == '/' ? "" : "/", *name = s->words[PLACE_NAME];
    bool here = strcmp(parent, ".") == 0;
    int length = snprintf(s->folder, ROOM, "%s%s%s", here ? "" : parent, here ? "" : between, name);
    if (length >= ROOM) {
        return cli_fail(s->command, "--folder: the path has %d letters, at most %d", length, ROOM - 1);
    }
    snprintf(s->part, sizeof s->part, "%.*s.%ld.part", (int)ROOM, s->folder, (long)getpid());
    if (lstat(s->folder, &what) == 0) {
        return cli_fail(s->command, "%s is there already; choose another name, or another --folder", s->folder);
    }
    if (mkdir(s->part, 0777) != 0) {
        return cannot(s, "made", s->folder);
    }
    int result = kind < STN_KIND_COUNT ? copy_templates(s, "common") : CLI_PROCEED;
    if (result == CLI_PROCEED) {
        result = copy_templates(s, s->words[PLACE_KIND]);
    }
    if (result == CLI_PROCEED && rename(s->part, s->folder) != 0) {
        result = cannot(s, "made", s->folder);
    }
    if (result != CLI_PROCEED) {
        for (int32_t i = 0; i < s->count; i++) {
            char path[STN_INPUT_PATH + 2 * MOST_LETTERS];
            snprintf(path, sizeof path, "%s/%s", s->part, s->written[i]);
            unlink(path);
        }
        rmdir(s->part);
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------- what next

static void say_next(scaffold *s, stn_kind kind) {
    const char *name = s->words[PLACE_NAME];
    bool runs = false; // elements are not for scripts
    printf("%s:", s->folder);
    for (int32_t i = 0; i < s->count; i++) {
        printf(" %s", s->written[i]);
        runs = runs || strstr(s->written[i], ".lua") != NULL;
    }
    puts("\nnext:");
    if (kind == STN_KIND_COUNT) {
        printf("  cd %s\n  stiction run %s.lua\n  stiction test test_%s.lua\n", s->folder, name, name);
        return;
    }
    static const char below[] = "/share/stiction"; // the prefix of an installed package, which CMake finds
    const char *prefix = NULL;
    size_t length = strlen(s->root), tail = sizeof below - 1;
    if (length > tail && strcmp(s->root + length - tail, below) == 0) {
        s->root[length - tail] = '\0';
        prefix = s->root;
    }
    printf("  cd %s && cmake -B build -DCMAKE_PREFIX_PATH=%s && cmake --build build\n", s->folder,
           prefix != NULL ? prefix : "PREFIX");
    printf("  stiction validate build/%s_%s.so\n", s->words[PLACE_KIND], name);
    if (runs) {
        printf("  STICTION_PLUGIN_PATH=build stiction run %s.lua\n", name);
    }
    if (kind == STN_KIND_COMMAND) {
        printf("  STICTION_PLUGIN_PATH=build stiction %s --help\n", name);
    }
    if (prefix == NULL) {
        puts("where PREFIX is a folder of your choice, after: cmake --install build/release --prefix PREFIX");
    }
}

static int run_new(void *self, const stn_command_call *call) {
    (void)self;
    const char *parent = ".";
    const cli_option options[] = {
        {"folder", 0, CLI_TEXT, "DIR", "where the folder NAME is made; default: here", &parent},
    };
    const cli_command command = {
        "new",
        "KIND NAME",
        "Makes a folder NAME with a plugin (solver, law, contact, integrator, factor, "
        "controller, element, constraint, loader, recorder,\ncommand, script, mesh, problem_file) or a "
        "scenario that works, to start from.",
        options,
        STN_COUNT(options),
        2,
        2};
    cli_list words;
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    stn_kind kind = STN_KIND_COUNT;
    scaffold s = {.command = &command, .words = {[PLACE_NAME] = words.items[1], [PLACE_KIND] = words.items[0]}};
    cli_list_clear(&words);
    const char *name = s.words[PLACE_NAME];
    status = check_kind(&command, s.words[PLACE_KIND], &kind);
    if (status != CLI_PROCEED) {
        return status;
    }
    // an id of a plugin, a name of files and a word of Lua at once
    size_t good = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), length = strlen(name);
    if (length == 0 || good < length || strchr("abcdefghijklmnopqrstuvwxyz", name[0]) == NULL) {
        return cli_fail(&command, "the name \"%s\" must begin with a small letter and hold only a to z, 0 to 9 and _",
                        name);
    }
    if (length > MOST_LETTERS) {
        return cli_fail(&command, "the name %s has %zu letters, at most %d", name, length, MOST_LETTERS);
    }
    // a second plugin of the same kind and name would be found or not by the order of folders
    stn_error err = {STN_OK, ""};
    const stn_plugin_info *plugins = NULL;
    int32_t count = 0;
    if (kind < STN_KIND_COUNT && stn_plugins_of_kind(call->context, kind, &plugins, &count, &err) != STN_OK) {
        return cli_fail_status(&command, &err);
    }
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(plugins[i].desc->id, name) == 0) {
            return cli_fail(&command, "there is a %s %s already, in %s; choose another name", stn_kind_name(kind), name,
                            plugins[i].file);
        }
    }
    if (status == CLI_PROCEED && !stn_shipped_folder(s.root)) {
        status = cli_fail(&command, "the templates are not there; they belong into share/stiction/scripts/templates");
    }
    if (status == CLI_PROCEED) {
        status = make(&s, kind, parent);
    }
    if (status == CLI_PROCEED) {
        say_next(&s, kind);
        status = STN_EXIT_DONE;
    }
    return status;
}

CLI_WORD(new, "makes a folder with a plugin or a scenario that works, to start from", run_new)
