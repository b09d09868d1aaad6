// SPDX-License-Identifier: Apache-2.0
// A receive from its posting to its record.
#include "trace.h"

#include <string.h>

struct pending begin_receive(enum kind kind, const struct call* call, const void* buffer,
                             int64_t count, MPI_Datatype type, int source, int tag,
                             const struct communicator* comm) {
    struct pending pending;
    memset(&pending, 0, sizeof pending);
    struct record* record = &pending.record;
    record->kind = (uint16_t)kind;
    record->posted_ns = call->begin_ns;
    record->site = call->site;
    record->local_source = source;
    record->source = -1;
    record->tag = tag;
    record->flags = (uint16_t)((source == MPI_ANY_SOURCE ? ANY_SOURCE : 0) |
                               (tag == MPI_ANY_TAG ? ANY_TAG : 0));
    MPI_Count low, extent, true_low, true_extent, size, elements = 0;
    PMPI_Type_get_extent_x(type, &low, &extent);
    PMPI_Type_get_true_extent_x(type, &true_low, &true_extent);
    PMPI_Type_size_x(type, &size);
    const int64_t others = count > 0 ? (count - 1) * extent : 0; // offset of the last item
    record->buffer =
        (uint64_t)((intptr_t)buffer + (intptr_t)(true_low + (others < 0 ? others : 0)));
    record->span = count > 0 ? (uint64_t)((others < 0 ? -others : others) + true_extent) : 0;
    record->posted = (uint64_t)(count * size);
    // A status as if one item had been received gives the basic elements per item.
    MPI_Status item;
    memset(&item, 0, sizeof item);
    PMPI_Status_set_elements_x(&item, MPI_BYTE, size);
    PMPI_Get_elements_x(&item, type, &elements);
    pending.item_bytes = (uint64_t)size;
    pending.item_elements = elements == MPI_UNDEFINED ? (uint64_t)size : (uint64_t)elements;
    if (size && (size != true_extent || (count > 1 && extent != size)))
        record->type = know_type(type);
    pending.source = source;
    pending.tag = tag;
    pending.comm = comm;
    if (kind != PROBED)
        name_site(call->site);
    return pending;
}

// MPICH 4.0 does not set the status of Isendrecv's request; it keeps an earlier request's values.
static bool status_is_valid(enum kind kind) {
    const bool mpich = sizeof(MPI_Request) == sizeof(int);
    return !(mpich && (kind == ISENDRECV || kind == ISENDRECV_REPLACE));
}

void complete(struct pending* pending, const struct call* call, MPI_Status* status, int error) {
    struct record* record = &pending->record;
    record->done_ns = now_ns();
    record->waited_ns = call->begin_ns;
    record->done_site = call->site;
    if (call->site != record->site)
        name_site(call->site);
    int cancelled = 0;
    if (error != MPI_SUCCESS) {
        record->flags |= FAILED;
    } else {
        PMPI_Test_cancelled(status, &cancelled);
        if (cancelled)
            record->flags |= CANCELLED;
    }
    if (error == MPI_SUCCESS && !cancelled && !status_is_valid((enum kind)record->kind)) {
        record->bytes = record->posted;
        record->flags |= AS_POSTED;
    } else if (error == MPI_SUCCESS && !cancelled) {
        MPI_Count bytes = 0;
        PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
        record->bytes = bytes == MPI_UNDEFINED ? 0 : (uint64_t)bytes;
        record->local_source = status->MPI_SOURCE;
        record->tag = status->MPI_TAG;
    }
    if (pending->item_bytes)
        record->elements = record->bytes * pending->item_elements / pending->item_bytes;
    place_source(record, pending->comm);
    write_record(record);
}
