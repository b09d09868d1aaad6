// SPDX-License-Identifier: Apache-2.0
// The calls that start, complete, free and cancel requests.
#include "trace.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 64 }; // requests of a call that need no malloc

// A copy of a call's requests, because the call overwrites the handles of completed ones. Only
// completed requests are looked up: a program may wait for one of thousands.
struct claim {
    int count;
    uint64_t before; // of kept()
    MPI_Request* requests;
    MPI_Status* statuses; // the caller's, or our own if it ignores them
    MPI_Request few[FEW];
    MPI_Status few_statuses[FEW];
};

static void begin_claim(struct claim* claim, int count, const MPI_Request* requests,
                        MPI_Status* statuses) {
    claim->count = tracing && count > 0 && requests ? count : 0;
    claim->requests = claim->few;
    claim->statuses = statuses;
    if (!claim->count)
        return;
    const size_t wanted = (size_t)claim->count;
    const bool ignored = statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE;
    if (ignored)
        claim->statuses = claim->few_statuses;
    if (wanted > FEW) {
        claim->requests = malloc(wanted * sizeof(MPI_Request));
        if (ignored)
            claim->statuses = malloc(wanted * sizeof(MPI_Status));
        if (!claim->requests || !claim->statuses)
            abort();
    }
    claim->before = kept();
    memcpy(claim->requests, requests, wanted * sizeof(MPI_Request));
}

static void finish(const struct claim* claim, int i, MPI_Status* status, int error,
                   const struct call* call) {
    struct pending* receive =
        i < claim->count ? look(key_of_request(claim->requests[i]), claim->before) : NULL;
    if (!receive)
        return;
    if (receive->active)
        complete(receive, call, status, error);
    receive->active = false;
    if (!receive->persistent)
        drop(receive);
}

static void end_claim(struct claim* claim, const MPI_Status* callers) {
    if (claim->requests != claim->few)
        free(claim->requests);
    if (claim->statuses != claim->few_statuses && claim->statuses != callers)
        free(claim->statuses);
}

// Without an error all requests are complete. With MPI_ERR_IN_STATUS the statuses say which ones
// are. Another error does not name a request; then a request whose handle is null is complete.
static void finish_all(const struct claim* claim, const MPI_Request* after, int error,
                       const struct call* call) {
    for (int i = 0; i < claim->count; i++) {
        int own = error;
        if (error == MPI_ERR_IN_STATUS)
            own = claim->statuses[i].MPI_ERROR;
        else if (error != MPI_SUCCESS && after[i] != MPI_REQUEST_NULL)
            own = MPI_ERR_PENDING;
        if (own != MPI_ERR_PENDING)
            finish(claim, i, &claim->statuses[i], own, call);
    }
}

// The requests that Waitsome and Testsome return; each error is in the request's status.
static void finish_some(const struct claim* claim, int done, const int* which, int error,
                        const struct call* call) {
    if (!claim->count || (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS))
        return;
    for (int i = 0; done != MPI_UNDEFINED && i < done; i++) {
        const int own = error == MPI_SUCCESS ? error : claim->statuses[i].MPI_ERROR;
        finish(claim, which[i], &claim->statuses[i], own, call);
    }
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    CALL;
    struct claim claim;
    begin_claim(&claim, 1, request, status);
    const int error = NEXT(PMPI_Wait)(request, claim.statuses);
    finish(&claim, 0, claim.statuses, error, &call);
    end_claim(&claim, status);
    return error;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    CALL;
    struct claim claim;
    begin_claim(&claim, count, requests, statuses);
    const int error = NEXT(PMPI_Waitall)(count, requests, claim.statuses);
    finish_all(&claim, requests, error, &call);
    end_claim(&claim, statuses);
    return error;
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
    CALL;
    struct claim claim;
    MPI_Status own;
    begin_claim(&claim, count, requests, MPI_STATUSES_IGNORE);
    MPI_Status* seen = status == MPI_STATUS_IGNORE ? &own : status;
    *index = MPI_UNDEFINED;
    const int error = NEXT(PMPI_Waitany)(count, requests, index, seen);
    if (*index != MPI_UNDEFINED)
        finish(&claim, *index, seen, error, &call);
    end_claim(&claim, MPI_STATUSES_IGNORE);
    return error;
}

