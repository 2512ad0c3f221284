"""Says where torch is, for CMake: its version, its C++ ABI, the suffix of extensions, the folder below a prefix where this
Python looks for packages, and folders in which headers and libraries may lie, one a line. Fails without torch."""

import os
import sys
import sysconfig

import torch

debian = "deb_system" in sysconfig.get_scheme_names()
packages = "lib/python%d.%d/%s-packages" % (*sys.version_info[:2], "dist" if debian else "site")
root = os.path.dirname(torch.__file__)
print(torch.__version__)
print(int(torch._C._GLIBCXX_USE_CXX11_ABI))
print(sysconfig.get_config_var("EXT_SUFFIX"))
print(packages)
print(os.path.join(root, "include"))
print(root)
print(sysconfig.get_paths()["include"])
