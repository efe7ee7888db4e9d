"""Tasks of other benchmarks: loading, describing and running their modules. The code is foreign: only golden workers import this package."""
