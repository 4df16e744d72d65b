/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Excerpts of this very program and of its C library answer as the files do. */
#include "../support.h"
#include "dump.h"

#include <hpcprof/image/identity.h>

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One procedure in so many of the C library: graphs of all of them take a minute. */
enum { STEP = 16 };

struct both {
	struct hp_image_id id;
	struct hp_image *file;
	struct hp_excerpt excerpt;
	struct hp_image *kept;
	const struct hp_procedure **chosen; /* in the file */
	size_t chosen_count;
};

static struct both open_both(const char *path, size_t step,
			     const struct hp_excerpt_options *options)
{
	struct both both = { .id.kind = HP_IMAGE_FILE, .id.path = strdup(path) };
	const struct hp_procedure *const *procedures;
	struct hp_excerpted *addresses;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t count;

	ck_assert_int_ge(fd, 0);
	hp_assert_ok(hp_identity_of_fd(fd, &both.id.identity));
	close(fd);
	hp_assert_ok(hp_image_open(&both.id, NULL, &both.file));
	hp_image_procedures(both.file, &procedures, &count);
	both.chosen = calloc(count + 1, sizeof(*both.chosen));
	addresses = calloc(count + 1, sizeof(*addresses));
	for (size_t i = 0; i < count; i += step) {
		addresses[both.chosen_count] = (struct hp_excerpted){
			{ procedures[i]->address.value + procedures[i]->size / 2 }, 1, false
		};
		both.chosen[both.chosen_count++] = procedures[i];
	}
	hp_assert_ok(
		hp_cfg_excerpt(both.file, addresses, both.chosen_count, options, &both.excerpt));
	free(addresses);
	hp_assert_ok(hp_excerpt_check(&both.excerpt));
	return both;
}

static void open_kept(struct both *both)
{
	const struct hp_image_options options = { .kept_only = true, .excerpt = &both->excerpt };

	hp_assert_ok(hp_image_open(&both->id, &options, &both->kept));
}

static void close_both(struct both *both)
{
	hp_image_close(both->file);
	hp_image_close(both->kept);
	hp_excerpt_clear(&both->excerpt);
	hp_image_id_clear(&both->id);
	free(both->chosen);
}

/* The graph as text, or why there is none. */
static char *graph_of(struct hp_cfg_image *flow, const struct hp_procedure *procedure)
{
	struct hp_arena *arena = hp_arena_create();
	struct hp_cfg *cfg;
	struct hp_error *error = hp_cfg_create(flow, procedure, arena, &cfg);
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (error)
		fprintf(stream, "%s", error->message);
	else
		cfg_dump(cfg, stream);
	fclose(stream);
	hp_error_destroy(error);
	hp_arena_destroy(arena);
	return text;
}

static void assert_same_frames(struct both *both, const struct hp_procedure *procedure)
{
	hp_link_address addresses[] = { procedure->address };
	struct hp_frames file;
	struct hp_frames kept;

	for (unsigned inlines = 0; inlines < 2; inlines++) {
		hp_assert_ok(hp_image_frames(both->file, addresses, 1, inlines, &file));
		hp_assert_ok(hp_image_frames(both->kept, addresses, 1, inlines, &kept));
		if (hp_image_has_build_id_file(both->file)) {
			ck_assert_uint_eq(kept.count, 0);
			continue;
		}
		ck_assert_uint_eq(file.count, kept.count);
		for (size_t i = 0; i < file.count; i++) {
			const struct hp_frame *a = &file.frames[i];
			const struct hp_frame *b = &kept.frames[i];

			ck_assert_uint_eq(a->line, b->line);
			ck_assert_str_eq(a->file ? a->file : "", b->file ? b->file : "");
			ck_assert_str_eq(a->function ? a->function : "",
					 b->function ? b->function : "");
		}
	}
}

