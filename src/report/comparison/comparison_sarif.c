/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SARIF 2.1.0 (OASIS), with what GitHub's code scanning asks for beyond it: every result has a
 * location, paths in the repository are relative to %SRCROOT%, and a fingerprint follows a
 * procedure from one upload to the next, however its lines move.
 */
#include "comparison.h"

#include "config.h"
#include <hpcprof/base/hash.h>
#include "../common/json.h"

#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <string.h>

#define SCHEMA                                                                                     \
	"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"                      \
	"sarif-schema-2.1.0.json"

/* indexed by enum hp_scope */
static const struct {
	const char *id;
	const char *name;
	const char *text;
} rules[] = {
	{ "slower-program", "SlowerProgram", "The whole program costs more than before" },
	{ "slower-image", "SlowerImage", "A program or library costs more than before" },
	{ "slower-procedure", "SlowerProcedure", "A procedure costs more than before" },
	{ "slower-line", "SlowerLine", "A source line costs more than before" },
	{ "slower-block", "SlowerBlock", "A block of code costs more than before" },
};

static json_t *rules_array(void)
{
	json_t *array = json_array();

	for (size_t i = 0; i < HP_ARRAY_COUNT(rules); i++)
		json_array_append_new(
			array,
			json_pack("{s:s, s:s, s:{s:s}, s:{s:s}, s:{s:s}, s:{s:s}, "
				  "s:{s:[s], s:s}}",
				  "id", rules[i].id, "name", rules[i].name, "shortDescription",
				  "text", rules[i].text, "fullDescription", "text",
				  "Profiles of several runs of both versions were compared; the "
				  "difference is larger than the differences between runs of one "
				  "version.",
				  "help", "text",
				  "hpcprof diff --annotate shows what changed, instruction by "
				  "instruction.",
				  "defaultConfiguration", "level", "error", "properties", "tags",
				  "performance", "precision", "high"));
	return array;
}

