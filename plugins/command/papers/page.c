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
    "h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2.5em}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;vertical-align:top;padding:.3em .6em;border-bottom:1px solid #ddd}th{color:#666}"
    "td.number{white-space:nowrap}.verdict{font-weight:600;white-space:nowrap}label{margin-right:1.2em}"
    ".holds .verdict{color:#17803d}.differs .verdict{color:#b45309}"
    ".unexplained .verdict,.failed .verdict,p.failed{color:#b91c1c}.incomparable .verdict,.unrun .verdict{color:#666}"
    "figure{margin:1em 0;max-width:720px}figure svg{width:100%;height:auto}figcaption,.note{color:#666}"
    "details{margin:1em 0}code{font-size:.9em}"
    "@media (prefers-color-scheme:dark){body{background:#1b1b1d;color:#ddd}th,td{border-color:#3a3a3d}"
    "figure svg{background:#fff}}";

static const char *const classes[PAPER_VERDICT_COUNT] = {"holds",        "differs", "unexplained",
                                                         "incomparable", "failed",  "unrun"};

static void put_text(FILE *file, const char *text) {
    cli_put_markup(file, text, strlen(text), false);
}

/// A box a verdict that hides its rows.
static void put_choices(FILE *file, const int32_t counts[PAPER_VERDICT_COUNT]) {
    fputs("<style>", file);
    for (int32_t v = 0; v < PAPER_VERDICT_COUNT; v++) {
        fprintf(file, "body:has(#%s:not(:checked)) tr.%s{display:none}", classes[v], classes[v]);
    }
    fputs("</style>\n<p>Rows: ", file);
    for (int32_t v = 0; v < PAPER_VERDICT_COUNT; v++) {
        if (counts[v] > 0) {
            fprintf(file, "<label><input type=checkbox checked id=%s> %s %d</label> ", classes[v],
                    paper_verdict_words[v], (int)counts[v]);
        }
    }
    fputs("</p>\n", file);
}

/// The papers with their counts, as links.
static void put_contents(FILE *file, const paper_report *r) {
    fputs("<table><tr><th>paper</th>", file);
    for (int32_t v = 0; v < PAPER_VERDICT_COUNT; v++) {
        fprintf(file, "<th>%s</th>", paper_verdict_words[v]);
    }
    fputs("<th>wall time of the runs</th></tr>\n", file);
    for (int32_t p = 0; p < r->paper_count; p++) {
        int32_t counts[PAPER_VERDICT_COUNT] = {0};
        paper_count(r, p, counts);
        fprintf(file, "<tr><td><a href=\"#paper%d\">", (int)p);
        put_text(file, r->papers[p].name);
        fputs("</a></td>", file);
        for (int32_t v = 0; v < PAPER_VERDICT_COUNT; v++) {
            fprintf(file, "<td>%d</td>", (int)counts[v]);
        }
        fprintf(file, "<td>%.1f s</td></tr>\n", paper_seconds(r, p));
    }
    fputs("</table>\n", file);
}

/// The chart of a run, as it is, if there is one.
static void put_chart(FILE *file, const paper_report *r, int32_t paper, int32_t run) {
    enum { LARGEST = 1 << 23 };
    char *svg = NULL;
    size_t size = 0;
    stn_error ignored;
    const paper_made *made = &r->made[paper][run];
    if (made->chart[0] == '\0' || made->answer == NULL ||
        stn_read_regular(r->context, made->chart, 0, LARGEST, &svg, &size, &ignored) != STN_OK) {
        return;
    }
    const char *begin = strstr(svg, "<svg");
    fputs("<figure>", file);
    fputs(begin != NULL ? begin : "", file);
    fputs("<figcaption>", file);
    put_text(file, r->papers[paper].runs[run].caption);
    fputs("</figcaption></figure>\n", file);
    stn_release(r->context, svg);
}

/// Puts the charts of the rows from `begin` to `end`, those of one table or figure, each where its run is first met.
static void put_charts(FILE *file, const paper_report *r, int32_t paper, int32_t begin, int32_t end) {
    const paper_data *p = &r->papers[paper];
    bool any = false;
    for (int32_t run = 0; run < p->run_count; run++) {
        int32_t first = 0;
        while (first < p->row_count && p->rows[first].run != run) {
            first++;
        }
        if (first >= begin && first < end && p->runs[run].plot != NULL && r->made[paper][run].answer != NULL) {
            fputs(any ? "" : "<tr><td colspan=6>", file);
            any = true;
            put_chart(file, r, paper, run);
        }
    }
    fputs(any ? "</td></tr>\n" : "", file);
}

