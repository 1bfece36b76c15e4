// SPDX-License-Identifier: Apache-2.0
#include "page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/markup.h"
#include "common/stream.h"
#include "common/terminal.h"

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1200px;padding:0 "
    "1em;color:#222;background:#fff}"
    "h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;vertical-align:top;padding:.3em .6em;border-bottom:1px solid #ddd}th{color:#666}"
    "td.number{white-space:nowrap}.verdict{font-weight:600;white-space:nowrap}"
    ".holds{color:#17803d}.differs{color:#b45309}.unexplained,.failed{color:#b91c1c}.none{color:#666}"
    "figure{margin:1.5em 0}figure svg{max-width:100%;height:auto}figcaption,.note{color:#666}"
    "@media (prefers-color-scheme:dark){body{background:#1b1b1d;color:#ddd}th,td{border-color:#3a3a3d}"
    "figure svg{background:#fff}}";

static const char *const classes[PAPER_VERDICT_COUNT] = {"holds", "differs", "unexplained", "none", "failed", "none"};

static void put_text(FILE *file, const char *text) {
    cli_put_markup(file, text, strlen(text), false);
}

static void published_of(const paper_row *row, char *text, size_t size) {
    if (row->text != NULL) {
        snprintf(text, size, "%s", row->text);
        return;
    }
    char number[96];
    paper_number(row->published, row->unit, number, sizeof number);
    const char *before = row->same == PAPER_AT_MOST ? "at most " : row->same == PAPER_AT_LEAST ? "at least " : "";
    snprintf(text, size, "%s%s", row->not_comparable == NULL ? before : "", number);
}

static void ours_of(const paper_row *row, const paper_judgement *j, char *text, size_t size) {
    text[0] = '\0';
    if (!isnan(j->ours)) {
        paper_number(j->ours, row->unit, text, size);
    }
}

static void count(const paper_report *r, int32_t paper, int32_t counts[PAPER_VERDICT_COUNT]) {
    for (int32_t k = 0; k < r->papers[paper].row_count; k++) {
        counts[paper_judge(r, paper, k).verdict]++;
    }
}

/// "12 hold, 3 differ, ...": those that are.
static void put_counts(FILE *file, const int32_t counts[PAPER_VERDICT_COUNT]) {
    const char *separator = "";
    for (int32_t v = 0; v < PAPER_VERDICT_COUNT; v++) {
        if (counts[v] > 0) {
            fprintf(file, "%s%s %d", separator, paper_verdict_words[v], (int)counts[v]);
            separator = "; ";
        }
    }
}

static double seconds_of(const paper_report *r, int32_t paper) {
    double sum = 0.0;
    for (int32_t k = 0; k < r->papers[paper].run_count; k++) {
        const cJSON *wall = cJSON_GetObjectItemCaseSensitive(r->made[paper][k].answer, "wall_s");
        sum += cJSON_IsNumber(wall) ? wall->valuedouble : 0.0;
    }
    return sum;
}

static void put_rows(FILE *file, const paper_report *r, int32_t paper) {
    const paper_data *p = &r->papers[paper];
    fputs("<table><tr><th>where</th><th>what</th><th>published</th><th>ours</th><th>verdict</th><th>remark</th></tr>\n",
          file);
    for (int32_t k = 0; k < p->row_count; k++) {
        const paper_row *row = &p->rows[k];
        const paper_judgement j = paper_judge(r, paper, k);
        char published[512], ours[96];
        published_of(row, published, sizeof published);
        ours_of(row, &j, ours, sizeof ours);
        const char *const cells[] = {row->place, row->quantity, published, ours};
        fputs("<tr>", file);
        for (int32_t i = 0; i < STN_COUNT(cells); i++) {
            fputs(i > 1 && row->text == NULL ? "<td class=number>" : "<td>", file);
            put_text(file, cells[i]);
            fputs("</td>", file);
        }
        fprintf(file, "<td class=\"verdict %s\">%s</td><td>", classes[j.verdict], paper_verdict_words[j.verdict]);
        put_text(file, j.reason);
        fputs("</td></tr>\n", file);
    }
    fputs("</table>\n", file);
}