/* RFC 3986: unreserved characters and slashes are not encoded. */
static void add_uri(struct hp_buffer *out, const char *path)
{
	for (; *path; path++) {
		unsigned char byte = (unsigned char)*path;

		if (byte < 0x80 && (strchr("/-._~", byte) || (byte >= '0' && byte <= '9') ||
				    (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')))
			hp_buffer_add(out, path, 1);
		else
			hp_buffer_printf(out, "%%%02X", byte);
	}
}

/* If no file is known, the image is named: readers refuse a result without a location. */
static json_t *location(const struct comparison_writer *writer, const struct hp_compared *compared)
{
	const char *known = compared->file ? compared->file : compared->image;
	const char *path = comparison_relative_path(writer, known ? known : compared->name);
	_cleanup_(hp_buffer_free) struct hp_buffer uri = { 0 };
	json_t *artifact;

	if (*path == '/')
		hp_buffer_printf(&uri, "file://");
	add_uri(&uri, path);
	if (uri.failed)
		return NULL;
	artifact =
		json_pack("{s:s}", "uri", *hp_buffer_text(&uri) ? hp_buffer_text(&uri) : "unknown");
	if (*path != '/')
		json_object_set_new(artifact, "uriBaseId", json_string("%SRCROOT%"));
	return json_pack("{s:{s:o, s:{s:i}}, s:[{s:o, s:s}]}", "physicalLocation",
			 "artifactLocation", artifact, "region", "startLine",
			 compared->file && compared->line ? (int)compared->line : 1,
			 "logicalLocations", "fullyQualifiedName", json_text(compared->name),
			 "kind",
			 compared->scope == HP_SCOPE_PROGRAM || compared->scope == HP_SCOPE_IMAGE
				 ? "module"
				 : "function");
}

/* After text_escape, names contain no newline, so different findings have different texts. */
static json_t *fingerprint(const struct hp_compared *compared)
{
	_cleanup_(hp_buffer_free) struct hp_buffer identity = { 0 };
	XXH128_hash_t hash;

	hp_buffer_printf(&identity, "%s\n", hp_scope_name(compared->scope));
	text_escape(&identity, compared->image ? comparison_base_name(compared->image) : "");
	hp_buffer_printf(&identity, "\n");
	text_escape(&identity, compared->name);
	if (compared->scope == HP_SCOPE_LINE || compared->scope == HP_SCOPE_BLOCK)
		hp_buffer_printf(&identity, "\n%" PRIu32, compared->line);
	if (identity.failed)
		return NULL;
	hash = XXH3_128bits(hp_buffer_text(&identity), identity.size);
	return json_sprintf("%016" PRIx64 "%016" PRIx64 ":1", (uint64_t)hash.high64,
			    (uint64_t)hash.low64);
}

/* Blocks and lines in which the procedure changed. They are no results of their own, which would
 * count the change twice. */
static json_t *related(const struct comparison_writer *writer, const struct hp_compared *compared)
{
	const struct hp_compared *inner;
	json_t *list = json_array();
	size_t next = 0;

	while ((inner = comparison_next_inner(compared, &next))) {
		_cleanup_(hp_buffer_free) struct hp_buffer message = { 0 };
		json_t *place = location(writer, inner);

		comparison_add_finding(&message, writer->comparison, inner);
		json_object_set_new(place, "id", json_integer((json_int_t)json_array_size(list)));
		json_object_set_new(
			place, "message",
			json_pack("{s:o}", "text",
				  message.failed ? NULL : json_text(hp_buffer_text(&message))));
		json_array_append_new(list, place);
	}
	return list;
}

static json_t *result(const struct comparison_writer *writer, const struct hp_compared *compared)
{
	const struct hp_comparison *comparison = writer->comparison;
	_cleanup_(hp_buffer_free) struct hp_buffer message = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer caller = { 0 };
	size_t next = 0;

	comparison_add_finding(&message, comparison, compared);
	for (size_t i = 0; i < compared->shift_count; i++) {
		hp_buffer_printf(&message, "; ");
		comparison_add_shift(&message, comparison, &compared->shifts[i]);
	}
	while (comparison_next_caller(&caller, comparison, compared, &next)) {
		hp_buffer_printf(&message, "; %s", hp_buffer_text(&caller));
		hp_buffer_clear(&caller);
	}
	return json_pack("{s:s, s:i, s:s, s:{s:o}, s:[o], s:o, s:{s:o}, s:{s:o, s:o, s:o}}",
			 "ruleId", rules[compared->scope].id, "ruleIndex", (int)compared->scope,
			 "level", "error", "message", "text",
			 message.failed ? NULL : json_text(hp_buffer_text(&message)), "locations",
			 location(writer, compared), "relatedLocations", related(writer, compared),
			 "partialFingerprints", "primaryLocationLineHash", fingerprint(compared),
			 "properties", "change", json_number(compared->change.value), "lost",
			 json_number(compared->lost.value), "q", json_number(compared->q));
}

static json_t *results_array(const struct comparison_writer *writer)
{
	const struct hp_comparison *comparison = writer->comparison;
	json_t *results = json_array();

	for (size_t i = 0; i < comparison->finding_count; i++)
		if (hp_comparison_is_regression(comparison->findings[i]))
			json_array_append_new(results, result(writer, comparison->findings[i]));
	return results;
}

/* A file URI with a slash at its end, as a base URI must have. */
static json_t *source_root(const struct comparison_writer *writer)
{
	_cleanup_(hp_buffer_free) struct hp_buffer uri = { 0 };

	if (!writer->options->source_root)
		return json_pack("{s:{s:{s:s}}}", "%SRCROOT%", "description", "text",
				 "The root of the source");
	hp_buffer_printf(&uri, "file://");
	add_uri(&uri, writer->options->source_root);
	hp_buffer_printf(&uri, "/");
	return uri.failed ? NULL : json_pack("{s:{s:s}}", "%SRCROOT%", "uri", hp_buffer_text(&uri));
}

struct hp_error *comparison_write_sarif(const struct comparison_writer *writer)
{
	const struct hp_comparison *comparison = writer->comparison;
	_cleanup_(hp_buffer_free) struct hp_buffer headline = { 0 };
	json_t *run;
	struct hp_error *error;

	comparison_add_headline(&headline, comparison);
	run = json_pack("{s:{s:{s:s, s:s, s:o}}, s:[{s:b}], s:s, s:o, s:o, s:{s:s, s:o}}", "tool",
			"driver", "name", "hpcprof", "version", PACKAGE_VERSION, "rules",
			rules_array(), "invocations", "executionSuccessful", true, "columnKind",
			"utf16CodeUnits", "originalUriBaseIds", source_root(writer), "results",
			results_array(writer), "properties", "verdict",
			hp_verdict_name(comparison->verdict), "summary",
			headline.failed ? NULL : json_text(hp_buffer_text(&headline)));
	error = json_write(
		json_pack("{s:s, s:s, s:[o]}", "version", "2.1.0", "$schema", SCHEMA, "runs", run),
		false, writer->out);
	if (!error)
		putc('\n', writer->out);
	return error;
}
