#!/usr/bin/env python3
"""Writes a stand-in for a library with the standard ABI of MPI: abi.py MPI_PROTO_H FOLDER

FOLDER/mpi.h has the types and values of the ABI (MPI 5.0, chapter 20) as far as Trivance and MPICH's
prototypes need them, and these prototypes; FOLDER/mpi_abi.c defines every function, which only returns MPI_ERR_OTHER;
FOLDER/mpicc_abi answers as MPICH's compiler wrapper does.
"""
import os
import re
import sys

HANDLES = ("Op Comm Group Win File Session Message Info Errhandler Request Datatype").split()
VALUES = {
    "Op": "OP_NULL=20 SUM=21 MIN=22 MAX=23 PROD=24 BAND=28 BOR=29 BXOR=2a LAND=30 LOR=31 LXOR=32 MINLOC=38 MAXLOC=39 "
          "REPLACE=3c NO_OP=3d",
    "Comm": "COMM_NULL=100 COMM_WORLD=101 COMM_SELF=102",
    "Group": "GROUP_NULL=108 GROUP_EMPTY=109",
    "Info": "INFO_NULL=130 INFO_ENV=131",
    "Errhandler": "ERRHANDLER_NULL=140 ERRORS_ARE_FATAL=141 ERRORS_RETURN=142 ERRORS_ABORT=143",
    "Request": "REQUEST_NULL=180",
    "Datatype": "DATATYPE_NULL=200 AINT=201 COUNT=202 OFFSET=203 PACKED=207 SHORT=208 INT=209 LONG=20a LONG_LONG=20b "
                "UNSIGNED_SHORT=20c UNSIGNED=20d UNSIGNED_LONG=20e UNSIGNED_LONG_LONG=20f FLOAT=210 "
                "C_FLOAT_COMPLEX=212 CXX_FLOAT_COMPLEX=213 DOUBLE=214 C_DOUBLE_COMPLEX=216 CXX_DOUBLE_COMPLEX=217 "
                "LOGICAL=218 INTEGER=219 REAL=21a COMPLEX=21b DOUBLE_PRECISION=21c DOUBLE_COMPLEX=21d LONG_DOUBLE=220 "
                "C_LONG_DOUBLE_COMPLEX=224 CXX_LONG_DOUBLE_COMPLEX=225 FLOAT_INT=228 DOUBLE_INT=229 LONG_INT=22a "
                "2INT=22b SHORT_INT=22c LONG_DOUBLE_INT=22d 2REAL=230 2DOUBLE_PRECISION=231 2INTEGER=232 C_BOOL=238 "
                "CXX_BOOL=239 WCHAR=23c INT8_T=240 UINT8_T=241 CHAR=243 SIGNED_CHAR=244 UNSIGNED_CHAR=245 BYTE=247 "
                "INT16_T=248 UINT16_T=249 INT32_T=250 UINT32_T=251 INT64_T=258 UINT64_T=259 INTEGER1=2c1 CHARACTER=2c3 "
                "INTEGER2=2c9 REAL2=2ca INTEGER4=2d1 REAL4=2d2 INTEGER8=2d9 REAL8=2da COMPLEX8=2db INTEGER16=2e1 "
                "REAL16=2e2 COMPLEX16=2e3 COMPLEX32=2eb",
}
NUMBERS = ("SUCCESS=0 ERR_BUFFER=1 ERR_COUNT=2 ERR_TYPE=3 ERR_TAG=4 ERR_COMM=5 ERR_RANK=6 ERR_REQUEST=7 ERR_ROOT=8 "
           "ERR_GROUP=9 ERR_OP=10 ERR_ARG=13 ERR_TRUNCATE=15 ERR_OTHER=16 ERR_INTERN=17 ERR_IN_STATUS=19 ERR_NO_MEM=39 "
           "ERR_UNSUPPORTED_OPERATION=55 ANY_SOURCE=-1 ANY_TAG=-2 PROC_NULL=-3 ROOT=-4 UNDEFINED=-32766 "
           "THREAD_SINGLE=0 THREAD_FUNNELED=1024 THREAD_SERIALIZED=2048 THREAD_MULTIPLE=4096 COMBINER_NAMED=101 "
           "COMBINER_DUP=102 COMBINER_CONTIGUOUS=103 COMBINER_VECTOR=104 COMBINER_HVECTOR=105 COMBINER_INDEXED=106 "
           "COMBINER_HINDEXED=107 COMBINER_INDEXED_BLOCK=108 COMBINER_HINDEXED_BLOCK=109 COMBINER_STRUCT=110 "
           "COMBINER_SUBARRAY=111 COMBINER_DARRAY=112 COMBINER_F90_INTEGER=113 COMBINER_F90_REAL=114 "
           "COMBINER_F90_COMPLEX=115 COMBINER_RESIZED=116 IDENT=201 CONGRUENT=202 SIMILAR=203 UNEQUAL=204 CART=211 "
           "GRAPH=212 DIST_GRAPH=213 COMM_TYPE_SHARED=221 KEYVAL_INVALID=0 TAG_UB=501 MAX_ERROR_STRING=512 "
           "MAX_INFO_VAL=1024 MAX_OBJECT_NAME=128 MAX_LIBRARY_VERSION_STRING=8192 MAX_PROCESSOR_NAME=256")
