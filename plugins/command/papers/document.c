// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/stream.h"
#include "report.h"
#include "words.h"

enum { LARGEST_CHART = 1 << 23 };

/// Text as text, not as markup, on one line and inside a cell.
static void put_text(FILE *file, const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr("\\|<*`[]", *c) != NULL) {
            fputc('\\', file);
        }
        fputc(*c == '\n' || *c == '\r' ? ' ' : *c, file);
    }
}

/// The way from one folder to another, both real: "../scripts/papers/sap".
static void find_way(const char *from, const char *to, char way[STN_INPUT_PATH]) {
    size_t same = 0, length = 0;
    for (size_t i = 0; from[i] == to[i] || (from[i] == '\0' && to[i] == '/') || (from[i] == '/' && to[i] == '\0');
         i++) {
        if (from[i] == '\0' || to[i] == '\0' || from[i] == '/') {
            same = i; // whole names only
        }
        if (from[i] == '\0' || to[i] == '\0') {
            break;
        }
    }
    way[0] = '\0';
    for (const char *c = from + same; *c != '\0' && length + 3 < STN_INPUT_PATH; c++) {
        if (*c == '/' && c[1] != '\0') {
            length += (size_t)snprintf(way + length, STN_INPUT_PATH - length, "../");
        }
    }
    const char *rest = to + same + (to[same] == '/');
    snprintf(way + length, STN_INPUT_PATH - length, "%s", rest[0] != '\0' ? rest : ".");
}

static void put_rows(FILE *file, const paper_report *r, int32_t paper) {
    const paper_data *p = &r->papers[paper];
    fputs("| where | what | published | ours | verdict |\n| --- | --- | --- | --- | --- |\n", file);
    for (int32_t k = 0; k < p->row_count; k++) {
        const paper_row *row = &p->rows[k];
        const paper_judgement j = paper_judge(r, paper, k);
        char published[512], ours[96], verdict[1024];
        paper_published(row, published, sizeof published);
        paper_ours(row, &j, ours, sizeof ours);
        snprintf(verdict, sizeof verdict, "%s%s%s", paper_verdict_words[j.verdict], j.reason[0] != '\0' ? ": " : "",
                 j.reason);
        const char *const cells[] = {row->place, row->quantity, published, ours, verdict};
        for (int32_t i = 0; i < STN_COUNT(cells); i++) {
            fputs("| ", file);
            put_text(file, cells[i]);
            fputc(' ', file);
        }
        fputs("|\n", file);
    }
}

/// Copies the charts of a paper's runs beside the document and shows them.
static stn_status put_charts(FILE *file, const paper_report *r, int32_t paper, const char *folder, stn_error *err) {
    for (int32_t k = 0; k < r->papers[paper].run_count; k++) {
        char *svg = NULL, to[2 * STN_INPUT_PATH];
        size_t size = 0;
        stn_error ignored;
        const paper_made *made = &r->made[paper][k];
        const paper_run *run = &r->papers[paper].runs[k];
        if (run->plot == NULL) {
            continue;
        }
        const int start = snprintf(to, sizeof to, "%s/", folder);
        snprintf(to + start, sizeof to - (size_t)start, "pictures/paper_%s_%s.svg", r->papers[paper].name, run->id);
        struct stat there;
        if (made->answer != NULL &&
            stn_read_regular(r->context, made->chart, 0, LARGEST_CHART, &svg, &size, &ignored) == STN_OK) {
            const stn_status status = stn_output_write(to, svg, size, err);
            stn_release(r->context, svg);
            if (status != STN_OK) {
                return status;
            }
        } else if (stat(to, &there) != 0) {
            continue;
        }
        fputs("\n![", file);
        put_text(file, run->id);
        fprintf(file, "](%s)\n\n", to + start);
        put_text(file, run->caption);
        fputc('\n', file);
    }
    return STN_OK;
}

static void put_failure(FILE *file, const char *what, const char *run, const char *text) {
    fprintf(file, "\n**%s**: %s: ", what, run);
    put_text(file, text);
    fputc('\n', file);
}

static void put_head(FILE *file, const paper_report *r) {
    int32_t counts[PAPER_VERDICT_COUNT] = {0};
    for (int32_t p = 0; p < r->paper_count; p++) {
        paper_count(r, p, counts);
    }
    fprintf(file,
            "# Results of papers\n\nPublished values beside ours. This file is written by\n\n"
            "    stiction papers --%s --markdown FILE\n\nfrom the `paper.json` beside the scripts of each paper. "
            "\"Not comparable\" and \"differs\" say why.\n\n",
            r->full ? "full" : "quick");
    paper_put_machine(file, r);
    fputs(".\n\nAll rows: ", file);
    paper_put_counts(file, counts);
    fputs(".\n", file);
}

stn_status paper_document(const paper_report *r, const char *path, stn_error *err) {
    char folder[STN_INPUT_PATH], real[STN_INPUT_PATH], pictures[2 * STN_INPUT_PATH];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path + (slash == path)) : 1,
             slash != NULL ? path : ".");
    snprintf(pictures, sizeof pictures, "%s/pictures", folder);
    if (realpath(folder, real) == NULL || (mkdir(pictures, 0777) != 0 && errno != EEXIST)) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be made: %s", pictures, strerror(errno));
    }
    stn_output output;
    stn_status status = stn_output_open(path, STN_OUTPUT_WHOLE, &output, err);
    if (status != STN_OK) {
        return status;
    }
    FILE *file = cli_stream_of(&output);
    if (file == NULL) {
        return cli_finish_stream(&output, NULL, path, err); // says why
    }
    put_head(file, r);
    for (int32_t p = 0; p < r->paper_count && status == STN_OK; p++) {
        const paper_data *paper = &r->papers[p];
        int32_t counts[PAPER_VERDICT_COUNT] = {0};
        char of_paper[STN_INPUT_PATH], way[STN_INPUT_PATH];
        fputs("\n## ", file);
        put_text(file, paper->name);
        fputs(": ", file);
        put_text(file, paper->title);
        fprintf(file, " (%s)\n\n", paper->reference);
        if (realpath(paper->folder, of_paper) != NULL) {
            find_way(real, of_paper, way);
            fprintf(file, "[Scripts, commands and explanations](%s/README.md). ", way);
        }
        paper_count(r, p, counts);
        paper_put_counts(file, counts);
        fprintf(file, "; %.0f s.\n\n", paper_seconds(r, p));
        put_rows(file, r, p);
        (void)paper_find_failures(r, p, file, put_failure);
        status = put_charts(file, r, p, folder, err);
    }
    if (status != STN_OK) {
        cli_drop_stream(&output, file);
        return status;
    }
    return cli_finish_stream(&output, file, path, err);
}
