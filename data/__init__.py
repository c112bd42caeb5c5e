"""The course's data as a package: read it with `importlib.resources` or through `paramshare._support`, never by a path."""
