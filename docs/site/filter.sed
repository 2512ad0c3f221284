#!/bin/sed -f
# Marks the comments of a public header for Doxygen, and the first one as the file's.
s|@|\\@|g
1s|^/\*$|/** @file|
1!s|^\( *\)/\* \([^-]\)|\1/** \2|
s|\([;,(0-9A-Za-z"]\) \{1,\}/\*\* |\1 /**< |
s|\([;,(0-9A-Za-z")]\) \{1,\}/\* |\1 /**< |
