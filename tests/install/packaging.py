#!/usr/bin/env python3
"""Checks the files of packages and citations: packaging.py SOURCE

All state the version of CMakeLists.txt. The Spack recipe is executed against a stub of Spack, and sets only variables
that the build has. The packages of the Containerfile exist in Debian 12, if apt has its lists. CITATION.cff has the
keys that its format requires.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import types

SOURCE = sys.argv[1]


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


VERSION = re.search(r"^project\(trivance VERSION ([0-9.]+)", read("CMakeLists.txt"), re.M)[1]


class Anything(str):
    """A path, of which every attribute is a path."""

    def __getattr__(self, name):
        return Anything(f"{self}/{name}")


class Spec:
    def __init__(self, *true):
        self.true = true

    def satisfies(self, text):
        return text in self.true

    def __getitem__(self, name):
        return Anything(name)


def import_recipe():
    """Executes the recipe; returns the class, and the directives that it calls, by name."""
    called = {}

    def directive(name):
        def call(*words, **options):
            called.setdefault(name, []).append((words, options))
        return call

    class CMakePackage:
        def define(self, name, value):
            return f"-D{name}={'ON' if value is True else 'OFF' if value is False else value}"

        def define_from_variant(self, name, variant):
            assert any(words[0] == variant for words, _ in called["variant"]), f"there is no variant {variant}"
            return self.define(name, self.spec.satisfies(f"+{variant}"))

    module = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "requires", "conflicts"):
        setattr(module, name, directive(name))
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.CMakePackage, cmake.generator = CMakePackage, directive("generator")
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules.update({"spack.package": module, "spack_repo.builtin.build_systems.cmake": cmake})
    names = {"__name__": "recipe"}
    exec(compile(read("packaging/spack_repo/trivance/packages/trivance/package.py"), "package.py", "exec"), names)
    return names["Trivance"], called


def check_spack():
    # Spack reads repositories of this form from a folder that ends with spack_repo/ and their namespace.
    assert "namespace: trivance" in read("packaging/spack_repo/trivance/repo.yaml")
    recipe, called = import_recipe()
    assert [words[0] for words, _ in called["version"]] == [VERSION], "the recipe has another version"
    assert recipe.url.endswith(f"/trivance-{VERSION}.tar.gz")
    variants = {words[0] for words, _ in called["variant"]}
    for words, options in called["depends_on"] + called["requires"] + called["variant"]:
        when = options.get("when")
        assert when is None or when.lstrip("+") in variants, f"{words[0]}: there is no variant {when}"
    known = set(re.findall(r"(?:option\(|find_program\()(TRIVANCE_\w+)", read("CMakeLists.txt")))
    mpi = read("src/mpi/CMakeLists.txt")
    assert "find_program(TRIVANCE_WRAPPER_${mpi} " in mpi
    known |= {f"TRIVANCE_WRAPPER_{name}" for name in re.findall(r"^ *find_mpi\((\w+) ", mpi, re.M)}
    for spec in (Spec(), Spec("+tool"), Spec("+tool", "+mpi", "^[virtuals=mpi] mpich")):
        package = recipe()
        package.spec = spec
        args = package.cmake_args()
        for argument in args:
            name = re.fullmatch(r"-D(\w+)=.+", argument)[1]
            assert name in known, f"the build has no variable {name}"
        assert ("-DTRIVANCE_TOOL=ON" in args) == spec.satisfies("+tool")
        assert ("-DTRIVANCE_WRAPPER_mpich=mpi/prefix/bin/mpicc" in args) == spec.satisfies("+mpi")


def check_container():
    text = read("packaging/Containerfile").replace("\\\n", " ")
    for name in re.findall(r"-DTRIVANCE_(\w+)=OFF", text):
        assert f"option(TRIVANCE_{name} " in read("CMakeLists.txt"), name
    packages = [word for words in re.findall(r"--no-install-recommends ([a-z0-9 .+-]*)", text)
                for word in words.split()]
    assert "libjansson4" in packages
    with open("/etc/os-release", encoding="utf-8") as file:
        bookworm = 'VERSION_ID="12"' in file.read()
    if bookworm and shutil.which("apt-cache") and glob.glob("/var/lib/apt/lists/*Packages*"):
        shown = subprocess.run(["apt-cache", "show", *packages], capture_output=True, text=True, check=False).stdout
        missing = set(packages) - set(re.findall(r"^Package: (.*)$", shown, re.M))
        assert not missing, f"Debian 12 has no package {', '.join(missing)}"


def check_citation():
    text = read("CITATION.cff")
    for key in ("cff-version", "message", "title", "authors"):
        assert re.search(rf"^{key}:", text, re.M), f"CITATION.cff has no {key}"
    assert f"\nversion: {VERSION}\n" in text, "CITATION.cff has another version"
    readme = read("README.md").replace("\n", " ")
    for name in re.findall(r"family-names: (\w+)", text):
        assert name in readme, f"the README does not name {name}"
    assert re.search(r'^  title: "(.*)"$', text, re.M)[1] in readme
    try:
        import yaml
    except ImportError:
        return
    found = yaml.safe_load(text)
    assert {"type", "title", "authors"} <= set(found["preferred-citation"])


check_spack()
check_container()
check_citation()