int MPI_Waitsome(int count, MPI_Request requests[], int* done, int which[], MPI_Status statuses[]) {
    CALL;
    struct claim claim;
    begin_claim(&claim, count, requests, statuses);
    *done = MPI_UNDEFINED;
    const int error = NEXT(PMPI_Waitsome)(count, requests, done, which, claim.statuses);
    finish_some(&claim, *done, which, error, &call);
    end_claim(&claim, statuses);
    return error;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    CALL;
    struct claim claim;
    begin_claim(&claim, 1, request, status);
    *flag = 0;
    const int error = NEXT(PMPI_Test)(request, flag, claim.statuses);
    if (*flag)
        finish(&claim, 0, claim.statuses, error, &call);
    end_claim(&claim, status);
    return error;
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
    CALL;
    struct claim claim;
    begin_claim(&claim, count, requests, statuses);
    *flag = 0;
    const int error = NEXT(PMPI_Testall)(count, requests, flag, claim.statuses);
    if (*flag)
        finish_all(&claim, requests, error, &call);
    end_claim(&claim, statuses);
    return error;
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
    CALL;
    struct claim claim;
    MPI_Status own;
    begin_claim(&claim, count, requests, MPI_STATUSES_IGNORE);
    MPI_Status* seen = status == MPI_STATUS_IGNORE ? &own : status;
    *index = MPI_UNDEFINED;
    *flag = 0;
    const int error = NEXT(PMPI_Testany)(count, requests, index, flag, seen);
    if (*flag && *index != MPI_UNDEFINED)
        finish(&claim, *index, seen, error, &call);
    end_claim(&claim, MPI_STATUSES_IGNORE);
    return error;
}

int MPI_Testsome(int count, MPI_Request requests[], int* done, int which[], MPI_Status statuses[]) {
    CALL;
    struct claim claim;
    begin_claim(&claim, count, requests, statuses);
    *done = MPI_UNDEFINED;
    const int error = NEXT(PMPI_Testsome)(count, requests, done, which, claim.statuses);
    finish_some(&claim, *done, which, error, &call);
    end_claim(&claim, statuses);
    return error;
}

static void started(MPI_Request request, const struct call* call) {
    struct pending* receive = tracing ? look(key_of_request(request), kept()) : NULL;
    if (!receive)
        return;
    struct record* record = &receive->record;
    receive->active = true;
    record->posted_ns = call->begin_ns;
    // Clears the results of the last use, because a cancelled receive does not set them.
    record->bytes = record->elements = 0;
    record->local_source = receive->source;
    record->tag = receive->tag;
    record->flags &= ANY_SOURCE | ANY_TAG;
    count_posted();
}

int MPI_Start(MPI_Request* request) {
    CALL;
    const int error = NEXT(PMPI_Start)(request);
    if (error == MPI_SUCCESS)
        started(*request, &call);
    return error;
}

int MPI_Startall(int count, MPI_Request requests[]) {
    CALL;
    const int error = NEXT(PMPI_Startall)(count, requests);
    for (int i = 0; error == MPI_SUCCESS && i < count; i++)
        started(requests[i], &call);
    return error;
}

// Keeps the request, which a later Wait or Request_free finds complete.
int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    CALL;
    struct pending* receive = tracing ? look(key_of_request(request), kept()) : NULL;
    MPI_Status own;
    MPI_Status* seen = status == MPI_STATUS_IGNORE ? &own : status;
    *flag = 0;
    const int error = NEXT(PMPI_Request_get_status)(request, flag, seen);
    if (receive && receive->active && *flag) {
        complete(receive, &call, seen, error);
        receive->active = false;
    }
    return error;
}

int MPI_Request_free(MPI_Request* request) {
    CALL;
    struct pending* receive = tracing ? look(key_of_request(*request), kept()) : NULL;
    const int error = NEXT(PMPI_Request_free)(request);
    if (receive && receive->active) {
        receive->record.done_ns = now_ns();
        receive->record.waited_ns = call.begin_ns;
        receive->record.done_site = call.site;
        receive->record.flags |= FREED;
        name_site(call.site);
        place_source(&receive->record, receive->comm);
        write_record(&receive->record);
    }
    if (receive)
        drop(receive);
    return error;
}

PMPI_ALIAS(MPI_Wait)
PMPI_ALIAS(MPI_Waitall)
PMPI_ALIAS(MPI_Waitany)
PMPI_ALIAS(MPI_Waitsome)
PMPI_ALIAS(MPI_Test)
PMPI_ALIAS(MPI_Testall)
PMPI_ALIAS(MPI_Testany)
PMPI_ALIAS(MPI_Testsome)
PMPI_ALIAS(MPI_Start)
PMPI_ALIAS(MPI_Startall)
PMPI_ALIAS(MPI_Request_get_status)
PMPI_ALIAS(MPI_Request_free)
