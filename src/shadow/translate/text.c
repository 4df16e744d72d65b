/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include "../tuning.h"
#include "table.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/vector.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	PAGES_AT_ONCE = 64, /* pages compared by one system call */
};

struct page {
	uint64_t address;
	uint8_t *bytes; /* Owned */
	/* The file and offset of the page. */
	uint64_t device, inode, offset;
	uint8_t kind;	/* enum area_kind */
	uint64_t found; /* its address in another process */
	bool stays;	/* it is usable there */
};

struct shadow_text {
	pid_t pid;
	int memory_fd;		   /* borrowed */
	const struct areas *areas; /* areas of the program; borrowed */
	struct areas *own;	   /* the same areas if they can change, otherwise NULL */
	bool areas_are_old;
	shadow_text_dropped *dropped;
	void *owner;
	shadow_text_protect *protect; /* may be NULL */
	void *protector;
	struct {
		struct page *at;
		size_t count, capacity;
	} pages;
	struct shadow_table by_address;
};

struct hp_error *shadow_text_create(shadow_text_dropped *dropped, void *context,
				    struct shadow_text **text)
{
	*text = calloc(1, sizeof(**text));
	if (!*text)
		return hp_error_create_no_memory();
	(*text)->dropped = dropped;
	(*text)->owner = context;
	return NULL;
}

void shadow_text_forget(struct shadow_text *text)
{
	for (size_t i = 0; i < text->pages.count; i++)
		free(text->pages.at[i].bytes);
	text->pages.count = 0;
	shadow_table_empty(&text->by_address);
}

void shadow_text_destroy(struct shadow_text *text)
{
	shadow_text_forget(text);
	free(text->pages.at);
	shadow_table_free(&text->by_address);
	free(text);
}

/* --- watching --------------------------------------------------------------------------------- */

static enum shadow_text_state may_be_read(const struct shadow_text *text, uint64_t address)
{
	const struct area *area = areas_find(text->areas, address);

	if (!area || !(area->protection & PROT_EXEC))
		return SHADOW_TEXT_UNREADABLE;
	/* A shared mapping may have another view that can be written to; only a copy can be
	 * protected. */
	if (area->is_shared || (area_is_writable_code(area) && text->own))
		return SHADOW_TEXT_WRITABLE;
	return SHADOW_TEXT_READ;
}

/* Number of pages, from the first on, with consecutive addresses. */
static size_t count_neighbours(const struct page *pages, size_t count)
{
	size_t neighbours = 1;

	while (neighbours < count && neighbours < PAGES_AT_ONCE &&
	       pages[neighbours].address == pages[0].address + neighbours * PAGE)
		neighbours++;
	return neighbours;
}

static bool read_pages(const struct shadow_text *text, uint64_t address, uint8_t *bytes,
		       size_t count)
{
	size_t size = count * PAGE;

	return pread(text->memory_fd, bytes, size, (off_t)address) == (ssize_t)size;
}

/* Compares consecutive pages with their earlier contents. */
static void compare(const struct shadow_text *text, struct page *pages, size_t count,
		    uint8_t *buffer)
{
	bool is_readable = read_pages(text, pages[0].address, buffer, count);

	for (size_t i = 0; i < count; i++)
		pages[i].stays = is_readable &&
				 may_be_read(text, pages[i].address) == SHADOW_TEXT_READ &&
				 memcmp(buffer + i * PAGE, pages[i].bytes, PAGE) == 0;
}

/* The last page takes its place. */
static void drop(struct shadow_text *text, size_t number)
{
	struct page page = text->pages.at[number];
	struct page last = text->pages.at[--text->pages.count];

	shadow_table_remove(&text->by_address, page.address);
	if (number < text->pages.count) {
		text->pages.at[number] = last;
		(void)shadow_table_put(&text->by_address, last.address, (uint32_t)number);
	}
	text->dropped(text->owner, page.address);
	free(page.bytes);
}

static size_t count_changed(const struct shadow_text *text)
{
	size_t changed = 0;

	for (size_t i = 0; i < text->pages.count; i++)
		changed += !text->pages.at[i].stays;
	return changed;
}

