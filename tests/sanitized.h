/*
 * Whether this is a build with AddressSanitizer, in which everything takes six times as long: it goes through fewer
 * sizes, which run the same code. gcc says so by a macro, clang by a feature.
 */
#ifndef TRIVANCE_TESTS_SANITIZED_H
#define TRIVANCE_TESTS_SANITIZED_H

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define TRIVANCE_SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define TRIVANCE_SANITIZED 1
#endif

#ifdef TRIVANCE_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

#endif
