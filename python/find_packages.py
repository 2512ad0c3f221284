"""Says where this Python looks for packages, as a folder below a prefix, for CMake."""

import sys
import sysconfig

debian = "deb_system" in sysconfig.get_scheme_names()
print("lib/python%d.%d/%s-packages" % (*sys.version_info[:2], "dist" if debian else "site"))
