/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/model/procedure_name.h>

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* The opening parenthesis that matches the one at `at`, or NULL. */
static const char *opening(const char *name, const char *at)
{
	size_t depth = 0;

	for (;; at--) {
		if (*at == ')')
			depth++;
		else if (*at == '(' && --depth == 0)
			return at;
		if (at == name)
			return NULL;
	}
}

/* The position after the last blank outside of brackets, which follows the result type. */
static const char *after_result(const char *name, size_t length)
{
	static const char operator_word[] = "operator";
	const size_t word = sizeof(operator_word) - 1;
	long depth = 0;

	for (const char *at = name + length; at-- > name;) {
		if (*at == ')' || *at == '>')
			depth++;
		else if (*at == '(' || *at == '<')
			depth--;
		else if (*at == ' ' && depth == 0 && at[1] != '<') /* operator< <int> */
			return (size_t)(at - name) >= word &&
					       memcmp(at - word, operator_word, word) == 0
				       ? name
				       : at + 1;
	}
	return name;
}

/* The length without " [clone .isra.0]", into which demangling turns a compiler's suffix. */
static size_t without_clones(const char *name)
{
	static const char mark[] = " [clone ";
	size_t end = strlen(name);

	while (end && name[end - 1] == ']') {
		const char *open = memrchr(name, '[', end);

		if (!open || open == name || strncmp(open - 1, mark, sizeof(mark) - 1) != 0)
			break;
		end = (size_t)(open - 1 - name);
	}
	return end;
}

void hp_name_bare(const char *name, const char **start, size_t *length)
{
	static const char *const qualifiers[] = { " const", " volatile", " &&", " &" };
	size_t end = without_clones(name);
	const char *open;

	for (size_t i = 0; i < HP_ARRAY_COUNT(qualifiers); i++) {
		size_t size = strlen(qualifiers[i]);

		if (end > size && memcmp(name + end - size, qualifiers[i], size) == 0)
			end -= size;
	}
	*start = name;
	*length = strlen(name);
	if (!end || name[end - 1] != ')')
		return;
	open = opening(name, name + end - 1);
	/* "operator()" itself, or nothing at all, before the brackets. */
	if (!open || open == name ||
	    ((size_t)(open - name) >= 8 && memcmp(open - 8, "operator", 8) == 0))
		return;
	*length = (size_t)(open - name);
	*start = after_result(name, *length);
	*length -= (size_t)(*start - name);
}

/* --- short ------------------------------------------------------------------------------------- */

static const char ellipsis[] = "\xe2\x80\xa6";

static void add(struct hp_writer *text, const char *from, size_t length)
{
	hp_write_bytes(text, from, length);
}

/* The number of bytes of the operator at `at`, after the word "operator". */
static size_t operator_length(const char *at, const char *end)
{
	static const char *const symbols[] = { "()", "<=>", "<<=", ">>=", "->*", "<<",
					       ">>", "<=",  ">=",  "->",  "<",	 ">" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(symbols); i++) {
		size_t length = strlen(symbols[i]);

		if ((size_t)(end - at) >= length && memcmp(at, symbols[i], length) == 0)
			return length;
	}
	return 0;
}

/* The length of "operator" if a function's name begins with it there, otherwise 0. */
static size_t word_length(const char *name, const char *at, const char *end)
{
	static const char word[] = "operator";
	const size_t length = sizeof(word) - 1;

	if ((size_t)(end - at) < length || memcmp(at, word, length) != 0)
		return 0;
	return at == name || at[-1] == ':' || at[-1] == ' ' ? length : 0;
}

/* The position after the bracket that closes the one at `at`; NULL if none does. */
static const char *past_brackets(const char *at, const char *end)
{
	const char open = *at;
	const char close = (char)(open == '<' ? '>' : open == '(' ? ')' : '}');
	size_t depth = 0;

	for (; at < end; at++) {
		if (*at == open)
			depth++;
		else if (*at == close && !(close == '>' && at[-1] == '-') && --depth == 0)
			return at + 1;
	}
	return NULL;
}

/* The contents of brackets say what the code is for, but seldom which code it is. */
static void add_brackets(struct hp_writer *text, const char *at, const char *past)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t length = (size_t)(past - at);

	if (length <= SHORT_ENOUGH + 2 || at[1] == '*' ||
	    (length == sizeof(anonymous) - 1 && memcmp(at, anonymous, length) == 0)) {
		add(text, at, length);
		return;
	}
	add(text, at, 1);
	add(text, ellipsis, sizeof(ellipsis) - 1);
	add(text, past - 1, 1);
}

/* `is_plain`: without template arguments. */
static void add_name(struct hp_writer *text, const char *name, const char *end, bool is_plain)
{
	const char *at = name;

	while (at < end) {
		size_t word = word_length(name, at, end);
		const char *past = at + 1;

		if (word) {
			past = at + word;
			past += operator_length(past, end);
			add(text, at, (size_t)(past - at));
		} else if ((*at == '<' || *at == '(') && past_brackets(at, end)) {
			past = past_brackets(at, end);
			if (!is_plain || *at != '<')
				add_brackets(text, at, past);
		} else {
			add(text, at, 1);
		}
		at = past;
	}
}

static void add_short(struct hp_writer *text, const char *name, const char *end)
{
	add_name(text, name, end, false);
}

/* Adds the last component of a path: Vec<…> for alloc::vec::Vec<…>; including the prefix of a
 * reference. */