struct hp_error *shadow_text_begin(struct shadow_text *text, pid_t pid, int memory_fd,
				   const struct areas *areas, struct areas *own, bool *changed)
{
	_cleanup_free_ uint8_t *buffer = malloc(PAGES_AT_ONCE * PAGE);

	if (!buffer)
		return hp_error_create_no_memory();
	text->pid = pid;
	text->memory_fd = memory_fd;
	text->areas = areas;
	text->own = own;
	text->areas_are_old = false;
	text->protect = NULL;
	for (size_t i = 0, count = 0; i < text->pages.count; i += count) {
		count = count_neighbours(&text->pages.at[i], text->pages.count - i);
		compare(text, &text->pages.at[i], count, buffer);
	}
	*changed = 2 * count_changed(text) > text->pages.count;
	if (*changed)
		shadow_text_forget(text);
	for (size_t i = text->pages.count; i-- > 0;) {
		if (!text->pages.at[i].stays)
			drop(text, i);
	}
	return NULL;
}

/* --- another layout --------------------------------------------------------------------------- */

static bool holds(const struct area *area, const struct page *page)
{
	return (area->protection & PROT_EXEC) && area->kind == page->kind &&
	       area->device == page->device && area->inode == page->inode &&
	       (area->kind == AREA_FILE || area->kind == AREA_VDSO) &&
	       page->offset - area->file_offset < area->end - area->start;
}

/* Neighbouring pages are mostly in the same area. */
static const struct area *find_area(const struct areas *areas, const struct page *page,
				    const struct area *last)
{
	if (last && holds(last, page))
		return last;
	for (size_t i = 0; i < areas->count; i++)
		if (holds(&areas->at[i], page))
			return &areas->at[i];
	return NULL;
}

void shadow_text_find(struct shadow_text *text, const struct areas *areas,
		      bool (*found)(void *context, uint64_t from, uint64_t by, bool is_there),
		      void *context)
{
	const struct area *area = NULL;

	for (size_t i = 0; i < text->pages.count; i++) {
		struct page *page = &text->pages.at[i];

		area = find_area(areas, page, area);
		page->found = area ? area->start + (page->offset - area->file_offset) : 0;
		page->stays =
			found(context, page->address, page->found - page->address, area != NULL);
	}
}

bool shadow_text_stays(const struct shadow_text *text, uint64_t address)
{
	uint32_t number = shadow_table_find(&text->by_address, address / PAGE * PAGE);

	return number != SHADOW_TABLE_NONE && text->pages.at[number].stays;
}

bool shadow_text_move(struct shadow_text *text)
{
	size_t kept = 0;
	bool has_memory = true;

	shadow_table_empty(&text->by_address);
	for (size_t i = 0; i < text->pages.count; i++) {
		struct page page = text->pages.at[i];

		if (!page.stays) {
			free(page.bytes);
			continue;
		}
		page.address = page.found;
		has_memory = has_memory &&
			     shadow_table_put(&text->by_address, page.address, (uint32_t)kept);
		text->pages.at[kept++] = page;
	}
	text->pages.count = kept;
	return has_memory;
}

/* --- changes in a window ---------------------------------------------------------------------- */

static void drop_between(struct shadow_text *text, uint64_t start, uint64_t end)
{
	for (size_t i = text->pages.count; i-- > 0;) {
		const struct page *page = &text->pages.at[i];

		if (page->address < end && page->address + PAGE > start)
			drop(text, i);
	}
}

void shadow_text_changed(struct shadow_text *text, uint64_t address, uint64_t bytes)
{
	text->areas_are_old = text->own != NULL;
	drop_between(text, address, address + bytes < address ? UINT64_MAX : address + bytes);
}

/* Protects pages that the program may write, so that it does not go unnoticed. */
static bool watch(const struct shadow_text *text, uint64_t address, size_t count)
{
	const struct area *area = areas_find(text->areas, address);

	return !area || !area_is_writable_code(area) ||
	       (text->protect && text->protect(text->protector, address, count * PAGE, PROT_READ));
}

