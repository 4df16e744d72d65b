/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for libFuzzer in `make check`: runs a target over its corpus, each input as it is, cut
 * at many lengths, and with bytes changed at random (always the same ones). Speaks TAP; a crash
 * ends it after naming the input.
 */
#include "fuzz.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { INPUT_LIMIT_BYTES = 1 << 20, CUTS = 128, MUTANTS = 256, CHANGES = 8 };

/* A copy of exact size, so that a sanitizer sees a read past the end. */
static bool run_once(const uint8_t *bytes, size_t size)
{
	_cleanup_free_ uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return false;
	if (size)
		memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
	return true;
}

static bool run_cut(const uint8_t *bytes, size_t size)
{
	size_t step = size / CUTS + 1;
	bool ran = true;

	for (size_t length = 0; length < size; length += step)
		ran = ran && run_once(bytes, length);
	return ran;
}

static bool run_mutants(const uint8_t *bytes, size_t size)
{
	struct hp_random random = hp_random_seeded(size);
	bool ran = true;

	for (int i = 0; size && i < MUTANTS; i++) {
		_cleanup_free_ uint8_t *mutant = malloc(size);
		uint64_t changes = hp_random_between(&random, 1, CHANGES);

		if (!mutant)
			return false;
		memcpy(mutant, bytes, size);
		for (; changes > 0; changes--) {
			size_t at = (size_t)hp_random_between(&random, 0, size - 1);

			/* Limits hide at the ends of a range. */
			switch (hp_random_between(&random, 0, 3)) {
			case 0:
				mutant[at] = 0;
				break;
			case 1:
				mutant[at] = 0xff;
				break;
			case 2:
				mutant[at] ^= (uint8_t)(1u << hp_random_between(&random, 0, 7));
				break;
			default:
				mutant[at] = (uint8_t)hp_random_next(&random);
			}
		}
		ran = ran && run_once(mutant, size);
	}
	return ran;
}

static bool replay(int directory, const char *name)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct hp_error *error;
	size_t size = 0;

	error = hp_file_read_at(directory, name, INPUT_LIMIT_BYTES, &bytes, &size);
	if (error) {
		printf("# %s\n", error->message);
		hp_error_destroy(error);
		return false;
	}
	return run_once(bytes, size) && run_cut(bytes, size) && run_mutants(bytes, size);
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int replay_all(const char *corpus)
{
	_cleanup_close_ int directory = open(corpus, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **entries = NULL;
	int failures = 0;
	int count = directory < 0 ? -1 : scandir(corpus, &entries, not_hidden, alphasort);

	if (count <= 0) {
		printf("1..1\nnot ok 1 - there is a corpus in %s\n", corpus);
		return 1;
	}
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		bool ran;

		/* Flushed first: after a crash this line says which input it was. */
		printf("# %s\n", entries[i]->d_name);
		fflush(stdout);
		ran = replay(directory, entries[i]->d_name);
		printf("%s %d - %s and its mutants are handled\n", ran ? "ok" : "not ok", i + 1,
		       entries[i]->d_name);
		failures += !ran;
		free(entries[i]);
	}
	free(entries);
	return failures;
}

int main(int argc, char **argv)
{
	static const char prefix[] = "fuzz_";
	const char *top = getenv("top_srcdir");
	const char *name = strrchr(argv[0], '/');
	_cleanup_free_ char *corpus = NULL;

	if (argc == 2)
		return replay_all(argv[1]) != 0;
	name = name ? name + 1 : argv[0];
	if (strncmp(name, prefix, strlen(prefix)) == 0)
		name += strlen(prefix);
	if (asprintf(&corpus, "%s/tests/fuzz/corpus/%s", top ? top : ".", name) < 0)
		return EXIT_FAILURE;
	return replay_all(corpus) != 0;
}
