/*
 * The configuration of jansson (explorer/vendor/jansson) that its sources include.
 */
#ifndef TRIVANCE_EXPLORE_WASM_JANSSON_PRIVATE_CONFIG_H
#define TRIVANCE_EXPLORE_WASM_JANSSON_PRIVATE_CONFIG_H

#define HAVE_STDINT_H 1

#endif
