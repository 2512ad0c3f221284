/*
 * Conversions of IEEE half and bfloat16 to float and back, rounding to nearest even, without branches, so that the
 * compiler can vectorize loops over them. Every bit pattern is handled: subnormal numbers exactly, infinities, and
 * NaNs, which stay NaNs (quiet, with as much of the payload as fits, as in the processor's own conversions).
 */
#ifndef TRIVANCE_EXECUTE_RUN_HALF_H
#define TRIVANCE_EXECUTE_RUN_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float float_of_half(uint16_t half)
{
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    uint32_t normal = magnitude + (112u << 23);  /* exponent bias 15 becomes 127 */
    uint32_t special = magnitude + (224u << 23); /* infinity, NaN: exponent 31 becomes 255 */
    /* A subnormal half is its fraction times 2^-24: put the fraction below a leading one, then subtract the one. */
    uint32_t subnormal = bits_of_float(float_of_bits(magnitude + (113u << 23)) - float_of_bits(113u << 23));
    uint32_t bits = magnitude >= (31u << 23) ? special : normal;
    bits = magnitude < (1u << 23) ? subnormal : bits;
    return float_of_bits(bits | (uint32_t)(half & 0x8000) << 16);
}

static inline uint16_t half_of_float(float value)
{
    uint32_t bits = bits_of_float(value);
    uint32_t sign = bits & 0x80000000u, magnitude = bits ^ sign;
    uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    /* Below 2^-14: adding 0.5 makes the float unit round at 2^-24 and leaves the half's bits in the lowest bits. */
    uint32_t subnormal = bits_of_float(float_of_bits(magnitude) + 0.5f) - bits_of_float(0.5f);
    uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    uint32_t half = magnitude < (113u << 23) ? subnormal : normal;
    /* 65536 and above; the rounding of `normal` handles 65520 … 65535 */
    half = magnitude >= 0x47800000u ? 0x7c00 : half;
    half = magnitude > 0x7f800000u ? nan : half;
    return (uint16_t)(half | sign >> 16);
}

static inline float float_of_bfloat(uint16_t value) { return float_of_bits((uint32_t)value << 16); }

static inline uint16_t bfloat_of_float(float value)
{
    uint32_t bits = bits_of_float(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    uint32_t nan = bits >> 16 | 0x40;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

#endif
