"""One module a stage: what it reads, what addresses its work, and what it does with a row.

A stage function takes the store and its settings and brings its table up to date. The same noun
names the asset, the module, the table's folder and the metadata.
"""