static size_t assert_same(struct both *both)
{
	struct hp_cfg_image *file_flow;
	struct hp_cfg_image *kept_flow;
	size_t graphs = 0;

	open_kept(both);
	hp_assert_ok(hp_cfg_image_create(both->file, &file_flow));
	hp_assert_ok(hp_cfg_image_create(both->kept, &kept_flow));
	for (size_t i = 0; i < both->chosen_count; i++) {
		const struct hp_procedure *one = both->chosen[i];
		const struct hp_procedure *other = hp_image_procedure_at(both->kept, one->address);
		char *file;
		char *kept;

		ck_assert_str_eq(one->name, other->name);
		ck_assert_str_eq(one->linkage, other->linkage);
		ck_assert_uint_eq(one->size, other->size);
		ck_assert_int_eq(one->source, other->source);
		ck_assert_uint_eq(one->owner->address.value, other->owner->address.value);
		ck_assert_int_eq(hp_image_has_namesake(both->file, one),
				 hp_image_has_namesake(both->kept, other));
		file = graph_of(file_flow, one->owner);
		kept = graph_of(kept_flow, other->owner);
		ck_assert_msg(strcmp(file, kept) == 0, "%s:\n%s\n%s", one->name, file, kept);
		graphs += strstr(file, "block") != NULL;
		free(file);
		free(kept);
		assert_same_frames(both, one);
	}
	hp_cfg_image_destroy(file_flow);
	hp_cfg_image_destroy(kept_flow);
	return graphs;
}

static const struct hp_excerpt_options everything = {
	.most_code_bytes = HP_EXCERPT_MOST_CODE_BYTES,
	.most_line_ns = UINT64_MAX,
};

TEST(this_program_is_the_same_from_its_excerpt)
{
	struct both both = open_both("/proc/self/exe", 1, &everything);

	ck_assert_uint_gt(assert_same(&both), 50);
	close_both(&both);
}

static int find_library(struct dl_phdr_info *info, size_t size, void *context)
{
	char **path = context;

	(void)size;
	if (!*path && strstr(info->dlpi_name, "/libc.so"))
		*path = strdup(info->dlpi_name);
	return 0;
}

/* Hand-written code, jump tables, calls that do not come back, parts without a name. */
TEST(so_are_procedures_of_the_c_library)
{
	char *path = NULL;
	struct both both;

	dl_iterate_phdr(find_library, &path);
	if (!path)
		return; /* linked into this program, then */
	both = open_both(path, STEP, &everything);
	ck_assert_uint_gt(assert_same(&both), 100);
	close_both(&both);
	free(path);
}

TEST(without_code_names_and_lines_are_the_same)
{
	struct hp_excerpt_options options = everything;
	struct both both;
	const uint8_t *bytes;

	options.no_code = true;
	both = open_both("/proc/self/exe", 1, &options);
	open_kept(&both);
	ck_assert_uint_eq(both.excerpt.ranges.count, 0);
	for (size_t i = 0; i < both.chosen_count; i++) {
		hp_link_address middle = both.chosen[i]->address;
		struct hp_frames file;
		struct hp_frames kept;

		middle.value += both.chosen[i]->size / 2;
		ck_assert_str_eq(hp_image_procedure_at(both.kept, middle)->name,
				 both.chosen[i]->name);
		hp_assert_ok(hp_image_frames(both.file, &middle, 1, true, &file));
		hp_assert_ok(hp_image_frames(both.kept, &middle, 1, true, &kept));
		ck_assert_uint_eq(file.count, kept.count);
		if (file.count)
			ck_assert_uint_eq(file.frames[0].line, kept.frames[0].line);
		ck_assert_uint_eq(hp_image_text(both.kept, middle, 1, &bytes), 0);
	}
	close_both(&both);
}

/* Of two procedures the second has code in the excerpt, and the first a name and lines alone. */
static void assert_second_has_code(struct both *both, const struct hp_excerpt_options *options,
				   const struct hp_procedure *const *procedures,
				   const struct hp_excerpted *addresses)
{
	struct hp_excerpt excerpt;
	struct hp_image_options kept = { .kept_only = true, .excerpt = &excerpt };
	struct hp_image *const whole = both->kept;
	const uint8_t *bytes;

	hp_assert_ok(hp_cfg_excerpt(both->file, addresses, 2, options, &excerpt));
	hp_assert_ok(hp_image_open(&both->id, &kept, &both->kept));
	ck_assert_uint_gt(hp_image_text(both->kept, procedures[1]->address, 1, &bytes), 0);
	ck_assert_uint_eq(hp_image_text(both->kept, procedures[0]->address, 1, &bytes), 0);
	ck_assert_str_eq(hp_image_procedure_at(both->kept, procedures[0]->address)->name,
			 procedures[0]->name);
	assert_same_frames(both, procedures[0]);
	hp_image_close(both->kept);
	both->kept = whole;
	hp_excerpt_clear(&excerpt);
}

