// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

void paper_published(const paper_row *row, char *text, size_t size) {
    if (row->text != NULL) {
        snprintf(text, size, "%s", row->text);
        return;
    }
    char number[96];
    paper_number(row->published, row->unit, number, sizeof number);
    const char *before = row->same == PAPER_AT_MOST ? "at most " : row->same == PAPER_AT_LEAST ? "at least " : "";
    snprintf(text, size, "%s%s", row->not_comparable == NULL ? before : "", number);
}

void paper_ours(const paper_row *row, const paper_judgement *j, char *text, size_t size) {
    text[0] = '\0';
    if (!isnan(j->ours)) {
        paper_number(j->ours, row->unit, text, size);
    }
}

void paper_count(const paper_report *r, int32_t paper, int32_t counts[PAPER_VERDICT_COUNT]) {
    for (int32_t k = 0; k < r->papers[paper].row_count; k++) {
        counts[paper_judge(r, paper, k).verdict]++;
    }
}

void paper_put_counts(FILE *file, const int32_t counts[PAPER_VERDICT_COUNT]) {
    const char *separator = "";
    for (int32_t v = 0; v < PAPER_VERDICT_COUNT; v++) {
        if (counts[v] > 0) {
            fprintf(file, "%s%s %d", separator, paper_verdict_words[v], (int)counts[v]);
            separator = "; ";
        }
    }
}

double paper_seconds(const paper_report *r, int32_t paper) {
    double sum = 0.0;
    for (int32_t k = 0; k < r->papers[paper].run_count; k++) {
        const cJSON *wall = cJSON_GetObjectItemCaseSensitive(r->made[paper][k].answer, "wall_s");
        sum += cJSON_IsNumber(wall) ? wall->valuedouble : 0.0;
    }
    return sum;
}

/// The processor's name as Linux knows it; "" elsewhere.
static void name_processor(char *name, size_t size) {
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    name[0] = '\0';
    while (file != NULL && name[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, "model name", strlen("model name")) == 0) {
            snprintf(name, size, ", %.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

void paper_put_machine(FILE *file, const paper_report *r) {
    struct utsname machine = {0};
    char processor[256];
    (void)uname(&machine);
    name_processor(processor, sizeof processor);
    double seconds = 0.0;
    for (int32_t p = 0; p < r->paper_count; p++) {
        seconds += paper_seconds(r, p);
    }
    fprintf(file, "stiction %s, commit %s, %s %s%s, %ld processors; wall time of all runs, one after the other: %.0f s",
            STN_VERSION, r->commit[0] != '\0' ? r->commit : "unknown", machine.sysname, machine.machine, processor,
            sysconf(_SC_NPROCESSORS_ONLN), seconds);
}

int32_t paper_find_failures(const paper_report *r, int32_t paper, FILE *file,
                            void (*tell)(FILE *file, const char *what, const char *run, const char *text)) {
    int32_t count = 0;
    for (int32_t k = 0; k < r->papers[paper].run_count; k++) {
        const char *id = r->papers[paper].runs[k].id;
        const cJSON *answer = r->made[paper][k].answer, *check;
        const cJSON *run = cJSON_GetObjectItemCaseSensitive(answer, "run");
        const char *error = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "error"));
        if (error != NULL) {
            tell(file, "run failed", id, error);
            count++;
        }
        cJSON_ArrayForEach(check, cJSON_GetObjectItemCaseSensitive(run, "checks")) {
            const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(check, "name"));
            if (cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(check, "ok")) && name != NULL) {
                tell(file, "check failed", id, name);
                count++;
            }
        }
    }
    return count;
}
