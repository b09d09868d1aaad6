// SPDX-License-Identifier: Apache-2.0
// SQLite with an in-memory table under a Zipf load like YCSB: point reads, a few updates and short
// range scans by primary key. Popular keys are scattered over the table, so a huge page holds a few
// hot 4 KiB pages among cold ones (NEMO §5.2).
//
// rows=900000 updates=5 scans=5 seed=1
#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "anemone_capture.h"
#include "arguments.hpp"
#include "random.hpp"

namespace {

constexpr int kValueBytes = 100;
constexpr int kKeyBytes = 40; // a value starts with its key in digits, for a check at reads
constexpr int kScanRows = 8;

void expect(int got, int want, sqlite3* db) {
    if (got == want)
        return;
    std::fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
    std::exit(1);
}

ANEMONE_UNSEEN void fill(std::uint64_t key, std::uint64_t version, char* value) {
    std::memset(value, 'a' + static_cast<int>(version % 26), kValueBytes);
    std::snprintf(value, kKeyBytes + 1, "%040llu", (unsigned long long)key);
}

ANEMONE_UNSEEN bool right(std::uint64_t key, const char* value, int bytes) {
    char want[kValueBytes];
    fill(key, 0, want);
    return bytes == kValueBytes && std::memcmp(value, want, kKeyBytes) == 0;
}

class Table {
public:
    Table() {
        expect(sqlite3_open(":memory:", &db_), SQLITE_OK, db_);
        // Without a seed, SQLite takes random numbers from the system, and runs would differ.
        sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, db_);
        run("PRAGMA page_size=4096");
        run("CREATE TABLE store (key INTEGER PRIMARY KEY, value BLOB NOT NULL)");
        prepare("INSERT INTO store VALUES (?1, ?2)", &insert_);
        prepare("SELECT value FROM store WHERE key = ?1", &select_);
        prepare("UPDATE store SET value = ?2 WHERE key = ?1", &update_);
        prepare("SELECT key, value FROM store WHERE key >= ?1 ORDER BY key LIMIT ?2", &scan_);
    }
    ~Table() {
        for (sqlite3_stmt* s : {insert_, select_, update_, scan_})
            sqlite3_finalize(s);
        sqlite3_close(db_);
    }

    void run(const char* text) {
        expect(sqlite3_exec(db_, text, nullptr, nullptr, nullptr), SQLITE_OK, db_);
    }

    void write(sqlite3_stmt* statement, std::uint64_t key, const char* value) {
        sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(key));
        sqlite3_bind_blob(statement, 2, value, kValueBytes, SQLITE_STATIC);
        expect(sqlite3_step(statement), SQLITE_DONE, db_);
        sqlite3_reset(statement);
    }
    void insert(std::uint64_t key, const char* value) { write(insert_, key, value); }
    void update(std::uint64_t key, const char* value) { write(update_, key, value); }

    void read(std::uint64_t key) {
        sqlite3_bind_int64(select_, 1, static_cast<sqlite3_int64>(key));
        expect(sqlite3_step(select_), SQLITE_ROW, db_);
        const auto* value = static_cast<const char*>(sqlite3_column_blob(select_, 0));
        workload::check(right(key, value, sqlite3_column_bytes(select_, 0)), "sqlite: a value");
        sqlite3_reset(select_);
    }

    void scan(std::uint64_t key) {
        sqlite3_bind_int64(scan_, 1, static_cast<sqlite3_int64>(key));
        sqlite3_bind_int(scan_, 2, kScanRows);
        for (; sqlite3_step(scan_) == SQLITE_ROW; key++) {
            const auto got = static_cast<std::uint64_t>(sqlite3_column_int64(scan_, 0));
            const auto* value = static_cast<const char*>(sqlite3_column_blob(scan_, 1));
            workload::check(got == key && right(key, value, sqlite3_column_bytes(scan_, 1)),
                            "sqlite: a scanned row");
        }
        sqlite3_reset(scan_);
    }

private:
    void prepare(const char* text, sqlite3_stmt** statement) {
        expect(sqlite3_prepare_v2(db_, text, -1, statement, nullptr), SQLITE_OK, db_);
    }
    sqlite3* db_ = nullptr;
    sqlite3_stmt *insert_ = nullptr, *select_ = nullptr, *update_ = nullptr, *scan_ = nullptr;
};

} // namespace

int main(int argc, char** argv) {
    workload::Arguments args(argc, argv);
    const std::uint64_t rows = args.get("rows", 900000, 100, 100000000);
    const auto updates = static_cast<unsigned>(args.get("updates", 5, 0, 100));
    const auto scans = static_cast<unsigned>(args.get("scans", 5, 0, 100));
    workload::Random random(args.get("seed", 1, 0, UINT64_MAX));
    args.end();
    const workload::Zipf zipf(rows);
    unsigned bits = 2;
    while ((1ull << bits) < rows)
        bits++;

    Table table;
    char value[kValueBytes];
    table.run("BEGIN");
    for (std::uint64_t key = 0; key < rows; key++) {
        fill(key, 0, value);
        table.insert(key, value);
    }
    table.run("COMMIT");

    std::uint64_t done = 0;
    const auto request = [&] {
        std::uint64_t key = workload::scatter(zipf.draw(random), bits);
        while (key >= rows)
            key = workload::scatter(key, bits);
        const std::uint64_t kind = random.below(100);
        if (kind < updates) {
            fill(key, ++done, value);
            table.update(key, value);
        } else if (kind < updates + scans) {
            table.scan(key);
        } else {
            table.read(key);
        }
        done++;
    };

    anemone_capture_warm();
    for (int i = 0; i < 20000; i++)
        request();
    anemone_capture_record();
    while (anemone_capture_progress() < 1.0)
        request();
    std::printf("sqlite %s: %llu rows, %llu requests\n", sqlite3_libversion(),
                (unsigned long long)rows, (unsigned long long)done);
    return 0;
}
