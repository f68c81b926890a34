"""Where CUDA comes from: a folder, git repositories, source distributions, The Stack v2.

Each source is a generator of `Candidate`: exactly one for every `.cu` file and for every source
that could not be used. All hand a `FileTree` to `collect.collect_tree`, so that include closure
and tags are worked out in one place, and licences too unless the source brings its own.
"""
