// SPDX-License-Identifier: Apache-2.0
// Datatypes with gaps. A layout says which bytes of an item are data, in the order of the type map:
//
//     24               24 bytes
//     (10 40 LAYOUT)   10 times, 40 bytes apart
//     {0 LAYOUT 96 LAYOUT}   at these offsets
//
// Each layout is written once, even if a program makes several types with it.
#include "trace.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

struct text {
    char* at;
    size_t length, capacity;
    bool failed; // no memory
};

struct layout {
    struct layout* next; // in its bucket
    uint32_t id;
    char line[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct layout* buckets[BUCKETS];
static uint32_t last_id;
static int keyval = MPI_KEYVAL_INVALID;

__attribute__((format(printf, 2, 3))) static void append(struct text* text, const char* format,
                                                         ...) {
    for (;;) {
        va_list values;
        va_start(values, format);
        const size_t left = text->capacity - text->length;
        const int length =
            vsnprintf(text->at ? text->at + text->length : NULL, left, format, values);
        va_end(values);
        if (length < 0 || text->failed)
            break;
        if ((size_t)length < left) {
            text->length += (size_t)length;
            return;
        }
        const size_t capacity = 2 * text->capacity + (size_t)length + 1;
        char* more = realloc(text->at, capacity);
        if (!more)
            break;
        text->at = more;
        text->capacity = capacity;
    }
    text->failed = true;
}

// How a type was constructed. Types with MPI 4's large counts are not decoded.
struct made {
    int combiner;
    MPI_Count integers, addresses, types;
    int* integer;
    MPI_Aint* address;
    MPI_Datatype* type;
};

static void envelope(MPI_Datatype type, struct made* made) {
#if MPI_VERSION >= 4
    MPI_Count counts;
    PMPI_Type_get_envelope_c(type, &made->integers, &made->addresses, &counts, &made->types,
                             &made->combiner);
    if (counts)
        made->combiner = MPI_UNDEFINED;
#else
    int integers, addresses, types;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &made->combiner);
    made->integers = integers;
    made->addresses = addresses;
    made->types = types;
#endif
}

static bool contents(MPI_Datatype type, struct made* made) {
    made->integer = malloc((size_t)(made->integers + 1) * sizeof(int));
    made->address = malloc((size_t)(made->addresses + 1) * sizeof(MPI_Aint));
    made->type = malloc((size_t)(made->types + 1) * sizeof(MPI_Datatype));
    if (!made->integer || !made->address || !made->type)
        return false;
    PMPI_Type_get_contents(type, (int)made->integers, (int)made->addresses, (int)made->types,
                           made->integer, made->address, made->type);
    return true;
}

static bool predefined(int combiner) {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

static void forget(struct made* made, bool whole) {
    for (MPI_Count i = 0; whole && i < made->types; i++) {
        struct made child;
        envelope(made->type[i], &child);
        if (!predefined(child.combiner))
            PMPI_Type_free(&made->type[i]);
    }
    free(made->integer);
    free(made->address);
    free(made->type);
}

static void lay_out(struct text* text, MPI_Datatype type);

static void block(struct text* text, int length, MPI_Count extent, MPI_Datatype type) {
    append(text, "(%d %lld ", length, (long long)extent);
    lay_out(text, type);
    append(text, ")");
}

// MPI_Type_create_subarray: the integers are the sizes, subsizes and starts. In C order the last
// dimension is contiguous.
static void subarray(struct text* text, const struct made* made, MPI_Count extent) {
    const int sides = made->integer[0];
    const int *all = made->integer + 1, *part = all + sides, *start = part + sides;
    const bool c = start[sides] == MPI_ORDER_C;
    MPI_Count offset = 0, stride = extent;
    for (int i = 0; i < sides; i++) {
        const int side = c ? sides - 1 - i : i;
        offset += start[side] * stride;
        stride *= all[side];
    }
    append(text, "{%lld ", (long long)offset);
    for (int i = 0; i < sides; i++) {
        const int side = c ? i : sides - 1 - i;
        stride /= all[side];
        append(text, "(%d %lld ", part[side], (long long)stride);
    }
    lay_out(text, made->type[0]);
    for (int i = 0; i < sides; i++)
        append(text, ")");
    append(text, "}");
}

static void lay_out_made(struct text* text, const struct made* made) {
    const int* n = made->integer;
    const MPI_Aint* at = made->address;
    MPI_Count low, extent;
    PMPI_Type_get_extent_x(made->type[0], &low, &extent);
    switch (made->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        block(text, n[0], extent, made->type[0]);
        return;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        append(text, "(%d %lld ", n[0],
               (long long)(made->combiner == MPI_COMBINER_VECTOR ? n[2] * extent : at[0]));
        block(text, n[1], extent, made->type[0]);
        append(text, ")");
        return;
    case MPI_COMBINER_SUBARRAY:
        subarray(text, made, extent);
        return;
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        lay_out(text, made->type[0]);
        return;
    default:
        break;
    }
    const bool even = made->combiner == MPI_COMBINER_INDEXED_BLOCK ||
                      made->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    append(text, "{");
    for (int i = 0; i < n[0]; i++) {
        const bool in_items = !made->addresses;
        const MPI_Count offset = in_items ? n[even ? 2 + i : 1 + n[0] + i] * extent : at[i];
        const MPI_Datatype own = made->type[made->combiner == MPI_COMBINER_STRUCT ? i : 0];
        MPI_Count own_extent = extent;
        PMPI_Type_get_extent_x(own, &low, &own_extent);
        append(text, i ? " %lld " : "%lld ", (long long)offset);
        block(text, n[even ? 1 : 1 + i], own_extent, own);
    }
    append(text, "}");
}

static bool can_lay_out(int combiner) {
    switch (combiner) {
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return true;
    default: // predefined, or a distributed array, whose gaps count as data
        return false;
    }
}

static void lay_out(struct text* text, MPI_Datatype type) {
    MPI_Count low, extent, size;
    struct made made = {0};
    PMPI_Type_get_true_extent_x(type, &low, &extent);
    PMPI_Type_size_x(type, &size);
    if (size != extent)
        envelope(type, &made);
    if (size == extent || !can_lay_out(made.combiner)) {
        if (low)
            append(text, "{%lld %lld}", (long long)low, (long long)extent);
        else
            append(text, "%lld", (long long)extent);
        return;
    }
    const bool whole = contents(type, &made);
    if (whole && made.types)
        lay_out_made(text, &made);
    else
        text->failed = !whole;
    forget(&made, whole);
}

static uint32_t id_of(const char* line, size_t length) {
    uint64_t hash = 0;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)line[i]) * UINT64_C(0x100000001b3);
    struct layout** bucket = &buckets[(hash >> 32) % BUCKETS];
    for (const struct layout* one = *bucket; one; one = one->next)
        if (!strcmp(one->line, line))
            return one->id;
    struct layout* made = malloc(sizeof *made + length + 1);
    if (!made)
        return 0;
    memcpy(made->line, line, length + 1);
    made->id = ++last_id;
    made->next = *bucket;
    *bucket = made;
    char start[32];
    snprintf(start, sizeof start, "type\t%u\t", made->id);
    struct text whole = {0};
    append(&whole, "%s%s\n", start, line);
    if (!whole.failed)
        write_name(whole.at);
    free(whole.at);
    return made->id;
}

// Writes "type ID SIZE EXTENT FIRST LAYOUT": data bytes of an item, bytes from one item to the
// next, and offset of its first byte.
uint32_t know_type(MPI_Datatype type) {
    void* found = NULL;
    int there = 0;
    pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID)
        PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL);
    PMPI_Type_get_attr(type, keyval, &found, &there);
    uint32_t id = (uint32_t)(uintptr_t)found;
    if (!there) {
        MPI_Count low, extent, first, true_extent, size;
        PMPI_Type_get_extent_x(type, &low, &extent);
        PMPI_Type_get_true_extent_x(type, &first, &true_extent);
        PMPI_Type_size_x(type, &size);
        struct text text = {0};
        append(&text, "%lld\t%lld\t%lld\t", (long long)size, (long long)extent, (long long)first);
        lay_out(&text, type);
        id = text.failed ? 0 : id_of(text.at, text.length);
        free(text.at);
        PMPI_Type_set_attr(type, keyval, (void*)(uintptr_t)id);
    }
    pthread_mutex_unlock(&lock);
    return id;
}
