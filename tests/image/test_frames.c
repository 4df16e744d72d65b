/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines and inlined frames against addr2line, at many random addresses. */
#include "workshop.h"

#include <hpcprof/base/search.h>

#include <string.h>

enum { PROBES = 300, FRAMES = 32, PATH_BYTES = 1024 };

struct answer {
	uint64_t address;
	size_t count;
	struct {
		char function[PATH_BYTES];
		char file[PATH_BYTES];
		unsigned line;
	} frames[FRAMES];
};

/* "a/./b/../c" and "a/c" are the same file. */
static void collapse(char *path)
{
	char result[PATH_BYTES] = "";
	char *rest = path;
	bool absolute = path[0] == '/';

	for (char *part; (part = strsep(&rest, "/"));) {
		char *slash = strrchr(result, '/');

		if (strcmp(part, "") == 0 || strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") == 0 && slash && strcmp(slash, "/..") != 0) {
			*slash = '\0';
			continue;
		}
		if (result[0] || absolute)
			strcat(result, "/");
		strcat(result, part);
	}
	strcpy(path, result);
}

static void read_line(FILE *stream, char *line, size_t size)
{
	ck_assert(fgets(line, (int)size, stream) != NULL);
	line[strcspn(line, "\n")] = '\0';
}

static void parse_place(char *text, char *file, unsigned *line)
{
	char *colon;

	text[strcspn(text, "(")] = '\0'; /* a discriminator */
	colon = strrchr(text, ':');
	ck_assert(colon != NULL);
	*colon = '\0';
	*line = (unsigned)strtoul(colon + 1, NULL, 10);
	snprintf(file, PATH_BYTES, "%s", text);
	collapse(file);
}

/* Binutils 2.40 does not find inlined functions in clang's DWARF 5, whose ranges are indexed. */
static const char *addr2line_for(const char *compiler, const char *format)
{
	static const char *const tools[] = { "llvm-addr2line",	  "llvm-addr2line-14",
					     "llvm-addr2line-15", "llvm-addr2line-16",
					     "llvm-addr2line-17", "llvm-addr2line-18",
					     "llvm-addr2line-19", "llvm-addr2line-20" };

	if (!strstr(compiler, "clang") || !strstr(format, "dwarf-5"))
		return "addr2line";
	for (size_t i = 0; i < HP_ARRAY_COUNT(tools); i++)
		if (workshop_has(tools[i]))
			return tools[i];
	return NULL;
}

static struct answer *ask_addr2line(const char *tool, const char *file,
				    const hp_link_address *addresses, size_t count)
{
	struct answer *answers = calloc(count, sizeof(*answers));
	FILE *list = fopen(workshop_path("addresses"), "w");
	char line[PATH_BYTES];
	char next[PATH_BYTES] = "";
	FILE *stream;
	bool more;

	ck_assert(answers && list);
	for (size_t i = 0; i < count; i++)
		fprintf(list, "0x%lx\n", addresses[i].value);
	fclose(list);
	stream = workshop_read("%s -a -i -f -C -e %s <addresses", tool, file);
	more = fgets(next, sizeof(next), stream) != NULL;
	for (size_t i = 0; i < count; i++) {
		ck_assert(more && strncmp(next, "0x", 2) == 0);
		answers[i].address = strtoul(next, NULL, 16);
		ck_assert_uint_eq(answers[i].address, addresses[i].value);
		while ((more = fgets(next, sizeof(next), stream) != NULL) &&
		       strncmp(next, "0x", 2) != 0) {
			size_t k = answers[i].count++;

			ck_assert_uint_lt(k, FRAMES);
			next[strcspn(next, "\n")] = '\0';
			snprintf(answers[i].frames[k].function,
				 sizeof(answers[i].frames[k].function), "%s", next);
			read_line(stream, line, sizeof(line));
			parse_place(line, answers[i].frames[k].file, &answers[i].frames[k].line);
		}
	}
	pclose(stream);
	return answers;
}

HP_ORDER_BY(compare_addresses, hp_link_address, value);

/* Random addresses in functions, sorted. */
static void pick_addresses(const char *file, hp_link_address *addresses)
{
	struct hp_random random = hp_random_seeded(4711);
	struct nm_symbol *symbols;
	size_t count = workshop_nm(file, &symbols);

	for (size_t i = 0; i < PROBES;) {
		const struct nm_symbol *symbol = &symbols[hp_random_between(&random, 0, count - 1)];

		if (symbol->size > 0)
			addresses[i++].value =
				symbol->address + hp_random_between(&random, 0, symbol->size - 1);
	}
	free(symbols);
	qsort(addresses, PROBES, sizeof(*addresses), compare_addresses);
}

static bool is_known(const struct answer *answer)
{
	return answer->count > 0 && answer->frames[0].line > 0;
}

