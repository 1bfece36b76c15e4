// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "common/markup.h"
#include "common/stream.h"
#include "report.h"
#include "words.h"

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

static void put_rows(FILE *file, const paper_report *r, int32_t paper) {
    const paper_data *p = &r->papers[paper];
    fputs("<table><tr><th>where</th><th>what</th><th>published</th><th>ours</th><th>verdict</th><th>remark</th></tr>\n",
          file);
    for (int32_t k = 0; k < p->row_count; k++) {
        const paper_row *row = &p->rows[k];
        const paper_judgement j = paper_judge(r, paper, k);
        char published[512], ours[96];
        paper_published(row, published, sizeof published);
        paper_ours(row, &j, ours, sizeof ours);
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

static void put_failure(FILE *file, const char *what, const char *run, const char *text) {
    fprintf(file, "<p class=failed>%s: %s: ", what, run);
    put_text(file, text);
    fputs("</p>\n", file);
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
    int32_t counts[PAPER_VERDICT_COUNT] = {0};
    for (int32_t p = 0; p < r->paper_count; p++) {
        paper_count(r, p, counts);
    }
    fprintf(file,
            "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">"
            "<title>Results of papers</title><style>%s</style>\n<h1>Results of papers</h1>\n<p>",
            style);
    paper_put_counts(file, counts);
    fputs("</p>\n<p class=note>", file);
    paper_put_machine(file, r);
    fputs("</p>\n", file);
    for (int32_t p = 0; p < r->paper_count; p++) {
        int32_t own[PAPER_VERDICT_COUNT] = {0};
        paper_count(r, p, own);
        fputs("<h2>", file);
        put_text(file, r->papers[p].name);
        fputs(": ", file);
        put_text(file, r->papers[p].title);
        fputs(" [", file);
        put_text(file, r->papers[p].reference);
        fputs("]</h2>\n<p class=note>", file);
        paper_put_counts(file, own);
        fprintf(file, "; %.1f s</p>\n", paper_seconds(r, p));
        put_rows(file, r, p);
        (void)paper_find_failures(r, p, file, put_failure);
        put_charts(file, r, p);
    }
    return cli_finish_stream(&output, file, path, err);
}
