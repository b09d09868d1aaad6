// SPDX-License-Identifier: Apache-2.0
// Output of the results, as JSON or as tables.
#include "memo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 16, MAX_TEXT = 96, MAX_WARNINGS = 32 };

struct field {
    const char* name;
    char text[MAX_TEXT];
    bool is_text;
};

static bool json, any_row, any_wrong;
static FILE* rows; // JSON, printed at the end, so that a failure leaves no partial output
static char* rows_text;
static size_t rows_size;
static struct field fields[MAX_FIELDS];
static unsigned count, warnings;
static char warned[MAX_WARNINGS][256];
static char last_test[32];

void out_begin(bool as_json) {
    json = as_json;
    if (json && !(rows = open_memstream(&rows_text, &rows_size)))
        fail(1, "no memory for results");
}

static struct field* field(const char* name) {
    if (count == MAX_FIELDS)
        abort();
    struct field* f = &fields[count++];
    f->name = name;
    return f;
}

void row_text(const char* name, const char* value) {
    struct field* f = field(name);
    f->is_text = true;
    snprintf(f->text, sizeof f->text, "%s", value);
}

void row_number(const char* name, double value, int decimals) {
    struct field* f = field(name);
    f->is_text = false;
    snprintf(f->text, sizeof f->text, "%.*f", decimals, value);
}

void row_begin(const char* test, int node) {
    count = 0;
    row_text("test", test);
    row_number("node", node, 0);
}

static void as_object(void) {
    fprintf(rows, "%s\n    {", any_row ? "," : "");
    for (unsigned i = 0; i < count; i++) {
        const char* quote = fields[i].is_text ? "\"" : "";
        fprintf(rows, "%s\"%s\": ", i ? ", " : "", fields[i].name);
        fprintf(rows, "%s%s%s", quote, fields[i].text, quote);
    }
    fprintf(rows, "}");
}

static int width(const struct field* f) {
    const int name = (int)strlen(f->name);
    return name > 12 ? name : 12;
}

static void as_line(void) {
    if (strcmp(last_test, fields[0].text)) {
        snprintf(last_test, sizeof last_test, "%.31s", fields[0].text);
        printf("\n%s\n", last_test);
        for (unsigned i = 1; i < count; i++)
            printf("  %*s", width(&fields[i]), fields[i].name);
        printf("\n");
    }
    for (unsigned i = 1; i < count; i++)
        printf("  %*s", width(&fields[i]), fields[i].text);
    printf("\n");
}

void row_end(void) {
    if (json)
        as_object();
    else
        as_line();
    any_row = true;
    fflush(stdout);
}

static void print_message(const char* kind, const char* format, va_list values) {
    char text[sizeof warned[0]];
    vsnprintf(text, sizeof text, format, values);
    fprintf(stderr, "memo: %s%s\n", kind, text);
    if (warnings < MAX_WARNINGS)
        snprintf(warned[warnings++], sizeof warned[0], "%.240s", text);
}

void warn(const char* format, ...) {
    va_list values;
    va_start(values, format);
    print_message("warning: ", format, values);
    va_end(values);
}

void wrong(const char* format, ...) {
    va_list values;
    va_start(values, format);
    print_message("wrong: ", format, values);
    va_end(values);
    any_wrong = true;
}

void fail(int status, const char* format, ...) {
    va_list values;
    va_start(values, format);
    fprintf(stderr, "memo: ");
    vfprintf(stderr, format, values);
    fprintf(stderr, "\n");
    va_end(values);
    exit(status);
}

int out_end(const struct host* host, const struct kernels* kernels) {
    if (json) {
        if (fclose(rows))
            fail(1, "no memory for results");
        printf("{\n  \"rows\": [%s\n  ],\n", rows_text);
        printf("  \"isa\": \"%s\",\n  \"tsc_ghz\": %.6f,\n", kernels->name, host->tsc_ghz);
        printf("  \"timer_ns\": %.3f,\n", host->timer_cycles / host->tsc_ghz);
        printf("  \"cycles_per_tick\": %.4f,\n  \"cpus\": %u,\n", cycles_per_tick(), host->cpus);
        printf("  \"cache_bytes\": %zu,\n  \"checks\": \"%s\",\n  \"warnings\": [", host->cache,
               any_wrong ? "wrong" : "passed");
        for (unsigned i = 0; i < warnings; i++)
            printf("%s\n    \"%s\"", i ? "," : "", warned[i]);
        printf("%s]\n}\n", warnings ? "\n  " : "");
    } else {
        printf("\n%s vectors; a reading of the time costs %.1f ns, which is taken off; checks %s\n",
               kernels->name, host->timer_cycles / host->tsc_ghz, any_wrong ? "WRONG" : "passed");
    }
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "memo: what was to be printed could not be\n");
        return 1;
    }
    return any_wrong;
}