/* Without linkage names DWARF has no parameters, which addr2line takes from the symbols. */
static bool same_function(const char *ours, const char *theirs)
{
	size_t length = ours ? strlen(ours) : 0;

	if (!ours)
		return strcmp(theirs, "??") == 0;
	return strcmp(ours, theirs) == 0 ||
	       (strncmp(ours, theirs, length) == 0 && theirs[length] == '(') ||
	       (strlen(theirs) <= length && strcmp(ours + length - strlen(theirs), theirs) == 0 &&
		length >= strlen(theirs) + 2 && ours[length - strlen(theirs) - 1] == ':');
}

/* For an inlined function without a linkage name addr2line may give the symbol at the address. */
static bool is_outer_name(const struct answer *answer, size_t k)
{
	return strcmp(answer->frames[k].function, answer->frames[answer->count - 1].function) == 0;
}

static void check_answer(struct hp_image *image, const char *what, const struct hp_frames *frames,
			 const struct answer *expected)
{
	hp_link_address address = { expected->address };
	const struct hp_procedure *procedure = hp_image_procedure_at(image, address);

	if (!is_known(expected)) {
		ck_assert_msg(frames->count == 0 || frames->frames[0].line == 0, "%s: 0x%lx", what,
			      address.value);
		return;
	}
	ck_assert_msg(frames->count == expected->count, "%s: 0x%lx has %zu frames, not %zu", what,
		      address.value, frames->count, expected->count);
	for (size_t k = 0; k < frames->count; k++) {
		const struct hp_frame *frame = &frames->frames[k];
		char file[PATH_BYTES];

		snprintf(file, sizeof(file), "%s", frame->file ? frame->file : "??");
		collapse(file);
		ck_assert_str_eq(file, expected->frames[k].file);
		ck_assert_uint_eq(frame->line, expected->frames[k].line);
		/* Compilers know functions by these. */
		if (frame->function && k + 1 < frames->count)
			ck_assert_msg(frame->linkage && frame->declared,
				      "%s: 0x%lx: %s was declared nowhere", what, address.value,
				      frame->function);
		if (k + 1 == frames->count)
			ck_assert_str_eq(frame->function, procedure->name);
		else
			ck_assert_msg(
				same_function(frame->function, expected->frames[k].function) ||
					is_outer_name(expected, k),
				"%s: 0x%lx: %s, not %s", what, address.value, frame->function,
				expected->frames[k].function);
	}
}

static size_t check_against(const char *tool, const char *file, const char *what)
{
	struct hp_image *image = workshop_open(file, NULL);
	hp_link_address addresses[PROBES];
	struct hp_frames frames[PROBES];
	struct answer *expected;
	size_t inlined = 0;

	pick_addresses(file, addresses);
	expected = ask_addr2line(tool, file, addresses, PROBES);
	ck_assert(hp_image_has_lines(image));
	hp_assert_ok(hp_image_frames(image, addresses, PROBES, true, frames));
	for (size_t i = 0; i < PROBES; i++) {
		check_answer(image, what, &frames[i], &expected[i]);
		inlined += frames[i].count > 1;
	}
	free(expected);
	return inlined;
}

static const char *const formats[] = {
	"-gdwarf-4 -O1 -fno-pie -no-pie",
	"-gdwarf-5 -O3 -ffunction-sections -fPIE -pie",
	"-gdwarf-5 -O0",
	"-gdwarf-4 -O2 -flto",
};

/* Builds with every compiler and format there is; at least one address must be inlined code. */
static void check_formats(const char *const *compilers, const char *commands)
{
	for (size_t c = 0; compilers[c]; c++) {
		if (!workshop_has(compilers[c])) {
			workshop_skip(compilers[c], "not installed");
			continue;
		}
		for (size_t f = 0; f < HP_ARRAY_COUNT(formats); f++) {
			const char *tool = addr2line_for(compilers[c], formats[f]);
			size_t inlined;

			if (!tool) {
				workshop_skip(compilers[c], "no llvm-addr2line to compare with");
				continue;
			}
			setenv("cc", compilers[c], 1);
			setenv("flags", formats[f], 1);
			workshop_run("%s", commands);
			inlined = check_against(tool, "program", formats[f]);
			if (!strstr(formats[f], "-O0"))
				ck_assert_uint_gt(inlined, 0);
		}
	}
}

TEST(frames_of_c_agree_with_addr2line)
{
	static const char *const compilers[] = { "gcc", "clang", NULL };

	check_formats(compilers, "$cc $flags -DENTRY=first -c -o first.o \"$src\"/cold.c && "
				 "$cc $flags -DENTRY=second -c -o second.o \"$src\"/cold.c && "
				 "$cc $flags -o program \"$src\"/main.c first.o second.o");
}

TEST(frames_of_cplusplus_agree_with_addr2line)
{
	static const char *const compilers[] = { "g++", "clang++", NULL };

	check_formats(compilers, "$cc $flags -o program \"$src\"/shapes.cc");
}