/* Number of pages, from the first on, that are consecutive and in one area. */
static size_t count_in_area(const struct shadow_text *text, size_t first)
{
	const struct page *pages = &text->pages.at[first];
	const struct area *area = areas_find(text->areas, pages->address);
	size_t count = count_neighbours(pages, text->pages.count - first);
	size_t most = area ? (area->end - pages->address) / PAGE : 1;

	return count < most ? count : most;
}

void shadow_text_protect_by(struct shadow_text *text, shadow_text_protect *protect, void *context)
{
	text->protect = protect;
	text->protector = context;
	for (size_t i = 0, count = 0; i < text->pages.count; i += count) {
		bool is_watched;

		count = count_in_area(text, i);
		is_watched = watch(text, text->pages.at[i].address, count);
		for (size_t j = i; j < i + count; j++)
			text->pages.at[j].stays = is_watched;
	}
	for (size_t i = text->pages.count; i-- > 0;) {
		if (!text->pages.at[i].stays)
			drop(text, i);
	}
}

bool shadow_text_open(struct shadow_text *text, uint64_t address)
{
	uint64_t page = address / PAGE * PAGE;
	const struct area *area = areas_find(text->areas, page);

	if (!text->protect || may_be_read(text, page) != SHADOW_TEXT_READ ||
	    !area_is_writable_code(area) ||
	    !text->protect(text->protector, page, PAGE, PROT_READ | PROT_WRITE))
		return false;
	drop_between(text, page, page + PAGE);
	return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

static enum shadow_text_state read_page(struct shadow_text *text, uint64_t address,
					const uint8_t **bytes)
{
	_cleanup_free_ uint8_t *copy = NULL;
	const struct area *area;
	enum shadow_text_state state;

	if (text->areas_are_old) {
		struct hp_error *error = areas_read(text->own, text->pid);

		text->areas_are_old = false;
		if (error) {
			hp_error_destroy(error);
			return SHADOW_TEXT_UNREADABLE;
		}
	}
	state = may_be_read(text, address);
	if (state != SHADOW_TEXT_READ)
		return state;
	if (!watch(text, address, 1))
		return SHADOW_TEXT_WRITABLE;
	copy = malloc(PAGE);
	if (!copy || text->pages.count >= TEXT_MOST_PAGES)
		return SHADOW_TEXT_FULL;
	if (!read_pages(text, address, copy, 1))
		return SHADOW_TEXT_UNREADABLE;
	if (!hp_vector_reserve(&text->pages, text->pages.count + 1) ||
	    !shadow_table_put(&text->by_address, address, (uint32_t)text->pages.count))
		return SHADOW_TEXT_FULL;
	*bytes = copy;
	area = areas_find(text->areas, address);
	text->pages.at[text->pages.count++] = (struct page){
		.address = address,
		.bytes = hp_steal(copy),
		.device = area->device,
		.inode = area->inode,
		.offset = area->file_offset + (address - area->start),
		.kind = area->kind,
	};
	return SHADOW_TEXT_READ;
}

static enum shadow_text_state find_page(struct shadow_text *text, uint64_t address,
					const uint8_t **bytes)
{
	uint32_t number = shadow_table_find(&text->by_address, address);

	if (number == SHADOW_TABLE_NONE)
		return read_page(text, address, bytes);
	*bytes = text->pages.at[number].bytes;
	return SHADOW_TEXT_READ;
}

enum shadow_text_state shadow_text_read(struct shadow_text *text, uint64_t address, uint8_t *bytes,
					size_t size, size_t *got)
{
	*got = 0;
	while (*got < size) {
		uint64_t at = address + *got;
		size_t offset = at % PAGE;
		size_t part = PAGE - offset < size - *got ? PAGE - offset : size - *got;
		const uint8_t *page;
		enum shadow_text_state state = find_page(text, at - offset, &page);

		if (state == SHADOW_TEXT_FULL)
			return state;
		if (state != SHADOW_TEXT_READ)
			return *got ? SHADOW_TEXT_READ : state;
		memcpy(bytes + *got, page + offset, part);
		*got += part;
	}
	return SHADOW_TEXT_READ;
}
