"""Is a release what its certificate says it is?"""