TEST(a_chain_of_three_names_each_call_site)
{
	struct nm_symbol *symbols;
	struct hp_image *image;
	hp_link_address address = { 0 };
	struct hp_frames frames = { 0 };
	size_t count;
	uint64_t size = 0;

	workshop_run("cc -g -O2 -DENTRY=first -o program \"$src\"/main.c \"$src\"/cold.c "
		     "-Wl,--defsym=second=first");
	count = workshop_nm("program", &symbols);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(symbols[i].name, "outermost") == 0) {
			address.value = symbols[i].address;
			size = symbols[i].size;
		}
	}
	free(symbols);
	ck_assert_uint_gt(size, 0);
	image = workshop_open("program", NULL);
	for (uint64_t i = 0; i < size && frames.count != 3; i++, address.value++)
		hp_assert_ok(hp_image_frames(image, &address, 1, true, &frames));
	/* The lines are those of main.c. */
	ck_assert_uint_eq(frames.count, 3);
	ck_assert_str_eq(frames.frames[0].function, "innermost");
	ck_assert_str_eq(frames.frames[1].function, "middle");
	ck_assert_str_eq(frames.frames[2].function, "outermost");
	ck_assert_uint_eq(frames.frames[1].line, 20);
	ck_assert_uint_eq(frames.frames[2].line, 25);
	ck_assert(frames.frames[2].file[0] == '/');
}

TEST(frames_come_from_a_separate_debug_file_as_well)
{
	workshop_run("g++ -g -O2 -o full \"$src\"/shapes.cc && "
		     "objcopy --only-keep-debug full program.debug && cp full program && "
		     "strip --strip-debug program && "
		     "objcopy --add-gnu-debuglink=program.debug program");
	ck_assert_uint_gt(check_against("addr2line", "program", "debuglink"), 0);
}

TEST(compressed_debug_sections_are_read)
{
	if (!workshop_try("g++ -g -gz -O2 -o program \"$src\"/shapes.cc")) {
		workshop_skip("-gz", "this compiler cannot");
		return;
	}
	ck_assert_uint_gt(check_against("addr2line", "program", "-gz"), 0);
}

TEST(split_dwarf_gives_the_same_frames_as_whole_dwarf)
{
	static const char *const compilers[] = { "g++ -gdwarf-4", "g++ -gdwarf-5",
						 "clang++ -gdwarf-4", "clang++ -gdwarf-5" };

	for (size_t c = 0; c < HP_ARRAY_COUNT(compilers); c++) {
		hp_link_address addresses[PROBES];
		struct hp_frames whole[PROBES];
		struct hp_frames split[PROBES];
		struct hp_image *whole_image;
		struct hp_image *split_image;

		if (!workshop_try("%s -O2 -o whole \"$src\"/shapes.cc && "
				  "%s -O2 -gsplit-dwarf -c -o split.o \"$src\"/shapes.cc && "
				  "%s -O2 -o split split.o",
				  compilers[c], compilers[c], compilers[c])) {
			workshop_skip(compilers[c], "cannot split DWARF");
			continue;
		}
		pick_addresses("whole", addresses);
		whole_image = workshop_open("whole", NULL);
		split_image = workshop_open("split", NULL);
		hp_assert_ok(hp_image_frames(whole_image, addresses, PROBES, true, whole));
		hp_assert_ok(hp_image_frames(split_image, addresses, PROBES, true, split));
		for (size_t i = 0; i < PROBES; i++) {
			ck_assert_uint_eq(whole[i].count, split[i].count);
			for (size_t k = 0; k < whole[i].count; k++) {
				ck_assert_str_eq(whole[i].frames[k].function,
						 split[i].frames[k].function);
				ck_assert_str_eq(whole[i].frames[k].file, split[i].frames[k].file);
				ck_assert_uint_eq(whole[i].frames[k].line, split[i].frames[k].line);
			}
		}
	}
}

TEST(without_inlines_only_the_line_of_the_address_is_given)
{
	hp_link_address addresses[PROBES];
	struct hp_frames all[PROBES];
	struct hp_frames one[PROBES];
	struct hp_image *image;

	workshop_run("g++ -g -O2 -o program \"$src\"/shapes.cc");
	pick_addresses("program", addresses);
	image = workshop_open("program", NULL);
	hp_assert_ok(hp_image_frames(image, addresses, PROBES, false, one));
	hp_assert_ok(hp_image_frames(image, addresses, PROBES, true, all));
	for (size_t i = 0; i < PROBES; i++) {
		if (all[i].count == 0)
			continue;
		ck_assert_uint_eq(one[i].count, 1);
		ck_assert_str_eq(one[i].frames[0].file, all[i].frames[0].file);
		ck_assert_uint_eq(one[i].frames[0].line, all[i].frames[0].line);
	}
}

TEST(a_program_without_debugging_information_has_no_frames)
{
	hp_link_address addresses[PROBES];
	struct hp_frames frames[PROBES];
	struct hp_image *image;

	workshop_run("g++ -O2 -g0 -o program \"$src\"/shapes.cc");
	pick_addresses("program", addresses);
	image = workshop_open("program", NULL);
	hp_assert_ok(hp_image_frames(image, addresses, PROBES, true, frames));
	for (size_t i = 0; i < PROBES; i++)
		ck_assert_uint_eq(frames[i].count, 0);
}

HP_TEST_MAIN("image/frames")
