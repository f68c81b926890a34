"""Where CUDA comes from: a folder, git repositories, source distributions of packages.

Each source is a generator of `Candidate`: exactly one for every `.cu` file and for every source
that could not be used. All three hand a `FileTree` to `collect.collect_tree`, so that include
closure, tags and licences are worked out in one place.
"""