HEAD = """#ifndef MPI_H
#define MPI_H
#include <stdint.h>
#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset, MPI_Count;
typedef int MPI_Fint;
typedef struct { int MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5]; } MPI_Status;
#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
"""
FUNCTIONS = """
typedef void MPI_User_function(void *, void *, int *, MPI_Datatype *);
typedef void MPI_User_function_c(void *, void *, MPI_Count *, MPI_Datatype *);
typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);
typedef int MPI_Type_copy_attr_function(MPI_Datatype, int, void *, void *, void *, int *);
typedef int MPI_Type_delete_attr_function(MPI_Datatype, int, void *, void *);
typedef void MPI_Comm_errhandler_function(MPI_Comm *, int *, ...);
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function *)0)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function *)0)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function *)0)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function *)0)
"""
# Types in prototypes of functions that Trivance does not call; these functions are left out.
OTHERS = re.compile(r"MPI_T_|MPIX_|MPI_F08|Datarep|Grequest|Win_|File_|Session_errhandler|MPI_\w+_fn\b|"
                    r"MPI_Copy_function|MPI_Delete_function")


def prototypes(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|^#[^\n]*", "", file.read(), flags=re.S | re.M)
    for statement in text.split(";"):
        statement = re.sub(r"MPICH_[A-Z_]+(\([^)]*\))?", "", " ".join(statement.split())).strip()
        match = re.fullmatch(r"(int|double|MPI_Aint|MPI_Fint|MPI_\w+) (P?MPI_\w+)\((.*)\)", statement)
        if match and not OTHERS.search(statement):
            yield match.groups()


def main():
    proto, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    header = [HEAD] + [f"typedef struct MPI_ABI_{name} *MPI_{name};" for name in HANDLES]
    for name, values in VALUES.items():
        header += [f"#define MPI_{key} ((MPI_{name})0x{value})"
                   for key, value in (word.split("=") for word in values.split())]
    header += [f"#define MPI_{key} ({value})" for key, value in (word.split("=") for word in NUMBERS.split())]
    header.append(FUNCTIONS)
    source = ['#include "mpi.h"']
    functions = list(prototypes(proto))
    for result, name, parameters in functions:
        header.append(f"{result} {name}({parameters});")
        value = "MPI_ERR_OTHER" if result == "int" else f"({result})0"
        source.append(f"{result} {name}({parameters}) {{ return {value}; }}")
    header.append("#endif")
    for name, lines in (("mpi.h", header), ("mpi_abi.c", source)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    wrapper = os.path.join(folder, "mpicc_abi")
    with open(wrapper, "w", encoding="utf-8") as file:
        file.write(f"""#!/bin/sh
case $1 in
-compile-info) echo "cc -I{folder}" ;;
-link-info) echo "cc -L{folder} -lmpi_abi" ;;
esac
""")
    os.chmod(wrapper, 0o755)
    print(len(functions), "functions")


if __name__ == "__main__":
    main()
