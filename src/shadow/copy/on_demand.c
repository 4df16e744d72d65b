/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "on_demand.h"

#include "../tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* In the kernel's headers since Linux 5.11. */
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum { PAGE_BYTES = 4096 };

void on_demand_init(struct on_demand *on_demand)
{
	*on_demand = (struct on_demand){ .fd = -1 };
}

void on_demand_close(struct on_demand *on_demand)
{
	if (on_demand->fd >= 0)
		close(on_demand->fd);
	on_demand_init(on_demand);
}

struct hp_error *on_demand_open(struct on_demand *on_demand, struct sandbox *sandbox,
				struct snapshot *snapshot)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_SIGBUS };
	int64_t theirs = sandbox_call(sandbox, SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC, 0,
				      0, 0, 0, 0);

	on_demand_close(on_demand);
	if (theirs < 0)
		return hp_error_create_errno((int)-theirs, "userfaultfd of a copy");
	on_demand->fd = (int)syscall(SYS_pidfd_getfd, sandbox->pidfd, (int)theirs, 0);
	if (on_demand->fd < 0 || ioctl(on_demand->fd, UFFDIO_API, &api) < 0) {
		struct hp_error *error = hp_error_create_errno(errno, "userfaultfd of a copy");

		on_demand_close(on_demand);
		return error;
	}
	on_demand->pid = snapshot->pid;
	on_demand->snapshot = snapshot;
	return NULL;
}

struct hp_error *on_demand_watch(struct on_demand *on_demand, uint64_t start, uint64_t end)
{
	struct uffdio_register watched = { .range = { start, end - start },
					   .mode = UFFDIO_REGISTER_MODE_MISSING };

	if (ioctl(on_demand->fd, UFFDIO_REGISTER, &watched) < 0)
		return hp_error_create_errno(errno, "watching a copy's memory");
	return NULL;
}

/* Runs get longer as long as each one begins where the one before ended. */
static uint64_t pages_at(struct on_demand *on_demand, uint64_t page)
{
	uint64_t pages = page == on_demand->next ? 2 * on_demand->run_pages : 1;

	return pages < ON_DEMAND_MOST_PAGES ? pages : ON_DEMAND_MOST_PAGES;
}

/* How many bytes from `page` on may be read at once: up to the area's end. */
static uint64_t bytes_at(struct on_demand *on_demand, uint64_t page)
{
	const struct area *area = areas_find(&on_demand->snapshot->areas, page);
	uint64_t bytes = pages_at(on_demand, page) * PAGE_BYTES;

	if (!area)
		return PAGE_BYTES;
	if (area->is_secret || area->kind == AREA_DEVICE)
		return 0;
	return bytes < area->end - page ? bytes : area->end - page;
}

/* Puts bytes into the copy; returns how many. Less where a page is there already. */
static uint64_t put(const struct on_demand *on_demand, uint64_t page, const uint8_t *from,
		    uint64_t bytes)
{
	struct uffdio_copy copy = { .dst = page, .src = (uint64_t)(uintptr_t)from, .len = bytes };

	if (ioctl(on_demand->fd, UFFDIO_COPY, &copy) == 0)
		return bytes;
	return copy.copy > 0 ? (uint64_t)copy.copy : 0;
}

/* The target's stack may grow there. */
static bool is_below_stack(const struct on_demand *on_demand, uint64_t page)
{
	const struct areas *areas = &on_demand->snapshot->areas;

	if (areas_find(areas, page))
		return false;
	for (size_t i = 0; i < areas->count; i++)
		if (areas->at[i].kind == AREA_STACK && page < areas->at[i].start)
			return areas->at[i].start - page <= STACK_GROWTH_BYTES;
	return false;
}

static bool add_run(struct snapshot *snapshot, uint64_t page, uint64_t bytes)
{
	if (!hp_grow((void **)&snapshot->runs, &snapshot->run_capacity, snapshot->run_count + 1,
		     sizeof(*snapshot->runs)))
		return false;
	snapshot->runs[snapshot->run_count++] = (struct run){ page, bytes, snapshot->used_bytes };
	snapshot->used_bytes += bytes;
	return true;
}

bool on_demand_fill(struct on_demand *on_demand, uint64_t address)
{
	uint64_t page = address / PAGE_BYTES * PAGE_BYTES;
	struct snapshot *snapshot = on_demand->snapshot;
	uint64_t bytes;
	uint8_t *to;
	struct iovec local, remote;
	ssize_t got;

	if (on_demand->is_over ||
	    (on_demand->until_ns && hp_clock_monotonic_ns() >= on_demand->until_ns))
		return false;
	bytes = bytes_at(on_demand, page);
	if (!bytes || snapshot->used_bytes + bytes > snapshot->buffer.bytes)
		return false;
	to = snapshot->buffer.at + snapshot->used_bytes;
	local = (struct iovec){ to, bytes };
	remote = (struct iovec){ (void *)(uintptr_t)page, bytes };
	got = process_vm_readv(on_demand->pid, &local, 1, &remote, 1, 0);
	if (got < PAGE_BYTES && is_below_stack(on_demand, page)) {
		memset(to, 0, PAGE_BYTES);
		got = PAGE_BYTES;
	}
	if (got < PAGE_BYTES)
		return false;
	bytes = put(on_demand, page, to, (uint64_t)got / PAGE_BYTES * PAGE_BYTES);
	on_demand->fills++;
	on_demand->next = page + bytes;
	on_demand->run_pages = bytes / PAGE_BYTES;
	return bytes && add_run(snapshot, page, bytes);
}

static bool may_change(const struct on_demand *on_demand, uint64_t page)
{
	const struct area *area = areas_find(&on_demand->snapshot->areas, page);

	return !area || area->kind != AREA_FILE || (area->protection & PROT_WRITE);
}

/* Whether the target still has this page. */
static bool has_page(const struct on_demand *on_demand, uint64_t page, const uint8_t *bytes)
{
	uint8_t found[PAGE_BYTES];
	struct iovec local = { found, sizeof(found) };
	struct iovec remote = { (void *)(uintptr_t)page, sizeof(found) };

	return process_vm_readv(on_demand->pid, &local, 1, &remote, 1, 0) == sizeof(found) &&
	       memcmp(found, bytes, sizeof(found)) == 0;
}

bool on_demand_is_same(const struct on_demand *on_demand)
{
	const struct snapshot *snapshot = on_demand->snapshot;

	for (size_t i = 0; i < snapshot->run_count; i++) {
		const struct run *run = &snapshot->runs[i];

		for (uint64_t at = 0; at < run->bytes; at += PAGE_BYTES)
			if (may_change(on_demand, run->address + at) &&
			    !has_page(on_demand, run->address + at,
				      snapshot->buffer.at + run->offset + at))
				return false;
	}
	return true;
}