static void put_rows(FILE *file, const paper_report *r, int32_t paper) {
    const paper_data *p = &r->papers[paper];
    fputs("<table><tr><th>where</th><th>what</th><th>published</th><th>ours</th><th>verdict</th><th>remark</th></tr>\n",
          file);
    int32_t begin = 0;
    for (int32_t k = 0; k < p->row_count; k++) {
        const paper_row *row = &p->rows[k];
        const paper_judgement j = paper_judge(r, paper, k);
        char published[512], ours[96];
        paper_published(row, published, sizeof published);
        paper_ours(row, &j, ours, sizeof ours);
        const char *const cells[] = {row->place, row->quantity, published, ours};
        fprintf(file, "<tr class=%s>", classes[j.verdict]);
        for (int32_t i = 0; i < STN_COUNT(cells); i++) {
            fputs(i > 1 && row->text == NULL ? "<td class=number>" : "<td>", file);
            put_text(file, cells[i]);
            fputs("</td>", file);
        }
        fprintf(file, "<td class=verdict>%s</td><td>", paper_verdict_words[j.verdict]);
        put_text(file, j.reason);
        fputs("</td></tr>\n", file);
        if (k + 1 == p->row_count || strcmp(row->place, row[1].place) != 0) {
            put_charts(file, r, paper, begin, k + 1);
            begin = k + 1;
        }
    }
    fputs("</table>\n", file);
    for (int32_t run = 0; run < p->run_count; run++) { // those that no row looks at
        bool used = false;
        for (int32_t k = 0; k < p->row_count; k++) {
            used |= p->rows[k].run == run;
        }
        if (!used) {
            put_chart(file, r, paper, run);
        }
    }
}

/// What was run, as it can be typed, and how long it took.
static void put_runs(FILE *file, const paper_report *r, int32_t paper) {
    const paper_data *p = &r->papers[paper];
    fputs("<details><summary>Runs</summary><table>\n", file);
    for (int32_t k = 0; k < p->run_count; k++) {
        const cJSON *const lists[] = {p->runs[k].options, p->runs[k].set}, *word;
        fputs("<tr><td>", file);
        put_text(file, p->runs[k].id);
        fputs("</td><td><code>stiction run ", file);
        put_text(file, p->folder);
        fputs("/", file);
        put_text(file, p->runs[k].script);
        for (int32_t i = 0; i < STN_COUNT(lists); i++) {
            cJSON_ArrayForEach(word, lists[i]) {
                fputs(i == 1 ? " --set '" : " ", file);
                put_text(file, word->valuestring);
                fputs(i == 1 ? "'" : "", file);
            }
        }
        const cJSON *wall = cJSON_GetObjectItemCaseSensitive(r->made[paper][k].answer, "wall_s");
        fputs("</code></td><td>", file);
        if (cJSON_IsNumber(wall)) {
            fprintf(file, "%.1f s", wall->valuedouble);
        } else {
            fputs("not run", file);
        }
        fputs("</td></tr>\n", file);
    }
    fputs("</table></details>\n", file);
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
        return cli_finish_stream(&output, NULL, path, err); // says why
    }
    int32_t counts[PAPER_VERDICT_COUNT] = {0};
    for (int32_t p = 0; p < r->paper_count; p++) {
        paper_count(r, p, counts);
    }
    fprintf(file,
            "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">"
            "<title>Results of papers</title><style>%s</style>\n<h1>Results of papers</h1>\n<p class=note>",
            style);
    paper_put_machine(file, r);
    fputs("</p>\n", file);
    put_contents(file, r);
    put_choices(file, counts);
    for (int32_t p = 0; p < r->paper_count; p++) {
        int32_t own[PAPER_VERDICT_COUNT] = {0};
        paper_count(r, p, own);
        fprintf(file, "<h2 id=paper%d>", (int)p);
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
        put_runs(file, r, p);
    }
    return cli_finish_stream(&output, file, path, err);
}
