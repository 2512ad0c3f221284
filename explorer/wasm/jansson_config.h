/*
 * The configuration of jansson (explorer/vendor/jansson) that its public header includes.
 */
#ifndef TRIVANCE_EXPLORE_WASM_JANSSON_CONFIG_H
#define TRIVANCE_EXPLORE_WASM_JANSSON_CONFIG_H

#define JSON_INLINE               inline
#define JSON_INTEGER_IS_LONG_LONG 1
#define JSON_HAVE_LOCALECONV      0
#define JSON_HAVE_ATOMIC_BUILTINS 0 /* there is one thread */
#define JSON_HAVE_SYNC_BUILTINS   0
#define JSON_PARSER_MAX_DEPTH     2048

#endif
