"""Says where torch is, for CMake: its version, its C++ ABI, the suffix of extensions, and folders in which headers and
libraries may lie, one a line. Fails without torch."""

import os
import sysconfig

import torch

root = os.path.dirname(torch.__file__)
print(torch.__version__)
print(int(torch._C._GLIBCXX_USE_CXX11_ABI))
print(sysconfig.get_config_var("EXT_SUFFIX"))
print(os.path.join(root, "include"))
print(root)
print(sysconfig.get_paths()["include"])