static void find_two_large(const struct both *both, const struct hp_procedure *large[2])
{
	large[0] = large[1] = NULL;
	for (size_t i = 0; i < both->chosen_count && !large[1]; i++)
		if (both->chosen[i]->size > 100 && both->chosen[i]->owner == both->chosen[i] &&
		    both->chosen[i]->source == HP_PROCEDURE_SYMBOL)
			large[large[0] != NULL] = both->chosen[i];
	ck_assert_ptr_nonnull(large[1]);
}

TEST(what_weighs_least_is_left_out_first)
{
	struct hp_excerpt_options options = everything;
	struct both both = open_both("/proc/self/exe", 1, &options);
	const struct hp_procedure *large[2];
	struct hp_excerpted addresses[2];

	open_kept(&both);
	find_two_large(&both, large);
	for (size_t i = 0; i < 2; i++)
		addresses[i] = (struct hp_excerpted){ large[i]->address, (double)(i + 1), false };
	options.most_code_bytes = large[1]->size + 16;
	assert_second_has_code(&both, &options, large, addresses);
	close_both(&both);
}

TEST(of_what_is_on_call_paths_only_no_code_is_kept)
{
	const struct hp_excerpt_options options = everything;
	struct both both = open_both("/proc/self/exe", 1, &options);
	const struct hp_procedure *large[2];
	struct hp_excerpted addresses[2];

	open_kept(&both);
	find_two_large(&both, large);
	for (size_t i = 0; i < 2; i++)
		addresses[i] = (struct hp_excerpted){ large[i]->address, 0, !i };
	assert_second_has_code(&both, &options, large, addresses);
	close_both(&both);
}

__attribute__((noinline, noreturn)) static void leave(int status)
{
	for (;;)
		_exit(status);
}

__attribute__((noinline)) int leaves_or_not(int status);
int leaves_or_not(int status)
{
	if (status)
		leave(status);
	return status + 1;
}

static bool never_returns(const struct hp_excerpt *excerpt, uint64_t address)
{
	for (size_t i = 0; i < excerpt->parts.count; i++)
		if (excerpt->parts.at[i].address == address)
			return excerpt->parts.at[i].never_returns;
	ck_abort_msg("it is not in the excerpt");
	return false;
}

static const struct hp_procedure *find_one(const struct both *both, const char *name)
{
	for (size_t i = 0; i < both->chosen_count; i++)
		if (strcmp(both->chosen[i]->name, name) == 0)
			return both->chosen[i];
	ck_abort_msg("no %s", name);
	return NULL;
}

/* To find out costs as much as making graphs of it and of all it calls. */
TEST(whether_it_returns_is_asked_where_kept_code_leads)
{
	struct both both = open_both("/proc/self/exe", 1, &everything);
	hp_link_address left = find_one(&both, "leave")->address;
	hp_link_address leaving = find_one(&both, "leaves_or_not")->address;
	const struct hp_excerpted is_called = { leaving, 1, false };
	const struct hp_excerpted is_on_path = { left, 0, true };
	struct hp_excerpt called;
	struct hp_excerpt on_path;

	ck_assert_int_eq(leaves_or_not(0), 1);
	hp_assert_ok(hp_cfg_excerpt(both.file, &is_called, 1, &everything, &called));
	hp_assert_ok(hp_cfg_excerpt(both.file, &is_on_path, 1, &everything, &on_path));
	ck_assert(never_returns(&called, left.value));
	ck_assert(!never_returns(&on_path, left.value));
	/* Added up, the one that knows counts. */
	hp_assert_ok(hp_excerpt_add(&on_path, &called));
	ck_assert(never_returns(&on_path, left.value));
	hp_excerpt_clear(&called);
	hp_excerpt_clear(&on_path);
	close_both(&both);
}

HP_TEST_MAIN("cfg/excerpt")