static void add_last_part(struct hp_writer *text, const char *type, const char *end)
{
	const char *last;

	while (type < end && strchr("&*", *type))
		add(text, type++, 1);
	if ((size_t)(end - type) > 4 && memcmp(type, "mut ", 4) == 0) {
		add(text, type, 4);
		type += 4;
	}
	last = type;
	for (const char *at = type; at < end; at++) {
		if ((*at == '<' || *at == '(') && past_brackets(at, end))
			at = past_brackets(at, end) - 1;
		else if (at + 1 < end && at[0] == ':' && at[1] == ':')
			last = at + 2;
	}
	add_short(text, last, end);
}

/* Rust's "<Type as Trait>" and "<Type>" before a method. */
static const char *add_qualified(struct hp_writer *text, const char *name, const char *end)
{
	static const char as[] = " as ";
	const char *past = past_brackets(name, end);
	const char *trait = NULL;

	for (const char *at = name + 1; at + sizeof(as) - 1 < past && !trait; at++) {
		if ((*at == '<' || *at == '(') && past_brackets(at, past))
			at = past_brackets(at, past) - 1;
		else if (memcmp(at, as, sizeof(as) - 1) == 0)
			trait = at;
	}
	add(text, "<", 1);
	add_last_part(text, name + 1, trait ? trait : past - 1);
	if (trait) {
		add(text, as, sizeof(as) - 1);
		add_last_part(text, trait + sizeof(as) - 1, past - 1);
	}
	add(text, ">", 1);
	return past;
}

static bool is_mangled(const char *linkage)
{
	return !linkage || strncmp(linkage, "_Z", 2) == 0 || strncmp(linkage, "_R", 2) == 0 ||
	       strncmp(linkage, "__Z", 3) == 0 || strncmp(linkage, "__R", 3) == 0;
}

char *hp_name_shorten(const char *name, const char *linkage)
{
	struct hp_writer text = { 0 };
	const char *start;
	size_t length;

	if (!is_mangled(linkage))
		return strdup(name);
	hp_name_bare(name, &start, &length);
	if (*start == '<' && past_brackets(start, start + length))
		add_short(&text, add_qualified(&text, start, start + length), start + length);
	else
		add_short(&text, start, start + length);
	hp_write_u8(&text, 0);
	if (!text.failed)
		return (char *)text.bytes;
	hp_writer_free(&text);
	return NULL;
}

/* --- found ------------------------------------------------------------------------------------- */

/* The length without template arguments at the end of the name. */
static size_t without_template(const char *name, size_t length)
{
	size_t depth = 0;

	if (!length || name[length - 1] != '>')
		return length;
	for (size_t at = length; at-- > 1;) {
		if (name[at] == '>')
			depth++;
		else if (name[at] == '<' && --depth == 0)
			return at;
	}
	return length;
}

static bool is_bare(const char *name, const char *wanted)
{
	size_t size = strlen(wanted);
	const char *start;
	size_t length;
	size_t result;

	hp_name_bare(name, &start, &length);
	result = (size_t)(start - name);
	/* With or without the result type, and with or without template arguments. */
	if (length + result == size && memcmp(name, wanted, size) == 0)
		return true;
	return length >= size && memcmp(start, wanted, size) == 0 &&
	       (length == size || without_template(start, length) == size);
}

static bool is_short(const char *name, const char *linkage, const char *wanted)
{
	_cleanup_free_ char *text = strstr(wanted, ellipsis) ? hp_name_shorten(name, linkage)
							     : NULL;

	return text && strcmp(text, wanted) == 0;
}

/* NULL: out of memory. */
static char *without_templates(const char *name)
{
	struct hp_writer text = { 0 };
	const char *start;
	size_t length;

	hp_name_bare(name, &start, &length);
	add_name(&text, start, start + length, true);
	hp_write_u8(&text, 0);
	if (!text.failed)
		return (char *)text.bytes;
	hp_writer_free(&text);
	return NULL;
}

static bool is_last_part(const char *name, const char *wanted)
{
	size_t length = strlen(name);
	size_t size = strlen(wanted);

	return size && length >= size + 2 && strcmp(name + length - size, wanted) == 0 &&
	       memcmp(name + length - size - 2, "::", 2) == 0;
}

static bool is_part(const char *name, const char *linkage, const char *wanted)
{
	bool is_long = strlen(wanted) >= SHORTEST_PART;
	_cleanup_free_ char *plain = NULL;
	_cleanup_free_ char *shortened = NULL;

	if (is_long && strstr(name, wanted))
		return true;
	if (!strstr(name, "::"))
		return false;
	plain = without_templates(name);
	if (plain && (is_last_part(plain, wanted) || (is_long && strstr(plain, wanted))))
		return true;
	shortened = is_long ? hp_name_shorten(name, linkage) : NULL;
	return shortened && strstr(shortened, wanted);
}

static bool is_glob(const char *wanted, const char *name)
{
	return fnmatch(wanted, name, 0) == 0;
}

enum hp_name_fit hp_name_fit(const char *name, const char *linkage, const char *wanted)
{
	if (strcmp(name, wanted) == 0 || (linkage && strcmp(linkage, wanted) == 0))
		return HP_NAME_EXACT;
	if (is_bare(name, wanted) || is_short(name, linkage, wanted))
		return HP_NAME_BARE;
	if (is_glob(wanted, name) || (linkage && is_glob(wanted, linkage)))
		return HP_NAME_GLOB;
	if (is_part(name, linkage, wanted))
		return HP_NAME_PART;
	return HP_NAME_NOT;
}