/// Charts of a paper's runs, as they are.
static void put_charts(FILE *file, const paper_report *r, int32_t paper) {
    enum { LARGEST = 1 << 23 };
    for (int32_t k = 0; k < r->papers[paper].run_count; k++) {
        char *svg = NULL;
        size_t size = 0;
        stn_error ignored;
        const paper_made *made = &r->made[paper][k];
        if (made->chart[0] == '\0' || made->answer == NULL ||
            stn_read_regular(r->context, made->chart, 0, LARGEST, &svg, &size, &ignored) != STN_OK) {
            continue;
        }
        const char *begin = strstr(svg, "<svg");
        fputs("<figure>", file);
        fputs(begin != NULL ? begin : "", file);
        fputs("<figcaption>", file);
        put_text(file, r->papers[paper].runs[k].caption);
        fputs("</figcaption></figure>\n", file);
        stn_release(r->context, svg);
    }
}

/// Calls `tell` for every run that failed, whether or not a row looks at it, and every check of a script that failed;
/// how many.
static int32_t find_failures(const paper_report *r, int32_t paper, FILE *file,
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

static void put_failure(FILE *file, const char *what, const char *run, const char *text) {
    fprintf(file, "<p class=failed>%s: %s: ", what, run);
    put_text(file, text);
    fputs("</p>\n", file);
}

static void print_failure(FILE *file, const char *what, const char *run, const char *text) {
    (void)file; // stdout
    const cli_terminal terminal = cli_terminal_of_stdout();
    char line[1024];
    snprintf(line, sizeof line, "  %-20s  %s: %s", what, run, text);
    cli_print_cut(&terminal, line);
}

stn_status paper_page(const paper_report *r, const char *path, stn_error *err) {
    stn_output output;
    stn_status status = stn_output_open(path, STN_OUTPUT_WHOLE, &output, err);
    if (status != STN_OK) {
        return status;
    }
    FILE *file = cli_stream_of(&output);
    if (file == NULL) {
        stn_error ignored;
        (void)stn_output_close(&output, STN_OUTPUT_DROP, &ignored);
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    struct utsname machine = {0};
    (void)uname(&machine);
    int32_t counts[PAPER_VERDICT_COUNT] = {0};
    double seconds = 0.0;
    for (int32_t p = 0; p < r->paper_count; p++) {
        count(r, p, counts);
        seconds += seconds_of(r, p);
    }
    fprintf(file,
            "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">"
            "<title>Results of papers</title><style>%s</style>\n<h1>Results of papers</h1>\n<p>",
            style);
    put_counts(file, counts);
    fprintf(file,
            "</p>\n<p class=note>stiction %s, commit %s, %s %s, %ld processors; wall time of the runs %.1f s</p>\n",
            STN_VERSION, r->commit[0] != '\0' ? r->commit : "unknown", machine.sysname, machine.machine,
            sysconf(_SC_NPROCESSORS_ONLN), seconds);
    for (int32_t p = 0; p < r->paper_count; p++) {
        int32_t own[PAPER_VERDICT_COUNT] = {0};
        count(r, p, own);
        fputs("<h2>", file);
        put_text(file, r->papers[p].name);
        fputs(": ", file);
        put_text(file, r->papers[p].title);
        fputs(" [", file);
        put_text(file, r->papers[p].reference);
        fputs("]</h2>\n<p class=note>", file);
        put_counts(file, own);
        fprintf(file, "; %.1f s</p>\n", seconds_of(r, p));
        put_rows(file, r, p);
        (void)find_failures(r, p, file, put_failure);
        put_charts(file, r, p);
    }
    return cli_finish_stream(&output, file, path, err);
}

int32_t paper_table(const paper_report *r, int32_t counts[PAPER_VERDICT_COUNT]) {
    int32_t failed = 0;
    const cli_terminal terminal = cli_terminal_of_stdout();
    for (int32_t p = 0; p < r->paper_count; p++) {
        printf("%s%s\n", p > 0 ? "\n" : "", r->papers[p].name);
        for (int32_t k = 0; k < r->papers[p].row_count; k++) {
            const paper_row *row = &r->papers[p].rows[k];
            const paper_judgement j = paper_judge(r, p, k);
            char published[512], ours[96], line[2048];
            published_of(row, published, sizeof published);
            ours_of(row, &j, ours, sizeof ours);
            snprintf(line, sizeof line, "  %-20s  %-10s  %s: %s; ours %s%s%s", paper_verdict_words[j.verdict],
                     row->place, row->quantity, published, ours[0] != '\0' ? ours : "none",
                     j.reason[0] != '\0' ? "; " : "", j.reason);
            cli_print_cut(&terminal, line);
            counts[j.verdict]++;
        }
        failed += find_failures(r, p, stdout, print_failure);
    }
    putchar('\n');
    put_counts(stdout, counts);
    putchar('\n');
    return failed;
}
